package block

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"
)

// ErrChanged is the cause of the error about a file that was changed while it was
// read or, one that is mapped, while it was in use.
var ErrChanged = errors.New("the file was changed while it was read")

// File is a file's bytes: mapped into memory by [Map], or read into memory of Go's
// own, of which only Name and Data are set.
type File struct {
	Name  string
	Data  []byte
	unmap func(b []byte) error // nil if Data is the garbage collector's

	// Of a mapped file, nil for others:
	file *os.File    // kept open to see whether it changes
	info os.FileInfo // before the first byte was read

	temporary *Temporary // that the file is of, nil if it has a name
}

// Map maps a file into memory, copy on write, and takes it over; info is what
// f.Stat returned before the first byte was read. It returns nil, and takes nothing, where
// the system refuses.
func Map(f *os.File, info os.FileInfo, name string) *File {
	data, unmap := mapFile(f, info.Size())
	if unmap == nil {
		return nil
	}
	m := &File{Name: name, Data: data, unmap: unmap, file: f, info: info}
	m.track()
	return m
}

// Mapped reports whether the bytes are a mapping.
func (m *File) Mapped() bool { return m.unmap != nil }

// Close ends a mapping, whose bytes must not be used afterwards. Closing what is no
// mapping, or is closed, does nothing.
func (m *File) Close() error {
	if m.unmap == nil {
		return nil
	}
	m.untrack()
	unmap := m.unmap
	m.unmap = nil
	closing := m.file.Close
	if m.temporary != nil {
		closing = m.temporary.Close
	}
	return errors.Join(unmap(m.Data), closing())
}

// A mapped file is read when its pages are touched, by any code. If it was cut
// meanwhile, that raises a fault that ends a program unless its goroutines ask for
// a panic in its place ([runtime/debug.SetPanicOnFault]); internal/parallel's do.
// If it was written to, the data are other ones than were checked. Guard turns
// the first into an error, Changed finds both out.

// mappings are the files mapped at present.
var mappings struct {
	sync.Mutex
	list []*File
}

// track makes Guard know of the file.
func (m *File) track() {
	mappings.Lock()
	defer mappings.Unlock()
	mappings.list = append(mappings.list, m)
}

// untrack ends what track began.
func (m *File) untrack() {
	mappings.Lock()
	defer mappings.Unlock()
	mappings.list = slices.DeleteFunc(mappings.list, func(other *File) bool { return other == m })
}

// Failure is what a reader panics with where it cannot return an error, as code that finds a fault of
// a mapped file cannot: Guard returns the error.
type Failure struct{ Err error }

// Error returns the text of the error.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.Err }

// Guard turns a fault at an address of a mapped file into an error that wraps [ErrChanged]: the file was
// truncated while in use. It covers the caller's goroutine and the goroutines of internal/parallel that it
// waits for. The panic of a [*Failure] becomes its error. Other panics continue. Use it as
//
//	defer block.Guard(&err)()
func Guard(err *error) (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			if *err = faultError(r); *err == nil {
				panic(r)
			}
		}
	}
}

// faultError returns the error behind a panic's value, or nil if it is neither a failure nor a
// fault in a mapped file.
func faultError(recovered any) error {
	err, _ := recovered.(error)
	var failure *Failure
	if errors.As(err, &failure) {
		return failure.Err
	}
	var fault interface {
		error
		Addr() uintptr
	}
	if !errors.As(err, &fault) {
		return nil
	}
	mappings.Lock()
	defer mappings.Unlock()
	for _, m := range mappings.list {
		if from := uintptr(unsafe.Pointer(unsafe.SliceData(m.Data))); fault.Addr()-from < uintptr(len(m.Data)) {
			return m.changed()
		}
	}
	return nil
}

func (m *File) changed() error { return fmt.Errorf("%s: %w", m.Name, ErrChanged) }

// Changed returns an error, which wraps [ErrChanged], if the file is mapped and since
// was written to, cut or replaced by another. It looks at the file's size, time of
// modification and place on the disk. A file that is gone but was not replaced is as
// it was.
func (m *File) Changed() error {
	if m.file == nil {
		return nil
	}
	now, err := m.file.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	if Altered(m.info, now) {
		return m.changed()
	}
	if m.temporary != nil {
		return nil
	}
	if named, err := os.Stat(m.Name); err == nil && !os.SameFile(m.info, named) {
		return m.changed()
	}
	return nil
}

// Altered reports whether a file was written to or cut between two looks at it.
func Altered(before, after os.FileInfo) bool {
	return before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime())
}
