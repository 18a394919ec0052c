package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// only checks that path holds want and that its directory holds nothing else.
func only(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("file holds %q, %v; want %q", got, err, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("directory holds %v, %v; want the file alone", entries, err)
	}
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.json")
	for _, s := range []string{"first", "", "third, longer"} {
		if err := Write(path, text(s)); err != nil {
			t.Fatal(err)
		}
		only(t, path, s)
	}
}

func TestNewFileIsReadableByAllAndReplacedKeepsItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, text("a")); err != nil {
		t.Fatal(err)
	}
	mode := func() os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if m := mode(); m&0o600 != 0o600 || m&0o133 != 0 {
		t.Errorf("a new file has mode %v, want 0644 less the umask", m)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, text("b")); err != nil {
		t.Fatal(err)
	}
	if m := mode(); m != 0o660 {
		t.Errorf("a replaced file has mode %v, want the old file's 0660", m)
	}
}

func TestErrorLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	sorry := errors.New("sorry")
	err := Write(path, func(w io.Writer) error {
		_, _ = w.Write(bytes.Repeat([]byte("half"), 1<<16))
		return sorry
	})
	if !errors.Is(err, sorry) {
		t.Errorf("error is %v, want the function's own", err)
	}
	only(t, path, "old")

	func() {
		defer func() { _ = recover() }()
		_ = Write(path, func(io.Writer) error { panic("oh") })
	}()
	only(t, path, "old")
}

func TestSymbolicLinkStays(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "a", "target"), filepath.Join(dir, "link")
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(target, text("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	only(t, target, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
}

func TestDeviceIsWrittenNotReplaced(t *testing.T) {
	before, err := os.Stat(os.DevNull)
	if err != nil || before.Mode().IsRegular() {
		t.Skip("no null device")
	}
	if err := Write(os.DevNull, text("gone")); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(os.DevNull); err != nil || after.Mode() != before.Mode() {
		t.Fatalf("%s has become %v, %v", os.DevNull, after.Mode(), err)
	}
}

func TestImpossiblePlaces(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "f")} {
		if err := Write(path, text("x")); err == nil {
			t.Errorf("writing to %s: no error", path)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("directory holds %v, %v; want nothing", entries, err)
	}
}

// A probe leaves nothing, and fails where nothing can be written.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	if err := Probe(dir); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("directory holds %v, %v; want nothing", entries, err)
	}
	if err := Probe(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there can be written to")
	}
}
