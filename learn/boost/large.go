package boost

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// manyDocs is the smallest number of documents for which RankBoost, and FRank with ByGradient, use a largeSearch. With
// fewer documents, search is faster.
var manyDocs = 1 << 16

// largeSearch finds the same weak rankers as search.run, bit for bit, but faster for many documents. It divides the
// values of a feature into at most 256 bins with about the same number of documents. For each value it stores the code,
// which is the number of the value's bin, in one byte. Only for the few columns that may have the best weak ranker does
// it read the values themselves.
//
// A round sums the potentials of every bin. These sums give the exact edges of thresholds between bins. For thresholds
// inside a bin, a round computes bounds on the edges as follows. When the edges of a bin were last computed exactly,
// they exceeded the edge at the bin's upper end by at most some e. Now they exceed it by at most e plus the total
// increase of the bin's potentials since then. The lower bound is analogous, with the total decrease. Potentials change
// little from round to round, so the bounds are tight.
//
// The ceiling of a column is the largest of its upper bounds. The search ignores columns whose ceiling is below a known
// edge, and processes the other columns in descending order of ceilings. In a column, it first computes the exact edges
// of the bins with the highest bounds. This lowers the ceiling, and raises the lower bound on the best edge of all
// columns. If the ceiling is then an exact edge and still the highest ceiling of all columns, the search computes all
// edges of the column as type search does.
//
// To sum a bin, the search adds one integer per document. 40 bits of the integer are the document's potential, and 24
// bits are the increase of the potential since the last round. So a document takes one addition per column, and the
// sums do not depend on the order of the documents.
type largeSearch struct {
	data    *dataset.Dataset
	rows    []int
	up      bool
	workers int

	columns []largeColumn // one for each feature
	codes   []uint8       // by column, then by document

	potential []float64 // potentials of the last round
	sums      []uint64  // the integer that each document adds to its bins
	units     units     // units of the integers of the last round
	fresh     bool      // all columns were searched exactly for the present potentials

	sorter sorter
	orders recent[uint32]
	bin    []uint32     // sorted documents of one bin
	varied []int        // columns with different values
	bins   [][]fourBins // sums of the bins: by worker, then for four varied columns each
}

// loadedColumns is the number of columns that a worker copies from the rows of the data at a time, in order to sort
// them. With a smaller number the search reads the data more often, and with a larger number it takes more memory.
const loadedColumns = 3

// loadedBytes is the number of bytes per document that a worker needs for sorting: two keys and the loaded values.
const loadedBytes = 2*8 + 4*loadedColumns

// keptOrders is the number of columns whose order is cached. The order of a column is the list of documents sorted by
// value, in 4 bytes per document. The orders, the sorter and the last potentials together take as much memory as the
// sorting of two workers.
const keptOrders = 8

// newLargeSearch returns a search over the documents in the given rows of d. It computes all edges for the potentials
// of the first round.
func newLargeSearch(d *dataset.Dataset, rows []int, o Options, potential []float64) *largeSearch {
	n, loads := len(rows), (d.Features+loadedColumns-1)/loadedColumns
	s := &largeSearch{
		data: d, rows: rows, up: o.Up, workers: o.Workers,
		columns: make([]largeColumn, d.Features), codes: newCodes(d.Features * n),
		potential: potential, fresh: true,
	}
	sorters := make([]sorter, parallel.Workers(o.Workers, loads))
	loaded := make([][]uint32, len(sorters))
	parallel.For(loads, o.Workers, func(worker, i int) {
		if loaded[worker] == nil {
			sorters[worker].room(n)
			loaded[worker] = largePages(loadedColumns * n)
		}
		s.begin(i*loadedColumns, loaded[worker], &sorters[worker], o.Cuts)
	})
	s.reuse(sorters, loaded)
	copy(s.potential, potential)
	return s
}

