package block

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// Temporary is a file that no folder shows, where the system can do that, and that is gone when it is closed
// or the process ends. Any number of goroutines may read and write it.
type Temporary struct {
	file *os.File
	left string // name to remove in the end, empty if it is removed
}

// Page is what offset, length and memory of parts of a [Temporary] should be multiples of, in bytes.
const Page = 4096

// NewTemporary makes a file of a size in a folder, the system's for temporary files if there is no name, and has
// its room on the disk reserved where the system can do that.
func NewTemporary(folder string, size int64) (*Temporary, error) {
	f, err := os.CreateTemp(folder, "listwise-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("temporary file of %.3g GB: %w", float64(size)/1e9, err)
	}
	t := &Temporary{file: f}
	if os.Remove(f.Name()) != nil {
		t.left = f.Name() // some systems remove no open file
	}
	if err := reserve(f, max(size, 1)); err != nil {
		_ = t.Close() // the error is told
		if folder == "" {
			err = fmt.Errorf("%w; set TMPDIR to a folder with more room", err)
		}
		return nil, fmt.Errorf("temporary file of %.3g GB in %s: %w", float64(size)/1e9, cmp.Or(folder, os.TempDir()), err)
	}
	return t, nil
}

// File returns the file, to write to and to read.
func (t *Temporary) File() *os.File { return t.file }

// Map maps the file into memory and takes it over: closing the mapping removes it. The name is that of what the
// bytes are, for errors. It returns nil, and takes nothing, where the system refuses.
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

// Words is Map for a file of words, which it returns, too; of a file that is nil there are none.
func (t *Temporary) Words(name string) ([]uint64, *File) {
	f := t.Map(name)
	if f == nil {
		return nil, nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(f.Data))), len(f.Data)/8), f
}

// ReadTemporary sets dst to what was written at an offset. If that fails it panics with a [*Failure].
func ReadTemporary[T uint8 | float32 | uint32 | uint64](t *Temporary, dst []T, offset int64) {
	if _, err := t.file.ReadAt(memoryOf(dst), offset); err != nil {
		panic(&Failure{fmt.Errorf("temporary file: %w", unnamed(err))})
	}
}

// WriteTemporary writes numbers at an offset. If that fails it panics with a [*Failure].
func WriteTemporary[T uint8 | float32 | uint32 | uint64](t *Temporary, src []T, offset int64) {
	if _, err := t.file.WriteAt(memoryOf(src), offset); err != nil {
		panic(&Failure{fmt.Errorf("temporary file in %s: %w", os.TempDir(), unnamed(err))})
	}
}

// unnamed returns an error without the path, which is none that anybody knows.
func unnamed(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
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

// memoryOf returns numbers as the bytes that this machine has of them, as no other one reads the file.
func memoryOf[T uint8 | float32 | uint32 | uint64](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}
