package boost

import (
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// manyDocs is the number of documents from which RankBoost and FRank by gradients have a
// largeSearch: fewer are searched faster than bounds are made.
var manyDocs = 1 << 16

// largeSearch finds what search.run finds, the same bits included, for many documents. It has a
// byte a cell, the code of the value's bin, of at most 256 with about as many documents each, and
// looks at the exact values only of the few columns that may have the best weak ranker.
//
// A round adds up the potentials of every bin, and so knows the edges at the bins' ends. Within a
// bin the edge rises above that of its upper end, and falls below it, by at most as much as when the bin was last
// looked at, plus what the potentials of its documents have grown, or shrunk, by since, round by round: they
// change little from one to the next. These ceilings say which columns cannot have the best weak
// ranker. Of the others, the highest ceiling first, bins are looked at again (look.go), those that may reach highest before
// others, which says what the best edge is not below; if a column then still has the highest ceiling, by a bin that was
// looked at, it is searched as search does.
//
// What a document adds to its bins is a whole number, 40 bits for the potential and 24 for its
// growth: one addition a cell, with the same sum in any order.
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
	orders kept[uint32]
	bin    []uint32     // order of a bin that is looked at
	varied []int        // the columns that vary
	bins   [][]fourBins // of a worker, of these columns
}

// loadedColumns is the number of columns whose values a worker holds while it sorts them: fewer read the
// matrix more often, more take more memory.
const loadedColumns = 3

// loadedBytes are those of a document that a worker holds while it sorts: keys, as many to sort into, and loaded values.
const loadedBytes = 2*8 + 4*loadedColumns

// keptOrders is the number of columns whose orders are kept, four bytes a document each. They, the sorter and the
// potentials of the round before are as much as two workers hold that sort.
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

// reuse makes what rounds need of the memory that columns were sorted in.
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

// begin chooses the bins of some columns, as many as are loaded together, and searches them.
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

// beginColumn chooses the bins of a column, given the bits of its values, sets order to its order and codes to the
// documents' bins, and searches it. It returns false, and sets nothing, if all values are the same. Memory is as for sorter.sort.
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

// run is search.run. The candidate's column is a feature, and its cut a place in that one's order.
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

// highest returns the column of the highest ceiling that is not done, if that is not below least,
// or −1.
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

// search finds a column's best weak ranker as greatest does: the potentials of documents of one
// value are added up in the order of documents, and these sums from the highest value down.
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
	if cuts := s.columns[c.column].cuts; cuts != nil { // of those that divide the documents alike, the lowest
		threshold = cuts[interval(cuts, threshold)]
	}
	return scorer.Stump{Feature: c.column, Threshold: threshold}
}

// units are what the whole numbers count, and how far an edge from them may be below one from
// the potentials, which are added up with rounding, too.
type units struct {
	potential, growth float64
	error             float64
	rounding          float64 // the part of the error that is not of whole numbers
	last              float64 // potential and rounding of the round before, for differences of rounds
	lastRounding      float64
}

// difference returns how far the difference between the sums of so many documents' potentials in this round and in the one before
// may be from the exact one.
func (u *units) difference(docs uint64) float64 {
	return float64(1.01*float64(float64(docs)*(u.potential+u.last))) + u.rounding + u.lastRounding
}

// Bits of what a document adds. Sums of the potentials have a sign, those of the growth are the
// lower bits.
const (
	potentialBits = 40
	growthBits    = 64 - potentialBits
)

// addends sets what documents add, and takes over the potentials.
func (s *largeSearch) addends(potential []float64) *units {
	var mass, growth float64
	for i, p := range potential {
		mass += math.Abs(p)
		growth += max(0, p-s.potential[i])
	}
	// Whole numbers are rounded towards 0 by less than 1 a document, so that no sum is greater
	// than what they are parts of.
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

// sizeOf is what is maximised of an edge.
func sizeOf(edge float64, up bool) float64 {
	if up {
		return edge
	}
	return math.Abs(edge)
}