// reuse distributes the memory that was used for sorting the columns among the fields of s that the rounds use.
func (s *largeSearch) reuse(sorters []sorter, loaded [][]uint32) {
	n := len(s.rows)
	s.sorter = sorters[0]
	s.sorter.room(n)
	s.sums = s.sorter.spare // nothing is sorted while sums is in use
	s.potential = nil
	for _, other := range sorters[1:] {
		switch {
		case other.keys == nil: // the worker had no column to sort
			continue
		case s.potential == nil:
			s.potential = block.Numbers(other.keys)
		default:
			loaded = append(loaded, block.Halves(other.keys))
		}
		loaded = append(loaded, block.Halves(other.spare))
	}
	if s.potential == nil {
		s.potential = block.NewNumbers(n)
	}
	for _, memory := range loaded {
		s.keepOrders(memory, keptOrders)
	}
	for len(s.orders.slots) < keptOrders {
		s.orders.add(largePages(n))
	}
}

// newCodes returns memory for n codes, all 0.
func newCodes(n int) []uint8 { return block.Bytes(block.NewWords((n + 7) / 8))[:n] }

// largePages returns n zeros in large memory pages.
func largePages(n int) []uint32 { return block.Halves(block.NewWords((n + 1) / 2))[:n] }

// keepOrders divides memory into parts for one order each and adds them to s.orders, until s.orders has most parts.
func (s *largeSearch) keepOrders(memory []uint32, most int) {
	for n := len(s.rows); len(memory) > 0 && len(s.orders.slots) < most; memory = memory[n:] {
		s.orders.add(memory[:n])
	}
}

// begin calls beginColumn for up to loadedColumns columns, beginning with column from.
func (s *largeSearch) begin(from int, loaded []uint32, sort *sorter, cuts int) {
	n, to := len(s.rows), min(from+loadedColumns, s.data.Features)
	x, width := s.data.X(), s.data.Features
	for i, row := range s.rows {
		for k, v := range x[row*width+from : row*width+to] {
			loaded[k*n+i] = math.Float32bits(v)
		}
	}
	for f := from; f < to; f++ {
		column := loaded[(f-from)*n : (f-from+1)*n]
		s.beginColumn(f, column, column, s.codesOf(f), sort, cuts)
	}
}

// codesOf returns the codes of a column.
func (s *largeSearch) codesOf(f int) []uint8 { return s.codes[f*len(s.rows):][:len(s.rows)] }

// beginColumn sorts a column, chooses its bins and computes all its edges. values has the bits of the column's values.
// beginColumn sets order to the documents sorted by value, and codes to the codes of the documents. If all values are
// the same, it sets neither and returns false. order and values may be the same slice.
func (s *largeSearch) beginColumn(f int, order, values []uint32, codes []uint8, sort *sorter, cuts int) bool {
	c := &s.columns[f]
	least, greatest := toKeys(values, nil)
	if least == greatest {
		return false
	}
	c.varies, c.ceiling = true, math.Inf(1)
	sort.sort(order, values)
	if cuts > 0 && runs(order) > cuts+1 {
		c.cuts = spaced(kernel.OfAscendingKey(least), kernel.OfAscendingKey(greatest), cuts)
		sort.resort(order, values, c.cuts)
	}
	c.choose(order)
	c.code(order, codes)
	s.search(f, order, s.potential)
	return true
}

// value returns the value of a feature for a document.
func (s *largeSearch) value(f int, doc uint32) float32 {
	return s.data.X()[s.rows[doc]*s.data.Features+f]
}

// run returns the weak ranker with the largest edge, as search.run does. In the candidate, column is the feature, and
// cut is the index of the first document above the threshold in the feature's order. ok is false if all edges are
// rounding errors.
func (s *largeSearch) run(potential []float64) (best candidate, ok bool) {
	least := math.Inf(-1)
	if !s.fresh {
		least = s.bound(potential)
	}
	for {
		f := s.highest(max(least, sizeOf(best.edge, s.up)))
		if f < 0 {
			break
		}
		c := &s.columns[f]
		if !s.fresh {
			if known := max(least, sizeOf(best.edge, s.up)); !c.highestSeen && s.look(f, known, potential) {
				least = max(least, c.attained(s.up))
				continue
			}
			s.search(f, s.order(f), potential)
		}
		c.done = true
		of, most := sizeOf(c.best.edge, s.up), sizeOf(best.edge, s.up)
		if of > most || of == most && of > 0 && f < best.column {
			best = c.best
		}
	}
	s.fresh = false
	return best, sizeOf(best.edge, s.up) > leastEdge
}

