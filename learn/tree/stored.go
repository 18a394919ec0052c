package tree

import (
	"math"
	"unsafe"

	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// Codes that are in a file are read by windows: in order, as many rows of a leaf together as a window holds, and not
// what lies between two rows that are far apart. Rows are too short, and a leaf's too scattered, to be read each by
// itself: every page of the file has one of a leaf of a thirtieth of the rows.
const (
	windowBytes = 1 << 20
	gapBytes    = 64 << 10
)

// window is a part of the file of codes that has some rows.
type window struct {
	from, to  int    // in the list of rows
	base, end uint32 // the rows of the file, from one up to another
}

// windows cuts a list of increasing rows.
func (m *Matrix) windows(rows []uint32) (list []window) {
	most, gap := uint32(max(1, windowBytes/(8*m.blocks))), uint32(max(1, gapBytes/(8*m.blocks)))
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to]-rows[to-1] <= gap && rows[to]-rows[from] < most {
			to++
		}
		list = append(list, window{from, to, rows[from], rows[to-1] + 1})
		from = to
	}
	return list
}

// storedReader is the memory of those who read windows.
type storedReader struct {
	memory   []byte
	relative []uint32
	gatherer gatherer
	sums     []histogram
	used     bool
}

// ReaderBytes returns the bytes that one of those who look at codes in a file holds: a window and histograms.
func ReaderBytes(features int) int64 {
	return windowBytes + int64(features)*int64(unsafe.Sizeof(histogram{}))/blockFeatures
}

// readers are more than there are cores, so that some compute while others wait for the disk.
func (g *Grower) readers(windows int) []storedReader {
	most := g.Readers
	if most <= 0 {
		most = 2 * parallel.Workers(g.Workers, math.MaxInt)
	}
	n := max(1, min(windows, most))
	for len(g.stored) < n {
		g.stored = append(g.stored, storedReader{})
	}
	return g.stored[:n]
}

// scan visits the rows of a list, window by window, with the words that have them: those of row r begin at
// (r−base)·blocks. Nothing of them may be kept. If reading fails it panics with a value that
// dataset.GuardFaults makes an error of.
func (g *Grower) scan(rows []uint32, visit func(r *storedReader, w window, words []uint64)) []storedReader {
	m := g.matrix
	list := m.windows(rows)
	readers := g.readers(len(list))
	align := m.file.Direct()
	parallel.For(len(list), len(readers), func(worker, i int) {
		r, w := &readers[worker], list[i]
		offset, n := 8*int64(w.base)*int64(m.blocks), int(w.end-w.base)*m.blocks
		if need := 8*n + 2*align; len(r.memory) < need {
			r.memory = block.Aligned(max(need, windowBytes+8*m.blocks+2*align), align)
		}
		words, err := m.file.WordsAt(r.memory, offset, n)
		if err != nil {
			panic(&block.Failure{Err: err})
		}
		visit(r, w, words)
	})
	return readers
}

// readStored sets codes to those of rows in a slot.
func (g *Grower) readStored(codes []uint8, rows []uint32, slot int) {
	at, shift, stride := slot/blockFeatures, 8*(slot%blockFeatures), g.matrix.blocks
	g.scan(rows, func(_ *storedReader, w window, words []uint64) {
		dst := codes[w.from:w.to]
		for i, row := range rows[w.from:w.to] {
			dst[i] = uint8(words[int(row-w.base)*stride+at] >> shift)
		}
	})
}

// addStored adds the sums of documents to the histograms of all blocks, or takes them away.
func (g *Grower) addStored(h []histogram, rows []uint32, minus bool) {
	g.merge(h, g.scan(rows, func(r *storedReader, w window, words []uint64) {
		r.relative = r.relative[:0]
		for _, row := range rows[w.from:w.to] {
			r.relative = append(r.relative, row-w.base)
		}
		r.add(g, w, words, minus)
	}))
}

// add adds the sums of a window's rows that are in relative to those of the reader, with the sign that merge wants.
func (r *storedReader) add(g *Grower, w window, words []uint64, minus bool) {
	m := g.matrix
	if !r.used {
		if r.sums == nil {
			r.sums = make([]histogram, m.blocks)
		}
		clear(r.sums)
		r.used = true
	}
	r.gatherer.addWords(r.sums, m, words, 0, m.blocks, r.relative, g.packed[w.base:w.end], !minus)
}

// merge takes the sums of readers from histograms. They are whole numbers, so that their order does not matter.
func (g *Grower) merge(h []histogram, readers []storedReader) {
	for i := range readers {
		if r := &readers[i]; r.used {
			for b := range h {
				h[b].less(&r.sums[b])
			}
			r.used = false
		}
	}
}

// ahead has the histograms of one side of a split: where codes are in a file, they are summed when those of the split
// are read, so that the rows are read once.
type ahead struct {
	sums []histogram // nil if there are none
	left bool
}

// readToDivide is read for a leaf's best split. If the parts will have histograms, it sums those of the side that by
// its curvature is the smaller one, where that saves reading.
func (g *Grower) readToDivide(l *leaf, sum bool) []uint8 {
	if g.matrix.file == nil || !sum {
		return g.read(l, l.best.slot)
	}
	codes, rows := g.codesOf(l)
	b, goes := &l.best, goesLeft(&l.best)
	var left sums
	for code, s := range l.sums[b.slot/blockFeatures][b.slot%blockFeatures] {
		if goes[code] == 1 {
			left += s
		}
	}
	side := uint8(0)
	if g.ahead.left = 2*left.curvature() <= l.total.curvature(); g.ahead.left {
		side = 1
	}
	at, shift, stride := b.slot/blockFeatures, 8*(b.slot%blockFeatures), g.matrix.blocks
	g.ahead.sums = g.take()
	clear(g.ahead.sums)
	g.merge(g.ahead.sums, g.scan(rows, func(r *storedReader, w window, words []uint64) {
		dst := codes[w.from:w.to]
		r.relative = r.relative[:0]
		for i, row := range rows[w.from:w.to] {
			row -= w.base
			if dst[i] = uint8(words[int(row)*stride+at] >> shift); goes[dst[i]] == side {
				r.relative = append(r.relative, row)
			}
		}
		r.add(g, w, words, false)
	}))
	return codes
}

// dropAhead forgets what was summed ahead.
func (g *Grower) dropAhead() {
	if g.ahead.sums != nil {
		g.free, g.ahead.sums = append(g.free, g.ahead.sums), nil
	}
}

// takeAhead gives two siblings, of which one has the histograms of their parent and the other one none, their own
// by what was summed ahead. It reports whether anything was.
func (g *Grower) takeAhead(parent, other *leaf) bool {
	if g.ahead.sums == nil {
		return false
	}
	summed, rest := other, parent
	if parent.isLeft == g.ahead.left {
		summed, rest = parent, other
		other.sums = parent.sums
	}
	summed.sums, g.ahead.sums = g.ahead.sums, nil
	for b := range rest.sums {
		rest.sums[b].less(&summed.sums[b])
	}
	return true
}
