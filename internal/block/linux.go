//go:build linux

package block

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// noReserve allows the mapping of a cache that is larger than the memory. Without it, the system
// would reserve memory for changes to the whole mapping.
const noReserve = syscall.MAP_NORESERVE

// madvCollapse is MADV_COLLAPSE, which Linux has since version 6.1.
const madvCollapse = 25

// soonBytes is the number of bytes that AdviseSoon announces to the system per call. Linux reads at
// most a disk's read_ahead_kb bytes per call; the default of that limit is soonBytes.
const soonBytes = 128 << 10

// AdviseSoon tells the system that the process will soon read a part of a mapped file.
func AdviseSoon(part []byte) {
	back := int(uintptr(unsafe.Pointer(unsafe.SliceData(part))) & uintptr(os.Getpagesize()-1))
	part = unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(part)), -back)), back+len(part))
	for from := 0; from < len(part); from += soonBytes {
		_ = syscall.Madvise(part[from:min(from+soonBytes, len(part))], syscall.MADV_WILLNEED) // advice
	}
}

// Forget removes the unchanged pages of a part of a mapped file from this process. The system can
// then reuse their memory without a search for the processes that map it. The pages are read again
// when they are touched.
func Forget(part []byte) {
	inner := fromPage(part)
	inner = inner[:len(inner)&^(os.Getpagesize()-1)] // whole pages
	if len(inner) > 0 {
		_ = syscall.Madvise(inner, syscall.MADV_DONTNEED) // advice
	}
}

// AdviseHuge asks the system for large pages within x. The content of x does not change.
func AdviseHuge(x []byte) {
	inner := fromPage(x)
	inner = inner[:len(inner)&^(os.Getpagesize()-1)] // whole pages
	if syscall.Madvise(inner, syscall.MADV_HUGEPAGE) == nil {
		_ = syscall.Madvise(inner, madvCollapse) // memory used before has small pages already
	}
}

// fromPage returns b from its first page boundary on.
func fromPage(b []byte) []byte {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(os.Getpagesize()-1))
	return b[min(skip, len(b)):]
}

// reserve sets the size of a file and reserves its disk space, so that a full disk is reported at
// once.
func reserve(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return f.Truncate(size)
	}
	return err
}
