// Package atomicfile writes files that are either complete or not there at all.
//
// The package knows nothing of what is written; start reading at [Write].
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
)

// Write makes fn write the file at path. The bytes go to a temporary file in the
// same directory, which is synced and renamed to path once fn has returned nil,
// so that a reader sees either the old file or the whole new one; on an error,
// or a panic of fn, the temporary file is removed and path is left as it was.
//
// A new file gets the permissions 0644 less the umask, a replaced one keeps its
// own. A symbolic link stays and its target is replaced. What exists but is no
// regular file (a terminal, a pipe, /dev/null) cannot be renamed over and is
// written directly. The writer is buffered.
func Write(path string, fn func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	perm := fs.FileMode(0o644)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s: is a directory, expected a file", path)
	case !info.Mode().IsRegular():
		return writeDirectly(path, fn)
	default:
		perm = info.Mode().Perm()
	}
	return replace(path, perm, fn)
}

func replace(path string, perm fs.FileMode, fn func(io.Writer) error) error {
	f, err := create(path, perm)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := buffered(f, fn); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	done = true
	return syncDirectory(filepath.Dir(path))
}

// create opens a new file beside path, with the permissions it will keep: a
// replaced file's whatever the umask, 0644 less the umask otherwise.
func create(path string, perm fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		name := fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil && perm != 0o644 {
			err = f.Chmod(perm)
			if err != nil {
				_ = f.Close()
				_ = os.Remove(name)
			}
		}
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

func writeDirectly(path string, fn func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := buffered(f, fn); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func buffered(f *os.File, fn func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := fn(w); err != nil {
		return err
	}
	return w.Flush()
}

// syncDirectory makes the rename survive a crash of the machine. Windows has no
// such call and needs none.
func syncDirectory(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close()
		return err
	}
	return d.Close()
}
