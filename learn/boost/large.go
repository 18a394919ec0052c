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

// manyDocs is the number of documents from which RankBoost and FRank by gradients use a largeSearch. Fewer
// documents are searched faster than they are bounded.
var manyDocs = 1 << 16

// largeSearch finds the same weak rankers as search.run, bit for bit, but faster among many documents. The
// values of a feature are divided into at most 256 bins with about the same number of documents. A value is
// stored as the code of its bin, in one byte. Exact values are read only for the few columns that may have
// the best weak ranker.
//
// A round sums the potentials of every bin. These sums give the exact edges at the ends of bins. Edges
// within a bin get an upper bound. Let e be the largest amount by which they exceeded the edge at the upper
// end of the bin when the exact edges were last computed. They now exceed it by at most e plus the total
// increase of the bin's potentials since then. The lower bound is analogous, with the total decrease.
// Potentials change little from round to round, so the bounds are tight.
//
// The ceiling of a column is the largest of its upper bounds. Columns whose ceiling is below a known edge
// are excluded. The others are processed in descending order of ceilings. The exact edges of the bins with
// the highest bounds are computed first, which raises the lower bound of the best edge. If the column then
// still has the highest ceiling, because of a bin with exact edges, all its edges are computed as in search.
//
// A document adds an integer to its bins: 40 bits for the potential and 24 bits for its increase. So a cell
// takes one addition, and the sum does not depend on the order.
type largeSearch struct {
	data    *dataset.Dataset
	rows    []int
	up      bool
	workers int

	columns []largeColumn // one a feature
	codes   []uint8       // by column and document

	potential []float64 // of the last round
	sums      []uint64  // what a document adds
	units     units     // of the last round
	fresh     bool      // all columns were searched for these potentials

	sorter sorter
	orders recent[uint32]
	bin    []uint32     // order of a bin that is looked at
	varied []int        // the columns that vary
	bins   [][]fourBins // of a worker, of these columns
}

// loadedColumns is the number of columns whose values a worker holds while it sorts them. Fewer read the
// matrix more often, more take more memory.
const loadedColumns = 3

// loadedBytes are the bytes a document takes while a worker sorts: two keys and the loaded values.
const loadedBytes = 2*8 + 4*loadedColumns

// keptOrders is the number of columns for which the sorted order of documents is kept, with 4 bytes for each
// document. The orders, the sorter and the last potentials together take the memory of two sorting workers.
const keptOrders = 8

// newLargeSearch prepares a search that begins with the given potentials.
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

