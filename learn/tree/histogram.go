package tree

import (
	"unsafe"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// histogram has, for each of the eight columns of a block, the sums over the documents with each code.
type histogram [blockFeatures][256]sums

// add adds documents to the histogram. words has the codes of each document in the block, and packed has the gradient
// and second derivative of each document.
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

// addCommon does what add does, for a block in which many documents have the same word, c.word. It first sums the
// documents with this word and adds their total to the histogram once. It overwrites words and kept.
func (h *histogram) addCommon(words []uint64, kept, packed []sums, c common) {
	kept = kept[:len(words)]
	n, dropped := kernel.Without(words, uint64s(kept), uint64s(packed), c.word)
	for k := range h {
		h[k][uint8(c.word>>(8*k))] += sums(dropped)
	}
	h.add(words[:n], kept)
}

// plus adds other to h.
func (h *histogram) plus(other *histogram) {
	for k := range h {
		for code, v := range &other[k] {
			h[k][code] += v
		}
	}
}

// less subtracts the histogram of a child, other, from the histogram of its parent, h. h becomes the histogram of the
// second child.
func (h *histogram) less(other *histogram) {
	for k := range h {
		kernel.Subtract(uint64s(h[k][:]), uint64s(other[k][:]))
	}
}

// uint64s returns the memory of s as a slice of uint64.
func uint64s(s []sums) []uint64 { return unsafe.Slice((*uint64)(unsafe.SliceData(s)), len(s)) }

// part is the number of documents whose words are gathered at a time. The words of so many documents and the histogram
// of a block fit in the cache. padding is the number of unused words between the words of two blocks, so that the
// blocks do not compete for the same sets of the cache.
const (
	part    = 1024
	padding = 8
)

// gatherer is the memory with which one worker fills histograms.
type gatherer struct {
	words  []uint64
	rows   [part]uint32
	values [part]sums
	kept   [part]sums
}

// add adds the documents in rows to the histograms of the blocks from ≤ b < to. If minus is set, it subtracts the
// documents. packed has the gradient and second derivative of each row of the matrix.
func (w *gatherer) add(h []histogram, m *Matrix, from, to int, rows []uint32, packed []sums, minus bool) {
	if need := (to - from) * (part + padding); len(w.words) < need {
		w.words = make([]uint64, need)
	}
	for len(rows) > 0 {
		taken := min(part, len(rows))
		n := w.collect(rows[:taken], packed)
		rows = rows[taken:]
		values := w.values[:n]
		if minus {
			for i, v := range values {
				values[i] = -v
			}
		}
		kernel.Columns(w.words, part+padding, m.words[from:], m.blocks, to-from, w.rows[:n])
		for b := from; b < to; b++ {
			at := (b - from) * (part + padding)
			if c := m.common[b]; c.use {
				h[b].addCommon(w.words[at:at+n], w.kept[:], values, c)
			} else {
				h[b].add(w.words[at:at+n], values)
			}
		}
	}
}

// collect sets w.rows to the rows whose element of packed is not 0, sets w.values to these elements, and returns their
// number. The omitted rows, such as the documents of a query without relevant documents, do not change histograms. To
// avoid a branch, collect writes every row, and the next row overwrites a row to omit.
func (w *gatherer) collect(rows []uint32, packed []sums) int {
	n := 0
	for _, r := range rows {
		v := packed[r]
		w.rows[n&(part-1)], w.values[n&(part-1)] = r, v
		if v != 0 {
			n++
		}
	}
	return n
}

// part computes the histograms of two siblings. On entry, larger.sums has the histograms of the parent. part computes
// the histograms of the smaller sibling from its documents and subtracts them from larger.sums. It calls the function
// then for each range of blocks whose histograms are complete.
func (g *Grower) part(smaller, larger *leaf, then func(from, to int)) {
	smaller.sums = g.take()
	g.fill(smaller, func(from, to int) {
		for b := from; b < to; b++ {
			larger.sums[b].less(&smaller.sums[b])
		}
		then(from, to)
	})
}

// fill computes the histograms of a leaf from its documents. It calls the function then for each range of blocks whose
// histograms are complete.
func (g *Grower) fill(l *leaf, then func(from, to int)) {
	clear(l.sums)
	g.add(l.sums, l, false, then)
}

// add adds the documents of a leaf to the histograms h, or subtracts them if minus is set. It calls the function then
// for each range of blocks whose histograms are complete.
func (g *Grower) add(h []histogram, of *leaf, minus bool, then func(from, to int)) {
	rows := g.index[of.from:of.to]
	if workers := parallel.Workers(g.Workers, chunks(len(rows))); workers > 1 && chunks(len(rows)) >= fewChunks*workers {
		g.addByRows(workers, h, rows, minus, then)
		return
	}
	g.blocks(len(rows), func(w *gatherer, from, to int) {
		w.add(h, g.matrix, from, to, rows, g.packed, minus)
		then(from, to)
	})
}

// The rows of a leaf, instead of its blocks, are divided among workers if each worker gets at least fewChunks chunks of
// rows. Rows can be divided more evenly than blocks, and only one worker reads each row. blocksAtOnce is the number of
// blocks whose histograms fit in a core's cache.
const (
	fewChunks    = 4
	blocksAtOnce = 16
)

// addByRows does what add does, for many rows. The first worker adds to h. Every other worker fills histograms of its
// own, which addByRows then adds to h. The order of additions does not matter, because sums are integers.
func (g *Grower) addByRows(workers int, h []histogram, rows []uint32, minus bool, then func(from, to int)) {
	g.gatherersFor(workers)
	of := make([][]histogram, workers)
	of[0] = h
	for w := 1; w < workers; w++ {
		of[w] = g.take()
		clear(of[w])
	}
	parallel.For(chunks(len(rows)), workers, func(worker, c int) {
		for from := 0; from < g.matrix.blocks; from += blocksAtOnce {
			g.gatherers[worker].add(of[worker], g.matrix, from, min(g.matrix.blocks, from+blocksAtOnce), chunkOf(rows, c), g.packed, minus)
		}
	})
	g.blocks(len(rows), func(_ *gatherer, from, to int) {
		for _, other := range of[1:] {
			for b := from; b < to; b++ {
				h[b].plus(&other[b])
			}
		}
		then(from, to)
	})
	g.free = append(g.free, of[1:]...)
}

// blocks calls do for ranges of blocks that together cover all blocks, concurrently if there is enough work.
func (g *Grower) blocks(docs int, do func(w *gatherer, from, to int)) {
	all, parts := g.matrix.blocks, 1
	if docs*all >= 1<<14 {
		parts = parallel.Workers(g.Workers, all)
	}
	g.gatherersFor(parts)
	parallel.For(parts, parts, func(_, i int) { do(&g.gatherers[i], i*all/parts, (i+1)*all/parts) })
}

func (g *Grower) gatherersFor(workers int) {
	for len(g.gatherers) < workers {
		g.gatherers = append(g.gatherers, gatherer{})
	}
}

// take returns memory for the histograms of all blocks. The memory is not cleared.
func (g *Grower) take() []histogram {
	if n := len(g.free); n > 0 {
		h := g.free[n-1]
		g.free = g.free[:n-1]
		return h
	}
	return make([]histogram, g.matrix.blocks)
}

// thin releases histograms to save memory. If the tree can have n more splits, only the n leaves with the largest gains
// keep their histograms. A leaf without histograms is split only if the best split of one of these n leaves has too few
// documents on a side. Then restore computes the histograms of the leaf again.
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

// restore computes the histograms of a leaf again if thin has released them.
func (g *Grower) restore(l *leaf) {
	if l.sums != nil {
		return
	}
	l.sums = g.take()
	g.fill(l, func(int, int) {})
}

// release makes the memory of a leaf's histograms available to take.
func (g *Grower) release(l *leaf) {
	if l.sums != nil {
		g.free, l.sums = append(g.free, l.sums), nil
	}
}
