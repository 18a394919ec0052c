package tree

import (
	"unsafe"

	"github.com/listwise/listwise/internal/kernel"
)

// histogram has the sums of a block's features by code.
type histogram [blockFeatures][256]sums

// fill sets the histogram to the sums of some documents: rows are theirs in the block's
// words, packed their sums in the same order.
func (h *histogram) fill(words []uint64, rows []uint32, packed []sums) {
	*h = histogram{}
	h.add(words, rows, packed)
}

// add adds the sums of some documents.
func (h *histogram) add(words []uint64, rows []uint32, packed []sums) {
	packed = packed[:len(rows)]
	for i, r := range rows {
		w, v := words[r], packed[i]
		h[0][uint8(w)] += v
		h[1][uint8(w>>8)] += v
		h[2][uint8(w>>16)] += v
		h[3][uint8(w>>24)] += v
		h[4][uint8(w>>32)] += v
		h[5][uint8(w>>40)] += v
		h[6][uint8(w>>48)] += v
		h[7][uint8(w>>56)] += v
	}
}

// remove subtracts the sums of some documents.
func (h *histogram) remove(words []uint64, rows []uint32, packed []sums) {
	var minus [64]sums
	for len(rows) > 0 {
		n := min(len(rows), len(minus))
		for i, v := range packed[:n] {
			minus[i] = -v
		}
		h.add(words, rows[:n], minus[:n])
		rows, packed = rows[n:], packed[n:]
	}
}

// less subtracts another histogram: what is left of a node's is the other child's.
func (h *histogram) less(other *histogram) {
	for k := range h {
		kernel.Subtract(words(h[k][:]), words(other[k][:]))
	}
}

// words returns sums as what they are.
func words(s []sums) []uint64 { return unsafe.Slice((*uint64)(unsafe.SliceData(s)), len(s)) }
