//go:build linux

package block

import (
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

// adviseHugePages asks for large pages within x. It is advice: where the system
// has none, x is as it was.
func adviseHugePages(x []byte) {
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
