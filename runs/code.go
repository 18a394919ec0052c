package runs

import (
	"runtime"
	"runtime/debug"
)

// ThisCode returns what the running program knows of itself.
func ThisCode() Code {
	c := Code{Version: "(devel)", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return c
	}
	if info.Main.Version != "" {
		c.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			c.Revision = s.Value
		case "vcs.modified":
			c.Modified = s.Value == "true"
		}
	}
	return c
}
