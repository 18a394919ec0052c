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

// ErrChanged is the cause of an error about a file that changed while it was read, or a mapped file
// that changed while it was in use.
var ErrChanged = errors.New("the file was changed while it was read")

// File has the bytes of a file. After [Map], Data is a mapping of the file. Otherwise Data is
// ordinary memory, and only Name and Data are set.
type File struct {
	Name  string
	Data  []byte
	unmap func(b []byte) error // nil if Data is ordinary memory

	// These fields are nil unless the file is mapped.
	file *os.File    // kept open to detect changes
	info os.FileInfo // from before the first byte was read

	temporary *Temporary // the owner of the file, nil if the file has a name
}

// Map maps a file into memory, copy on write, and takes ownership of f. info is the result of
// f.Stat from before the first byte was read. If the system refuses, Map returns nil and the caller
// keeps f.
func Map(f *os.File, info os.FileInfo, name string) *File {
	data, unmap := mapFile(f, info.Size())
	if unmap == nil {
		return nil
	}
	m := &File{Name: name, Data: data, unmap: unmap, file: f, info: info}
	m.track()
	return m
}

// Mapped reports whether Data is a mapping.
func (m *File) Mapped() bool { return m.unmap != nil }

// Close ends a mapping. The bytes must not be used afterwards. Close does nothing if the file is
// not mapped or is already closed.
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

// Any code that touches a page of a mapped file reads the file. If the file was truncated
// meanwhile, the access raises a fault. A fault ends the program unless the goroutine asks for a
// panic instead ([runtime/debug.SetPanicOnFault]), as the goroutines of internal/parallel do. If
// the file was written to, the data may differ from the checked data. Guard turns a fault into an
// error. Changed detects truncation and writing.

// mappings has the files that are mapped now.
var mappings struct {
	sync.Mutex
	list []*File
}

// track adds the file to the files that Guard knows.
func (m *File) track() {
	mappings.Lock()
	defer mappings.Unlock()
	mappings.list = append(mappings.list, m)
}

// untrack removes the file from the files that Guard knows.
func (m *File) untrack() {
	mappings.Lock()
	defer mappings.Unlock()
	mappings.list = slices.DeleteFunc(mappings.list, func(other *File) bool { return other == m })
}

// Failure is the value of a panic in a reader that cannot return an error. Guard sets its error to
// Err.
type Failure struct{ Err error }

// Error returns the text of the error.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.Err }

// Guard returns a function for a deferred call, which turns panics of the caller's goroutine into
// errors. If the panic is a fault at an address of a mapped file, the function sets *err to an
// error that wraps [ErrChanged], since the file was truncated while in use. If the panic's value is
// a [*Failure], it sets *err to Failure.Err. Other panics continue. Panics in goroutines of
// internal/parallel for which the caller waits count, too. Use Guard as
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

// faultError returns the error for the value of a panic. It returns nil if the value is neither a
// Failure nor a fault in a mapped file.
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

// Changed returns an error that wraps [ErrChanged] if the file is mapped and was since written to,
// truncated or replaced. It compares the file's size, modification time and identity. A file that
// was removed and not replaced is unchanged.
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

// Altered reports whether size or modification time differ between two results of Stat.
func Altered(before, after os.FileInfo) bool {
	return before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime())
}
