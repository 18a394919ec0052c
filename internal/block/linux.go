//go:build linux

package block

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// noReserve lets a cache larger than the memory be mapped, although in principle
// all of it could be changed.
const noReserve = syscall.MAP_NORESERVE

// madvCollapse is Linux's MADV_COLLAPSE, from version 6.1 on.
const madvCollapse = 25

// AdviseSoon tells the system that a part of a mapped file will be read soon.
func AdviseSoon(part []byte) {
	_ = syscall.Madvise(fromPage(part), syscall.MADV_WILLNEED) // advice
}

// direct opens a file once more, to read or also to write, so that its bytes do not pass through the system's cache,
// and returns what offsets, lengths and addresses must be multiples of; nil where the file's system has no
// such reading.
func direct(f *os.File, mode int) (again *os.File, align int) {
	again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), mode|syscall.O_DIRECT, 0)
	if err != nil {
		return nil, 0
	}
	for _, align := range []int{512, 4096} {
		if _, err := again.ReadAt(Aligned(align, align), int64(align)); err == nil {
			return again, align
		}
	}
	_ = again.Close() // it was not read
	return nil, 0
}

// Forget lets the system take back the memory of the pages within a part of a mapped file that was not
// written to; the file has them still.
func Forget(part []byte) {
	inner := fromPage(part)
	inner = inner[:len(inner)&^(os.Getpagesize()-1)] // whole pages
	if len(inner) > 0 {
		_ = syscall.Madvise(inner, syscall.MADV_DONTNEED) // advice
	}
}

// AdviseHuge asks for large pages within x. It is advice: where the system
// has none, x is as it was.
func AdviseHuge(x []byte) {
	inner := fromPage(x)
	inner = inner[:len(inner)&^(os.Getpagesize()-1)] // whole pages
	if syscall.Madvise(inner, syscall.MADV_HUGEPAGE) == nil {
		_ = syscall.Madvise(inner, madvCollapse) // memory used before has small pages already
	}
}

// fromPage returns memory from the beginning of its first whole page on.
func fromPage(b []byte) []byte {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(os.Getpagesize()-1))
	return b[min(skip, len(b)):]
}

// reserve gives a file its size and the room for it on the disk, so that a disk that is full says so at once.
func reserve(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return f.Truncate(size)
	}
	return err
}
