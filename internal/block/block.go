// Package block manages the memory of data sets. It allocates large blocks of feature vectors, maps
// files into memory and detects their changes, and converts between numbers and the bytes of a
// file.
//
// Start reading at [New] and [File].
package block

import "unsafe"

// Huge is the number of float32s from which large pages are worthwhile for a block of features: 4
// MiB. At least half of such a block consists of whole 2 MiB pages, wherever it starts.
const Huge = 1 << 20

// New returns n zeros for feature vectors. It asks the system for large pages before the first page
// is touched. With small pages, a pass over a large matrix spends much of its time on address
// translation.
func New(n int) []float32 { return zeros[float32](n) }

// NewWords is [New] for 64-bit words.
func NewWords(n int) []uint64 { return zeros[uint64](n) }

// NewNumbers is [New] for float64s, such as numbers of documents that are read in random order.
func NewNumbers(n int) []float64 { return zeros[float64](n) }

// NewBytes is [New] for bytes.
func NewBytes(n int) []uint8 { return zeros[uint8](n) }

func zeros[T float32 | float64 | uint64 | uint8](n int) []T {
	x := make([]T, n)
	if bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), n*int(unsafe.Sizeof(*new(T)))); len(bytes) >= 4*Huge {
		AdviseHuge(bytes)
	}
	return x
}
