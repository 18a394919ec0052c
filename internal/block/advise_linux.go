package block

import (
	"os"
	"syscall"
	"unsafe"
)

// AdviseSoon tells the system that a part of a mapped file will be read soon.
func AdviseSoon(part []byte) {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(part))) & uintptr(os.Getpagesize()-1))
	if skip < len(part) {
		_ = syscall.Madvise(part[skip:], syscall.MADV_WILLNEED) // advice
	}
}
