// Package atomicfile writes files that are either complete or absent.
//
// A file has a temporary name while a process writes it, and the process holds a lock on the file.
// A process that ends without finishing its writes calls [Abandon]. If a process is killed, the
// next process that writes to the same directory removes its temporary files.
//
// Start reading at [Write]. pending.go tracks unfinished files; remains.go distinguishes files of dead
// processes from files of living ones. The package must not depend on the content.
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

// Write calls fn to write the file at path. fn's writer is buffered. The bytes go to a temporary
// file in the same directory. After fn has returned nil, the temporary file is synced and renamed
// to path. So a reader sees either the old file or the complete new one. If fn fails or panics,
// Write removes the temporary file and path is unchanged.
//
// A new file gets the permissions 0644 less the umask; a replaced file keeps its permissions. If
// path is a symbolic link, Write replaces or creates its target. Write writes directly to a path
// that is not a regular file, such as a terminal, a pipe or /dev/null, since a rename would replace
// it. It also writes directly to /dev/stdout and /dev/stderr.
func Write(path string, fn func(io.Writer) error) error {
	return write(path, func(f *os.File) error { return buffered(f, fn) }, fn)
}

// WriteFile is [Write] for a function that writes the file in any order and reads back what it has
// written. If path is not a regular file, fn writes a file in the system's temporary folder, and
// WriteFile copies the complete bytes to path.
func WriteFile(path string, fn func(*os.File) error) error {
	return write(path, fn, func(w io.Writer) error {
		return Scratch(os.TempDir(), func(f *os.File) error {
			if err := fn(f); err != nil {
				return err
			}
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
			_, err := io.Copy(w, f)
			return err
		})
	})
}

// Scratch calls use with a new file in the folder dir and removes the file afterwards. If the
// process is killed, the next process that writes to the folder removes the file.
func Scratch(dir string, use func(*os.File) error) error {
	folder, remove, err := Folder(dir)
	if err != nil {
		return err
	}
	defer remove()
	f, err := os.OpenFile(filepath.Join(folder, "scratch"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(use(f), f.Close())
}

// write calls fill if path is a regular file or does not exist. Otherwise it calls send with a
// writer to path.
func write(path string, fill func(*os.File) error, send func(io.Writer) error) error {
	if f := standard(path); f != nil {
		return buffered(f, send)
	}
	path, err := Target(path)
	if err != nil {
		return err
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
		return writeDirectly(path, send)
	default:
		perm = info.Mode().Perm()
	}
	return replace(path, perm, fill)
}

// standard returns the open file for a name of standard output or standard error, and nil for other
// names. A rename would detach the file from other processes that write to it.
func standard(path string) *os.File {
	if runtime.GOOS == "windows" {
		return nil
	}
	switch path {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return os.Stdout
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return os.Stderr
	}
	return nil
}

// Target returns the file that Write replaces or creates. It follows the symbolic links of path.
func Target(path string) (string, error) {
	for range 40 { // the limit of Linux
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil //nolint:nilerr // opening path reports the same error
		}
		if _, err := os.Stat(path); err == nil {
			// EvalSymlinks fails if the link's target is not a name, such as the target of
			// /dev/stdout if it is a pipe.
			if target, err := filepath.EvalSymlinks(path); err == nil {
				return target, nil
			}
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

func replace(path string, perm fs.FileMode, fill func(*os.File) error) error {
	removeRemains(filepath.Dir(path))
	f, err := create(path, perm)
	if err != nil {
		return err
	}
	defer f.discard()
	if err := fill(f.File); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.rename(path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// Probe returns an error unless files can be written to a folder. It creates a file and removes it.
// If the process is killed in between, the next process that probes or writes to the folder removes
// the file.
func Probe(dir string) error {
	removeRemains(dir)
	f, err := create(filepath.Join(dir, "listwise"), 0o644)
	if err != nil {
		return err
	}
	f.discard()
	return nil
}

// create opens a new locked file with a temporary name in the directory of path. perm are its
// permissions; 0644 is subject to the umask.
func create(path string, perm fs.FileMode) (*temporary, error) {
	dir, base := filepath.Split(path)
	for {
		name := fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
		f, err := begin(func() (*os.File, error) {
			return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		})
		if errors.Is(err, fs.ErrExist) || errors.Is(err, errTaken) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if perm != 0o644 {
			if err := f.Chmod(perm); err != nil {
				f.discard()
				return nil, err
			}
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

func buffered(f io.Writer, fn func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := fn(w); err != nil {
		return err
	}
	return w.Flush()
}

// syncDirectory makes a rename in dir survive a crash of the machine. Windows has no such call and
// needs none.
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
