//go:build linux

package block

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// noReserve lets a cache larger than the memory be mapped, although in principle
// all of it could be changed.
const noReserve = syscall.MAP_NORESERVE

// madvCollapse is Linux's MADV_COLLAPSE, from version 6.1 on.
const madvCollapse = 25

// soonBytes is the part of a file announced to the system at a time. Linux reads at most a disk's
// read_ahead_kb ahead at once, which has this default.
const soonBytes = 128 << 10

// AdviseSoon tells the system that a part of a mapped file will be read soon.
func AdviseSoon(part []byte) {
	back := int(uintptr(unsafe.Pointer(unsafe.SliceData(part))) & uintptr(os.Getpagesize()-1))
	part = unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(part)), -back)), back+len(part))
	for from := 0; from < len(part); from += soonBytes {
		_ = syscall.Madvise(part[from:min(from+soonBytes, len(part))], syscall.MADV_WILLNEED) // advice
	}
}

// Forget removes the unchanged pages of a part of a mapped file from this process. The system can then
// reuse their memory without a search for users. They are read again when touched.
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