// reuse gives the memory in which columns were sorted to the rounds.
func (s *largeSearch) reuse(sorters []sorter, loaded [][]uint32) {
	n := len(s.rows)
	s.sorter = sorters[0]
	s.sorter.room(n)
	s.sums = s.sorter.spare // nothing is sorted while these are used
	s.potential = nil
	for _, other := range sorters[1:] {
		switch {
		case other.keys == nil: // it had no column to sort
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

// newCodes returns memory for n codes.
func newCodes(n int) []uint8 { return block.Bytes(block.NewWords((n + 7) / 8))[:n] }

// largePages returns n zeros in large pages.
func largePages(n int) []uint32 { return block.Halves(block.NewWords((n + 1) / 2))[:n] }

// keepOrders adds memory of orders, if they are not enough.
func (s *largeSearch) keepOrders(memory []uint32, most int) {
	for n := len(s.rows); len(memory) > 0 && len(s.orders.slots) < most; memory = memory[n:] {
		s.orders.add(memory[:n])
	}
}

// begin chooses the bins of loadedColumns columns and searches them.
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

// beginColumn chooses the bins of a column, given the bits of its values, and searches it. It sets order
// to the column's order and codes to the documents' bins. It returns false, and sets nothing, if all
// values are the same. order and values share memory as in sorter.sort.
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

// value returns a document's value of a feature.
func (s *largeSearch) value(f int, doc uint32) float32 {
	return s.data.X()[s.rows[doc]*s.data.Features+f]
}

// run is search.run. The candidate's column is a feature, and its cut a place in the feature's order.
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

// highest returns the column with the highest ceiling among those not done. It returns −1 if this ceiling is
// below least.
func (s *largeSearch) highest(least float64) int {
	highest := -1
	for f := range s.columns {
		if c := &s.columns[f]; c.varies && !c.done && c.ceiling >= least {
			highest, least = f, c.ceiling
		}
	}
	return highest
}

// order returns the documents by increasing value of a column.
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

// search finds a column's best weak ranker as greatest does. The potentials of documents of one value are
// added in the order of documents, and these sums from the highest value down.
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

// split is sum.split for what run returned last: the documents above the cut of the order.
func (s *largeSearch) split(above []bool, c candidate) {
	clear(above)
	for _, doc := range s.order(c.column)[c.cut:] {
		above[doc&^first] = true
	}
}

func (s *largeSearch) stump(c candidate) scorer.Stump {
	threshold := s.value(c.column, s.order(c.column)[c.cut-1]&^first)
	if cuts := s.columns[c.column].cuts; cuts != nil { // of the thresholds that divide the documents alike, the lowest
		threshold = cuts[interval(cuts, threshold)]
	}
	return scorer.Stump{Feature: c.column, Threshold: threshold}
}

// units are the values of 1 in the integers, and the largest error of an edge computed with them.
type units struct {
	potential, growth float64
	error             float64
	rounding          float64 // the part of the error that does not come from integers
	last              float64 // potential and rounding of the round before, for differences of rounds
	lastRounding      float64
}

// difference bounds the error of a bin's change since the last round, for a bin of docs documents.
func (u *units) difference(docs uint64) float64 {
	return float64(1.01*float64(float64(docs)*(u.potential+u.last))) + u.rounding + u.lastRounding
}

// Bits of a document's addend. Sums of potentials have a sign; the growth takes the lower bits.
const (
	potentialBits = 40
	growthBits    = 64 - potentialBits
)

// addends sets the documents' addends and keeps the potentials.
func (s *largeSearch) addends(potential []float64) *units {
	var mass, growth float64
	for i, p := range potential {
		mass += math.Abs(p)
		growth += max(0, p-s.potential[i])
	}
	// Integers are rounded towards 0 by less than 1 a document, so that no sum exceeds the sum of its
	// parts.
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

// fourBins are sums by code of four columns. They are added up together, so that each document's addend is
// loaded once for all four.
type fourBins [4][256]uint64

// add adds the documents' addends to the bins of their codes.
func (b *fourBins) add(codes [4][]uint8, sums []uint64) {
	c0, c1, c2, c3 := codes[0][:len(sums)], codes[1][:len(sums)], codes[2][:len(sums)], codes[3][:len(sums)]
	for i, v := range sums {
		b[0][c0[i]] += v
		b[1][c1[i]] += v
		b[2][c2[i]] += v
		b[3][c3[i]] += v
	}
}

// bound sets the columns' ceilings and returns a lower bound of the best edge.
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

// boundDocs is the number of documents that all columns add to their bins before the next ones. Their
// addends stay in a core's cache.
const boundDocs = 1 << 14

// addBins adds up the bins of all columns and bounds these. Whole numbers have the same sum in any order.
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
				f := s.varied[min(4*q+k, len(s.varied)-1)] // bins of no column take the last one's
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

// makeBins makes the bins of every worker.
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

// look looks at the documents of a column's bins whose ceilings lie in the upper half between least and
// the column's ceiling, and lowers this ceiling. It returns false if searching the column is less work.
func (s *largeSearch) look(f int, least float64, potential []float64) bool {
	const part = 4 // of the documents are more work than that
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

// lookByCode looks at the marked bins of a column whose order is not kept.
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

// marked returns the documents of a column's marked bins, with the keys of their values in the upper
// halves. The memory is the sorter's.
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
		keys = append(keys, more...) // in place: parts lie where their documents do, or further to the front
	}
	return keys
}

// markedPart is the number of documents that is worth a goroutine.
const markedPart = 1 << 17

// markedOf is marked for a range of documents. It first collects their numbers, then their values. Neither
// loop has a branch that the processor mispredicts, so that it fetches many at a time.
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

// putTaken collects the numbers, counted from from, of the codes for which taken is 1 (else 0). It returns
// the part of keys that holds them. Few codes are taken, so it looks at eight together first.
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
