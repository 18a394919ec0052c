package tree

import (
	"unsafe"

	"github.com/listwise/listwise/internal/kernel"
)

// histogram has the sums of a block's features by code.
type histogram [blockFeatures][256]sums

// add adds the sums of some documents, of which words are the block's.
func (h *histogram) add(words []uint64, packed []sums) {
	packed = packed[:len(words)]
	for i, w := range words {
		v := packed[i]
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

// less subtracts another histogram: what is left of a node's is the other child's.
func (h *histogram) less(other *histogram) {
	for k := range h {
		kernel.Subtract(uint64s(h[k][:]), uint64s(other[k][:]))
	}
}

// uint64s returns sums as what they are.
func uint64s(s []sums) []uint64 { return unsafe.Slice((*uint64)(unsafe.SliceData(s)), len(s)) }

// part is the number of documents whose words are brought together at a time, so that they and
// a block's histogram stay in the cache. Their words of the next block stand padding words
// behind, which keeps them from the same place in the cache.
const (
	part    = 1024
	padding = 8
)

// gatherer is the memory of a worker that fills histograms.
type gatherer struct {
	words  []uint64
	values [part]sums
	kept   [part]sums
}

// add adds the sums of documents with the given rows, which packed has by row, to the histograms
// of blocks from one up to another, or takes them away.
func (w *gatherer) add(h []histogram, m *Matrix, from, to int, rows []uint32, packed []sums, minus bool) {
	if need := (to - from) * (part + padding); len(w.words) < need {
		w.words = make([]uint64, need)
	}
	for len(rows) > 0 {
		n := min(part, len(rows))
		values := w.values[:n]
		for i, r := range rows[:n] {
			values[i] = packed[r]
		}
		if minus {
			for i, v := range values {
				values[i] = -v
			}
		}
		kernel.Columns(w.words, part+padding, m.words[from:], m.blocks, to-from, rows[:n])
		for b := from; b < to; b++ {
			at := (b - from) * (part + padding)
			if c := m.common[b]; c.use {
				h[b].addCommon(w.words[at:at+n], w.kept[:], values, c)
			} else {
				h[b].add(w.words[at:at+n], values)
			}
		}
		rows = rows[n:]
	}
}
