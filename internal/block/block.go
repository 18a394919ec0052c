// Package block has the memory of data sets: large blocks of feature vectors, files mapped into memory,
// with errors if they change, and numbers as the bytes of a file.
//
// Start reading at [New] and [File].
package block

import "unsafe"

// Huge is the length from which a block of features is worth large pages:
// 4 MiB, of which at least one half is made of whole 2 MiB pages wherever the
// block starts.
const Huge = 1 << 20

// New returns n zeros for feature vectors. It asks the system for large pages before the first page is
// touched. With small pages, a pass over a large matrix spends much of its time on looking up their
// addresses.
func New(n int) []float32 { return zeros[float32](n) }

// NewWords returns n zeros for words, likewise.
func NewWords(n int) []uint64 { return zeros[uint64](n) }

// NewNumbers returns n zeros, likewise: numbers of documents that are looked up in any order.
func NewNumbers(n int) []float64 { return zeros[float64](n) }

// NewBytes returns n zeros, likewise.
func NewBytes(n int) []uint8 { return zeros[uint8](n) }

func zeros[T float32 | float64 | uint64 | uint8](n int) []T {
	x := make([]T, n)
	if bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), n*int(unsafe.Sizeof(*new(T)))); len(bytes) >= 4*Huge {
		AdviseHuge(bytes)
	}
	return x
}
