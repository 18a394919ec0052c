package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Claim: a last line that is cut off, as in a log that is still written, is left out with a note.
func TestClicksInfoLeavesOutACutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(`{"query":"q","docs":["a"],"clicks":[1]}`+"\n"+`{"query":"q","do`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call("clicks", "info", path, "--format", "csv")
	if code != exitDone || !strings.Contains(out, "\npages,1\n") || !strings.Contains(errs, "note: 1 last line was cut off and left out\n") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}
