package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// ThisCode returns what the running program knows of itself.
var ThisCode = sync.OnceValue(func() Code {
	c := Code{Version: "(devel)", Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
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
	}
	released := strings.HasPrefix(c.Version, "v") && c.Revision == "" // installed as a module of that version
	if !released && (c.Revision == "" || c.Modified) {
		if path, err := os.Executable(); err == nil {
			c.Program = FileFingerprint(path)
		}
	}
	return c
})

// FileFingerprint returns half of a file's SHA-256 in hexadecimal, "" if it cannot
// be read.
func FileFingerprint(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
