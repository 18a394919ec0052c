package dataset

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
// read or, a cache, while it was in use.
var ErrChanged = errors.New("the file was changed while it was read")

// A mapped file is read when its pages are touched, by whatever code. If it was cut
// meanwhile, that raises a fault that ends a program unless its goroutines ask for
// a panic in its place ([runtime/debug.SetPanicOnFault]); internal/parallel's do.
// If it was written to, the data are other ones than were checked. GuardFaults turns
// the first into an error, Changed finds both out.

// mappings are the caches mapped at present.
var mappings struct {
	sync.Mutex
	list []*cacheFile
}

// track makes GuardFaults know of the cache.
func (c *cacheFile) track() {
	mappings.Lock()
	defer mappings.Unlock()
	mappings.list = append(mappings.list, c)
}

// untrack ends what track began.
func (c *cacheFile) untrack() {
	mappings.Lock()
	defer mappings.Unlock()
	mappings.list = slices.DeleteFunc(mappings.list, func(other *cacheFile) bool { return other == c })
}

// GuardFaults makes the caller's goroutine turn a fault of the memory, its own or
// one in a goroutine of internal/parallel that it waits for, into an error if it is
// at an address that a cache is mapped to: the file was cut while it was used. The
// error wraps [ErrChanged]. Other panics go on. It is called as
//
//	defer dataset.GuardFaults(&err)()
func GuardFaults(err *error) (end func()) {
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

// faultError returns the error behind a panic's value, or nil if it is no fault in
// a mapped cache.
func faultError(recovered any) error {
	err, _ := recovered.(error)
	var fault interface {
		error
		Addr() uintptr
	}
	if !errors.As(err, &fault) {
		return nil
	}
	mappings.Lock()
	defer mappings.Unlock()
	for _, c := range mappings.list {
		if from := uintptr(unsafe.Pointer(unsafe.SliceData(c.data))); fault.Addr()-from < uintptr(len(c.data)) {
			return c.changed()
		}
	}
	return nil
}

func (c *cacheFile) changed() error { return fmt.Errorf("%s: %w", c.name, ErrChanged) }

// Changed returns an error, which wraps [ErrChanged], if the data set is a view of a
// file that since was written to, cut or replaced by another. It looks at the
// file's size, time of modification and place on the disk. Whoever made something
// of the data asks before handing it on; model.Score, method.Train,
// measure.Evaluate and the writers of this package do. A file that is gone but was
// not replaced is as it was. For any other data set Changed returns nil.
func (d *Dataset) Changed() error {
	if d.cache == nil || d.cache.file == nil {
		return nil
	}
	c := d.cache
	now, err := c.file.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if altered(c.info, now) {
		return c.changed()
	}
	if named, err := os.Stat(c.name); err == nil && !os.SameFile(c.info, named) {
		return c.changed()
	}
	return nil
}

// altered tells whether a file was written to or cut between two looks at it.
func altered(before, after os.FileInfo) bool {
	return before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime())
}