// highest returns the column with the highest ceiling among the columns that were not searched completely in this
// round. It returns −1 if no such ceiling is at least least.
func (s *largeSearch) highest(least float64) int {
	highest := -1
	for f := range s.columns {
		if c := &s.columns[f]; c.varies && !c.done && c.ceiling >= least {
			highest, least = f, c.ceiling
		}
	}
	return highest
}

// order returns the documents sorted by feature f, in ascending order of values, from the cache or by sorting.
func (s *largeSearch) order(f int) []uint32 {
	order, there := s.orders.of(f)
	if !there {
		x, width := s.data.X()[f:], s.data.Features
		for i, row := range s.rows {
			order[i] = math.Float32bits(x[row*width])
		}
		toKeys(order, s.columns[f].cuts)
		s.sorter.sort(order, order)
	}
	return order
}

// search computes all edges of column f, from the highest threshold down, and sets the column's best weak ranker. It
// adds potentials in the same order as search.run, so that edges have the same bits.
func (s *largeSearch) search(f int, order []uint32, potential []float64) {
	c := &s.columns[f]
	c.rise, c.fall, c.best = [256]float64{}, [256]float64{}, candidate{column: f}
	code, below := c.codes-1, len(order)-int(c.docs[c.codes-1])
	size, edge, base := math.Inf(-1), 0.0, 0.0
	for to := len(order); to > 0; {
		if to == below {
			c.sums[code] = edge - base
			code--
			below, base = below-int(c.docs[code]), edge
		}
		if to < len(order) {
			c.rise[code], c.fall[code] = max(c.rise[code], edge-base), max(c.fall[code], base-edge)
			if of := sizeOf(edge, s.up); of >= size {
				size, c.best.edge, c.best.cut = of, edge, to
			}
		}
		from := runStart(order, to)
		var sum float64
		for _, doc := range order[from:to] {
			sum += potential[doc&^first]
		}
		edge += sum
		to = from
	}
	c.sums[code] = edge - base
}

// split marks the documents above the threshold of c, the candidate that the last call of run returned.
func (s *largeSearch) split(above []bool, c candidate) {
	clear(above)
	for _, doc := range s.order(c.column)[c.cut:] {
		above[doc&^first] = true
	}
}

func (s *largeSearch) stump(c candidate) scorer.Stump {
	threshold := s.value(c.column, s.order(c.column)[c.cut-1]&^first)
	if cuts := s.columns[c.column].cuts; cuts != nil { // of all thresholds that split the documents in the same way, take the lowest
		threshold = cuts[interval(cuts, threshold)]
	}
	return scorer.Stump{Feature: c.column, Threshold: threshold}
}

// units has the units of the integers that are summed per bin, and bounds on the error of an edge that is computed from
// such sums.
type units struct {
	potential, growth float64 // value of 1 in the two parts of an integer
	error             float64 // bound on the error of an edge
	rounding          float64 // part of error that is due to floating point
	last              float64 // potential of the last round, for differences between rounds
	lastRounding      float64 // rounding of the last round
}

// difference returns an upper bound on the error of the change of a bin's sum since the last round. docs is the number
// of documents of the bin.
func (u *units) difference(docs uint64) float64 {
	return float64(1.01*float64(float64(docs)*(u.potential+u.last))) + u.rounding + u.lastRounding
}

// Bits of the two parts of a document's integer. The potential is signed and has the upper bits.
const (
	potentialBits = 40
	growthBits    = 64 - potentialBits
)

