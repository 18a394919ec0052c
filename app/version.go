package app

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the program, its commit and Go",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			if env.format == "json" {
				return env.printJSON(v)
			}
			_, err := fmt.Fprint(env.stdout, v.line())
			return err
		},
	}
}

type versionJSON struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"` // empty if the program was not built from a checkout
	Time     string `json:"time,omitempty"`   // of the commit
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// versionOf returns the version in the build information. It is the tag of the commit, a
// pseudo-version with its revision, or "devel".
func versionOf(info *debug.BuildInfo) versionJSON {
	v := versionJSON{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info == nil {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v *versionJSON) line() string {
	const short = 12 // characters of a commit
	commit := ""
	if v.Commit != "" {
		commit = "commit " + v.Commit[:min(short, len(v.Commit))]
		if v.Modified {
			commit += " and changes"
		}
		commit += ", "
	}
	return fmt.Sprintf("listwise %s (%s%s %s/%s)\n", v.Version, commit, v.Go, v.OS, v.Arch)
}

func thisVersion() versionJSON {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}
