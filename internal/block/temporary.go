package block

import (
	"cmp"
	"fmt"
	"os"
)

// Temporary is a file that is removed when it is closed or the process ends. If the system supports
// that, no folder lists the file. Any number of goroutines may read and write it.
type Temporary struct {
	file *os.File
	left string // name to remove in Close, empty if the name is already removed
}

// NewTemporary creates a file of the given size in a folder. An empty folder name means the
// system's folder for temporary files. NewTemporary reserves the disk space if the system supports
// that.
func NewTemporary(folder string, size int64) (*Temporary, error) {
	f, err := os.CreateTemp(folder, "listwise-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("temporary file of %.3g GB: %w", float64(size)/1e9, err)
	}
	t := &Temporary{file: f}
	if os.Remove(f.Name()) != nil {
		t.left = f.Name() // some systems cannot remove an open file
	}
	if err := reserve(f, max(size, 1)); err != nil {
		_ = t.Close() // the caller gets err
		if folder == "" {
			err = fmt.Errorf("%w; set TMPDIR to a folder with more room", err)
		}
		return nil, fmt.Errorf("temporary file of %.3g GB in %s: %w", float64(size)/1e9, cmp.Or(folder, os.TempDir()), err)
	}
	return t, nil
}

// File returns the open file.
func (t *Temporary) File() *os.File { return t.file }

// Map maps the file into memory. Closing the mapping removes the file. name appears in errors. If
// the system refuses, Map returns nil and the file stays open.
func (t *Temporary) Map(name string) *File {
	info, err := t.file.Stat()
	if err != nil {
		return nil
	}
	m := Map(t.file, info, name)
	if m != nil {
		m.temporary = t
	}
	return m
}

// Close removes the file.
func (t *Temporary) Close() error {
	err := t.file.Close()
	if t.left != "" {
		if gone := os.Remove(t.left); err == nil {
			err = gone
		}
	}
	return err
}
