package block

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Claim: what is written is read, and no file is left.
func TestTemporary(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	f, err := NewTemporary("", 64)
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := os.ReadDir(dir); runtime.GOOS == "linux" && (err != nil || len(shown) > 0) {
		t.Errorf("%v, %v is shown while the file is open", shown, err)
	}
	written, read := []byte("words"), make([]byte, 5)
	if _, err := f.File().WriteAt(written, 8); err != nil {
		t.Fatal(err)
	}
	if _, err := f.File().ReadAt(read, 8); err != nil || !slices.Equal(read, written) {
		t.Errorf("%q, %v; want %q", read, err, written)
	}
	f.left = filepath.Join(dir, "left") // as on a system that removes no open file
	if err := errors.Join(os.WriteFile(f.left, nil, 0o600), f.Close()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}

// Claim: a disk without the room says so at once, with what was asked for.
func TestTemporaryTooLarge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no room is reserved")
	}
	if _, err := NewTemporary("", 1<<60); err == nil || !strings.Contains(err.Error(), "temporary file of 1.15e+09 GB") {
		t.Errorf("%v, want an error", err)
	}
}
