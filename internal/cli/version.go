package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if env.format == "json" {
				return env.printJSON(map[string]string{"version": version(), "go": runtime.Version()})
			}
			_, err := fmt.Fprint(env.stdout, versionLine())
			return err
		},
	}
}

// version is the program's, "devel" if it was built from no released module.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

func versionLine() string {
	return fmt.Sprintf("listwise %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