// addends computes the integer of each document, and their units, from the potentials of this round and of the last
// round. Then it stores the potentials for the next round.
func (s *largeSearch) addends(potential []float64) *units {
	var mass, growth float64
	for i, p := range potential {
		mass += math.Abs(p)
		growth += max(0, p-s.potential[i])
	}
	// The units are so large that no sum of integers overflows its part of 64 bits. Integers are rounded towards 0, so
	// rounding cannot increase a sum.
	const least = 1e-290
	u := units{
		potential: max(mass/(1<<(potentialBits-2)), least),
		growth:    max(growth/(1<<growthBits-1<<8), least),
		last:      s.units.potential, lastRounding: s.units.rounding,
	}
	n := float64(len(potential))
	u.rounding = float64(n * mass * 0x1p-50)
	u.error = float64(1.01*float64(n*u.potential)) + u.rounding
	perPotential, perGrowth := 1/u.potential, 1/u.growth
	for i, p := range potential {
		grown := max(0, p-s.potential[i])
		s.sums[i] = uint64(int64(p*perPotential))<<growthBits + uint64(grown*perGrowth)
	}
	copy(s.potential, potential)
	s.units = u
	return &s.units
}

// fourBins has the sums of the bins of four columns, by column and code. The sums of four columns are computed
// together, so that the integer of each document is loaded once for four columns.
type fourBins [4][256]uint64

// add adds the integer of each document, in sums, to the document's bin in each of the four columns.
func (b *fourBins) add(codes [4][]uint8, sums []uint64) {
	c0, c1, c2, c3 := codes[0][:len(sums)], codes[1][:len(sums)], codes[2][:len(sums)], codes[3][:len(sums)]
	for i, v := range sums {
		b[0][c0[i]] += v
		b[1][c1[i]] += v
		b[2][c2[i]] += v
		b[3][c3[i]] += v
	}
}

// bound updates the ceilings of all columns for new potentials. It returns a lower bound on the largest edge.
func (s *largeSearch) bound(potential []float64) (least float64) {
	u := s.addends(potential)
	s.addBins(u)
	for f := range s.columns {
		for _, edge := range s.columns[f].edges[:s.columns[f].codes] {
			least = max(least, sizeOf(edge, s.up)-u.error)
		}
	}
	return least
}

// boundDocs is the number of documents that are added to the bins of one group of columns after the other, so that
// their integers stay in a core's cache.
const boundDocs = 1 << 14

// addBins computes the sums of all bins and updates the bounds of all columns. Workers add different documents. Sums of
// integers do not depend on the order, so the result does not depend on the number of workers.
func (s *largeSearch) addBins(u *units) {
	if s.bins == nil {
		s.makeBins()
	}
	for _, bins := range s.bins {
		clear(bins)
	}
	n := len(s.rows)
	parallel.For((n+boundDocs-1)/boundDocs, len(s.bins), func(worker, i int) {
		from, to := i*boundDocs, min((i+1)*boundDocs, n)
		for q := range s.bins[worker] {
			var codes [4][]uint8
			for k := range codes {
				f := s.varied[min(4*q+k, len(s.varied)-1)] // columns beyond the last repeat the last one, and are ignored
				codes[k] = s.codesOf(f)[from:to]
			}
			s.bins[worker][q].add(codes, s.sums[from:to])
		}
	})
	parallel.For(len(s.varied), s.workers, func(_, i int) {
		sums := s.bins[0][i/4][i%4]
		for _, more := range s.bins[1:] {
			for code, v := range &more[i/4][i%4] {
				sums[code] += v
			}
		}
		s.columns[s.varied[i]].bound(&sums, u, s.up)
	})
}

// makeBins allocates the bins of every worker.
func (s *largeSearch) makeBins() {
	for f := range s.columns {
		if s.columns[f].varies {
			s.varied = append(s.varied, f)
		}
	}
	s.bins = make([][]fourBins, parallel.Workers(s.workers, (len(s.rows)+boundDocs-1)/boundDocs))
	for w := range s.bins {
		s.bins[w] = make([]fourBins, (len(s.varied)+3)/4)
	}
}

