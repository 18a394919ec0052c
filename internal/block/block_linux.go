package block

import (
	"os"
	"syscall"
	"unsafe"
)

// madvCollapse is Linux's MADV_COLLAPSE, from version 6.1 on.
const madvCollapse = 25

// adviseHugePages asks for large pages within x. It is advice: where the system
// has none, x is as it was.
func adviseHugePages(x []float32) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
	page := uintptr(os.Getpagesize())
	start := uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))
	skip := int(-start & (page - 1))
	if skip >= len(bytes) {
		return
	}
	whole := (len(bytes) - skip) &^ int(page-1)
	inner := bytes[skip : skip+whole]
	if syscall.Madvise(inner, syscall.MADV_HUGEPAGE) == nil {
		_ = syscall.Madvise(inner, madvCollapse) // memory used before has small pages already
	}
}
