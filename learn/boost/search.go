package boost

import (
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// column is a feature with its thresholds. The bin of a document is the number of thresholds below its value. So the
// weak ranker of threshold c, counted from 0, is 1 for documents whose bin is greater than c.
type column struct {
	feature    int
	thresholds []float32 // increasing

	// The bin of each document of the arrangement. narrow is used if all bins fit, and otherwise wide.
	narrow []uint16
	wide   []uint32
}

func (c *column) stump(cut int) scorer.Stump {
	return scorer.Stump{Feature: c.feature, Threshold: c.thresholds[cut]}
}

// bin returns the bin of a document.
func (c *column) bin(doc int) int {
	if c.narrow != nil {
		return int(c.narrow[doc])
	}
	return int(c.wide[doc])
}

// binBytes is the memory in bytes for each value of the data, if all values of a feature differ. keyBytes is the memory
// of a sorting worker for each document.
const (
	binBytes = 4 + 4
	keyBytes = 8
)

// newColumns returns the columns of the features that have different values. The thresholds of a feature are all its
// values except the highest. If cuts is not 0 and a feature would have more than cuts thresholds, it gets cuts equally
// spaced thresholds, from its lowest value to one step below the highest.
func newColumns(d *dataset.Dataset, rows []int, cuts, workers int) []column {
	all := make([]column, d.Features)
	keys := make([][]uint64, parallel.Workers(workers, d.Features))
	parallel.For(d.Features, workers, func(worker, f int) {
		if keys[worker] == nil {
			keys[worker] = make([]uint64, len(rows))
		}
		all[f] = newColumn(d, rows, f, cuts, keys[worker])
	})
	return slices.DeleteFunc(all, func(c column) bool { return len(c.thresholds) == 0 })
}

// newColumn returns the column of a feature. keys has an element for each row. newColumn sorts keys with the value in
// the upper half and the document in the lower half, and assigns the bins in this order.
func newColumn(d *dataset.Dataset, rows []int, feature, cuts int, keys []uint64) column {
	x, width := d.X(), d.Features
	for i, row := range rows {
		keys[i] = uint64(kernel.AscendingKey(x[row*width+feature]))<<32 | uint64(i)
	}
	slices.Sort(keys)
	value := func(key uint64) float32 { return x[rows[uint32(key)]*width+feature] }
	c := column{feature: feature}
	for i, key := range keys {
		if i > 0 && value(key) != value(keys[i-1]) {
			c.thresholds = append(c.thresholds, value(keys[i-1]))
		}
	}
	if cuts > 0 && len(c.thresholds) > cuts {
		c.thresholds = spaced(value(keys[0]), value(keys[len(keys)-1]), cuts)
	}
	if len(c.thresholds) == 0 {
		return c
	}
	bin := 0
	set := c.allocate(len(rows))
	for _, key := range keys {
		for bin < len(c.thresholds) && c.thresholds[bin] < value(key) {
			bin++
		}
		set(int(uint32(key)), bin)
	}
	return c
}

// allocate makes memory for the bins and returns a function that sets one bin.
func (c *column) allocate(docs int) func(doc, bin int) {
	if len(c.thresholds) <= math.MaxUint16 {
		c.narrow = make([]uint16, docs)
		return func(doc, bin int) { c.narrow[doc] = uint16(bin) }
	}
	c.wide = make([]uint32, docs)
	return func(doc, bin int) { c.wide[doc] = uint32(bin) }
}

// spaced returns cuts different thresholds, equally spaced, of which the first is low and all are below high. It
// returns fewer if float32 has fewer numbers in this range.
func spaced(low, high float32, cuts int) []float32 {
	thresholds := make([]float32, 0, cuts)
	step := (float64(high) - float64(low)) / float64(cuts)
	for k := range cuts {
		v := float32(float64(low) + float64(float64(k)*step))
		if v < high && (k == 0 || v > thresholds[len(thresholds)-1]) {
			thresholds = append(thresholds, v)
		}
	}
	return thresholds
}

// WeakRankers returns the total number of thresholds of all features under the options. The features must be in memory.
// WeakRankers sorts every feature.
func WeakRankers(d *dataset.Dataset, o Options) int {
	n := 0
	for _, c := range newColumns(d, arrange(d, o.PerQuery).rows, o.Cuts, o.Workers) {
		n += len(c.thresholds)
	}
	return n
}

// candidate is a weak ranker and its edge. cut is the index of the weak ranker's threshold in the column.
type candidate struct {
	column, cut int
	edge        float64
}

// search finds the weak ranker with the largest edge, given the potentials of the documents.
type search struct {
	columns []column
	up      bool
	workers int
	best    []candidate // best candidate of each column
	sums    [][]float64 // for each worker, potentials by bin
}

func newSearch(columns []column, up bool, workers int) *search {
	s := &search{columns: columns, up: up, workers: workers, best: make([]candidate, len(columns))}
	longest := 0
	for i := range columns {
		longest = max(longest, len(columns[i].thresholds)+1)
	}
	s.sums = make([][]float64, parallel.Workers(workers, len(columns)))
	for w := range s.sums {
		s.sums[w] = make([]float64, longest)
	}
	return s
}

// run sets s.best to the weak ranker with the largest edge of each column. The edge is
//
//	Σ potential(document)   over the documents above the threshold.
//
// Edges are compared by absolute value, or by signed value if up is set. If several weak rankers of a column have the
// largest edge, run chooses the lowest threshold. It returns the best weak ranker of all columns, and the first of them
// if several have the largest edge. ok is false if all edges are rounding errors.
func (s *search) run(potential []float64) (best candidate, ok bool) {
	parallel.For(len(s.columns), s.workers, func(worker, i int) {
		s.best[i] = greatest(s.byBin(worker, i, potential), s.up)
		s.best[i].column = i
	})
	for _, c := range s.best {
		if sizeOf(c.edge, s.up) > sizeOf(best.edge, s.up) {
			best = c
		}
	}
	return best, sizeOf(best.edge, s.up) > leastEdge
}

// byBin returns the sum of the potentials in each bin of a column. The result is valid until the worker's next call.
func (s *search) byBin(worker, column int, potential []float64) []float64 {
	c := &s.columns[column]
	sums := s.sums[worker][:len(c.thresholds)+1]
	clear(sums)
	if c.narrow != nil {
		scatter(sums, c.narrow, potential)
	} else {
		scatter(sums, c.wide, potential)
	}
	return sums
}

// all returns every weak ranker of a column, from the highest threshold down.
func (s *search) all(column int, potential []float64) []candidate {
	sums := s.byBin(0, column, potential)
	list := make([]candidate, len(sums)-1)
	var edge float64
	for i := range list {
		cut := len(sums) - 2 - i
		edge += sums[cut+1]
		list[i] = candidate{column: column, cut: cut, edge: edge}
	}
	return list
}

// sizeOf returns the quantity that the search maximises: the absolute value of an edge, or the edge itself if up is
// set.
func sizeOf(edge float64, up bool) float64 {
	if up {
		return edge
	}
	return math.Abs(edge)
}

func scatter[B uint16 | uint32](sums []float64, bins []B, potential []float64) {
	potential = potential[:len(bins)]
	for i, b := range bins {
		sums[b] += potential[i]
	}
}

// greatest returns the cut with the largest edge, given the sum of the potentials in each bin.
func greatest(sums []float64, up bool) candidate {
	var edge float64
	var best candidate
	size := math.Inf(-1)
	for cut := len(sums) - 2; cut >= 0; cut-- {
		edge += sums[cut+1]
		if s := sizeOf(edge, up); s >= size {
			size, best = s, candidate{cut: cut, edge: edge}
		}
	}
	return best
}