// look computes the exact edges of some bins of a column and updates the column's ceiling. It chooses the bins whose
// upper bounds are above the middle between least, a lower bound on the largest edge, and the column's ceiling. If
// searching the whole column is less work, it does nothing and returns false.
func (s *largeSearch) look(f int, least float64, potential []float64) bool {
	const part = 4 // looking at more than 1/part of the documents takes longer than a search
	c := &s.columns[f]
	marks, docs := c.reaching(least+float64((c.ceiling-least)/2), s.up)
	switch {
	case s.orders.has(f):
		order, _ := s.orders.of(f)
		c.lookInOrder(&marks, order, potential)
	case c.seenDocs+docs > len(s.rows)/part:
		return false
	default:
		s.lookByCode(f, &marks, potential)
	}
	c.seenDocs += docs
	c.raise(s.up)
	return true
}

// lookByCode computes the exact edges of the marked bins of a column whose order is not cached.
func (s *largeSearch) lookByCode(f int, marks *[256]bool, potential []float64) {
	c, keys := &s.columns[f], ascending(s.marked(f, marks), s.sorter.spare)
	codes := s.codesOf(f)
	for len(keys) > 0 {
		code := codes[uint32(keys[0])]
		n := int(c.docs[code])
		s.bin = slices.Grow(s.bin[:0], n)[:n]
		putOrder(s.bin, keys[:n])
		c.look(int(code), s.bin, potential)
		keys = keys[n:]
	}
}

// marked returns an integer for each document of the marked bins of a column. The upper half is the key of the
// document's value, and the lower half is the document. The result uses the memory of the sorter.
func (s *largeSearch) marked(f int, marks *[256]bool) (keys []uint64) {
	var taken [256]uint8
	for code, marked := range marks {
		if marked {
			taken[code] = 1
		}
	}
	parts := make([][]uint64, parallel.Workers(s.workers, (len(s.rows)+markedPart-1)/markedPart))
	parallel.For(len(parts), s.workers, func(_, i int) {
		parts[i] = s.markedOf(f, &taken, i*len(s.rows)/len(parts), (i+1)*len(s.rows)/len(parts))
	})
	keys = parts[0]
	for _, more := range parts[1:] {
		keys = append(keys, more...) // in place: parts are in the order of their documents, with gaps between them
	}
	return keys
}

// markedPart is the number of documents per goroutine in marked.
const markedPart = 1 << 17

// markedOf returns the integers of marked for the documents from ≤ i < to. taken is 1 for the marked bins. It first
// collects the documents and then their values. Neither loop has a branch that the processor mispredicts, so the
// processor loads many values at a time.
func (s *largeSearch) markedOf(f int, taken *[256]uint8, from, to int) []uint64 {
	keys := putTaken(s.sorter.keys[from:to], s.codesOf(f)[from:to], taken, from)
	x, width := s.data.X()[f:], s.data.Features
	for i, doc := range keys {
		keys[i] = uint64(kernel.AscendingKey(x[s.rows[doc]*width]))<<32 | doc
	}
	if cuts := s.columns[f].cuts; cuts != nil {
		for i, key := range keys {
			keys[i] = uint64(interval(cuts, kernel.OfAscendingKey(uint32(key>>32))))<<32 | uint64(uint32(key))
		}
	}
	return keys
}

// putTaken finds the elements of codes for which taken is 1, writes their indices plus from to the beginning of keys,
// and returns this part of keys. The elements of taken must be 0 or 1. Usually taken is 0 for most codes, so putTaken
// first tests eight codes together.
func putTaken(keys []uint64, codes []uint8, taken *[256]uint8, from int) []uint64 {
	docs := 0
	for len(codes) > 0 {
		n := min(8, len(codes))
		if n == 8 {
			w := binary.LittleEndian.Uint64(codes)
			if taken[uint8(w)]|taken[uint8(w>>8)]|taken[uint8(w>>16)]|taken[uint8(w>>24)]|
				taken[uint8(w>>32)]|taken[uint8(w>>40)]|taken[uint8(w>>48)]|taken[uint8(w>>56)] == 0 {
				codes, from = codes[8:], from+8
				continue
			}
		}
		for i, code := range codes[:n] {
			keys[docs] = uint64(from + i)
			docs += int(taken[code])
		}
		codes, from = codes[n:], from+n
	}
	return keys[:docs]
}
