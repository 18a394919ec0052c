package tree

import (
	"unsafe"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// histogram has the sums of a block's features by code.
type histogram [blockFeatures][256]sums

// add adds the sums of some documents, given their words of the block.
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

// addCommon adds the sums of some documents, given their words of the block. It overwrites words and kept.
func (h *histogram) addCommon(words []uint64, kept, packed []sums, c common) {
	kept = kept[:len(words)]
	n, dropped := kernel.Without(words, uint64s(kept), uint64s(packed), c.word)
	for k := range h {
		h[k][uint8(c.word>>(8*k))] += sums(dropped)
	}
	h.add(words[:n], kept)
}

// less subtracts a child's histogram from its parent's, which leaves the other child's.
func (h *histogram) less(other *histogram) {
	for k := range h {
		kernel.Subtract(uint64s(h[k][:]), uint64s(other[k][:]))
	}
}

// uint64s returns sums as words.
func uint64s(s []sums) []uint64 { return unsafe.Slice((*uint64)(unsafe.SliceData(s)), len(s)) }

// part is the number of documents whose words are gathered at a time, so that they and a block's histogram
// stay in the cache. The words of the next block follow after padding words, which keeps them from mapping
// to the same place in the cache.
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

// add adds the sums of the documents with the given rows to the histograms of blocks from up to to, or
// subtracts them. packed has the sums by row.
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

// part fills the smaller sibling's histograms and subtracts them from the larger one's, which were the
// parent's. Then it calls then for ranges of blocks.
func (g *Grower) part(smaller, larger *leaf, then func(from, to int)) {
	smaller.sums = g.take()
	g.fill(smaller, func(from, to int) {
		for b := from; b < to; b++ {
			larger.sums[b].less(&smaller.sums[b])
		}
		then(from, to)
	})
}

// fill sets the histograms of a leaf.
func (g *Grower) fill(l *leaf, then func(from, to int)) {
	clear(l.sums)
	g.add(l.sums, l, false, then)
}

// add adds the sums of a leaf's documents to histograms, or subtracts them.
func (g *Grower) add(h []histogram, of *leaf, minus bool, then func(from, to int)) {
	rows := g.index[of.from:of.to]
	g.blocks(len(rows), func(w *gatherer, from, to int) {
		w.add(h, g.matrix, from, to, rows, g.packed, minus)
		then(from, to)
	})
}

// blocks calls do for ranges that cover all blocks of features, in parallel if there is enough work.
func (g *Grower) blocks(docs int, do func(w *gatherer, from, to int)) {
	all, parts := g.matrix.blocks, 1
	if docs*all >= 1<<14 {
		parts = parallel.Workers(g.Workers, all)
	}
	for len(g.gatherers) < parts {
		g.gatherers = append(g.gatherers, gatherer{})
	}
	parallel.For(parts, parts, func(_, i int) { do(&g.gatherers[i], i*all/parts, (i+1)*all/parts) })
}

// take returns memory for histograms, one for each block.
func (g *Grower) take() []histogram {
	if n := len(g.free); n > 0 {
		h := g.free[n-1]
		g.free = g.free[:n-1]
		return h
	}
	return make([]histogram, g.matrix.blocks)
}

// thin releases the histograms of leaves that come after as many others as can still be divided. Such a
// leaf is only divided if an earlier leaf's best split leaves too few documents.
func (g *Grower) thin() {
	if g.Growth != LeafWise {
		return
	}
	for {
		kept, last := 0, -1
		for i := range g.leaves {
			if l := &g.leaves[i]; l.sums != nil {
				if kept++; last < 0 || !g.before(l, &g.leaves[last]) {
					last = i
				}
			}
		}
		if kept <= g.Leaves-len(g.leaves) {
			return
		}
		g.release(&g.leaves[last])
	}
}

// restore fills the histograms of a leaf that thin has released.
func (g *Grower) restore(l *leaf) {
	if l.sums != nil {
		return
	}
	l.sums = g.take()
	g.fill(l, func(int, int) {})
}

// release frees a leaf's histograms.
func (g *Grower) release(l *leaf) {
	if l.sums != nil {
		g.free, l.sums = append(g.free, l.sums), nil
	}
}
