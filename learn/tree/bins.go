package tree

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// MaxBins is the largest number of bins of a feature, without the bin of missing values.
const MaxBins = 255

// missingCode is the code of missing values.
const missingCode = 255

// sampleRows is the largest number of rows that bins are chosen from. LightGBM has the same default.
const sampleRows = 200_000

// Bins divides the values of each feature into bins, which are intervals or categories. The code of a value, one byte,
// is the index of its bin. A Bins is immutable.
type Bins struct {
	cuts       [][]float32 // by feature, ascending; a code is the number of cuts below the value
	categories [][]float32 // by feature, ascending; a code is the index of the category; nil for numeric features
}

// BinOptions are the options of choosing bins.
type BinOptions struct {
	Most        int       // largest number of bins of a feature, 2 to MaxBins
	Categorical []bool    // marks the features whose values are categories; nil means none
	Weights     []float64 // weights of the rows, not negative; nil means 1
	Workers     int       // number of goroutines; 0 means GOMAXPROCS
}

// NewBins chooses bins of about equal weight. x is the row-major matrix of the features. NaN is a missing value. All
// other values must be finite. A feature with at most o.Most different values gets a bin for each value, and any other
// feature gets o.Most bins. Bounds lie halfway between neighbouring values. A categorical feature gets bins for the
// o.Most categories with the largest weight. Among categories of equal weight, lower ones are preferred. All other
// categories count as missing. Above 200,000 rows, NewBins reads a sample of rows at equal distances. The bins do not
// depend on the number of workers.
func NewBins(x []float32, features int, o BinOptions) (*Bins, error) {
	if features < 1 || len(x)%features != 0 {
		return nil, fmt.Errorf("found %d values, expected rows of %d", len(x), features)
	}
	rows := len(x) / features
	b, err := newBins(rows, features, &o)
	if err == nil {
		b.chooseAll(x, features, 0, Step(rows), Step(rows), &o)
	}
	return b, err
}

// Step returns the distance between the rows that NewBins reads.
func Step(rows int) int { return max(1, (rows+sampleRows-1)/sampleRows) }

// NewBinsOf does what NewBins does, for a matrix that is not in memory. most is the largest number of features that it
// loads at a time. It calls load for features from ≤ f < to. load must set x, row-major, to the values of these
// features in every Step(rows)-th row, beginning with the first row.
func NewBinsOf(rows, features, most int, o BinOptions, load func(x []float32, from, to int)) (*Bins, error) {
	b, err := newBins(rows, features, &o)
	if err != nil {
		return nil, err
	}
	step := Step(rows)
	x := make([]float32, (rows+step-1)/step*min(most, features))
	for from := 0; from < features; from += most {
		to := min(features, from+most)
		part := x[:(rows+step-1)/step*(to-from)]
		load(part, from, to)
		b.chooseAll(part, to-from, from, 1, step, &o)
	}
	return b, nil
}

func newBins(rows, features int, o *BinOptions) (*Bins, error) {
	if err := o.validate(rows, features); err != nil {
		return nil, err
	}
	return &Bins{cuts: make([][]float32, features), categories: make([][]float32, features)}, nil
}

// chooseAll chooses the bins of the columns of x, which are the features from first on. It reads every stride-th row of
// x. step is the distance of these rows in the data, by which it finds their weights.
func (b *Bins) chooseAll(x []float32, columns, first, stride, step int, o *BinOptions) {
	groups := (columns + together - 1) / together
	scratch := make([]column, parallel.Workers(o.Workers, groups))
	parallel.For(groups, o.Workers, func(worker, g int) {
		from, to := g*together, min(columns, (g+1)*together)
		c := &scratch[worker]
		c.step = step
		c.load(x, columns, from, to, stride)
		for k := from; k < to; k++ {
			b.choose(first+k, c, c.loaded[k-from], o)
		}
	})
}

// choose chooses the bins of feature f from the sampled values.
func (b *Bins) choose(f int, c *column, values []float32, o *BinOptions) {
	all := c.read(values, o.Weights)
	if o.Categorical != nil && o.Categorical[f] {
		b.categories[f] = c.heaviest(o.Most)
		b.cuts[f] = b.cutsBetween(f)
	} else {
		b.cuts[f] = c.cuts(o.Most)
	}
	if len(b.cuts[f]) == 0 && 0 < len(c.values) && !all {
		b.cuts[f] = []float32{kernel.OfAscendingKey(c.values[0])} // one value, but some are missing
	}
}

func (o *BinOptions) validate(rows, features int) error {
	if o.Most < 2 || o.Most > MaxBins {
		return fmt.Errorf("found %d bins, expected 2 to %d", o.Most, MaxBins)
	}
	if o.Categorical != nil && len(o.Categorical) != features {
		return fmt.Errorf("found %d marks of categorical features, expected one for each of %d", len(o.Categorical), features)
	}
	if o.Weights != nil && len(o.Weights) != rows {
		return fmt.Errorf("found %d weights, expected one for each of %d rows", len(o.Weights), rows)
	}
	for i, w := range o.Weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("found the weight %v of row %d, expected a finite number that is not negative", w, i+1)
		}
	}
	return nil
}

// together is the number of features that are read in one pass over the rows.
const together = 8

// column has the distinct values of a feature, as keys of [kernel.AscendingKey] in ascending order, and the weights of
// these values.
type column struct {
	loaded   [together][]float32 // values of some features in the sampled rows
	step     int                 // distance of the sampled rows in the data
	keys     []uint32            // without weights: the keys of the values
	spare    []uint32
	weighted []uint64 // with weights: the key of each value in the upper half, and the row in the lower half
	values   []uint32
	weights  []float64
}

// load loads the values of the features from ≤ f < to in every stride-th row.
func (c *column) load(x []float32, features, from, to, stride int) {
	rows := len(x) / features
	for k := range c.loaded[:to-from] {
		c.loaded[k] = slices.Grow(c.loaded[k][:0], (rows+stride-1)/stride)
	}
	for i := 0; i < rows; i += stride {
		for k, v := range x[i*features+from : i*features+to] {
			c.loaded[k] = append(c.loaded[k], v)
		}
	}
}

// read collects the distinct values of a feature and reports whether no value is missing. Zeros are often frequent,
// so they are counted and not sorted.
func (c *column) read(values []float32, weights []float64) bool {
	all, zeros, zero := true, 0, kernel.AscendingKey(0)
	c.keys, c.weighted, c.values, c.weights = c.keys[:0], c.weighted[:0], c.values[:0], c.weights[:0]
	for i, v := range values {
		switch {
		case v != v:
			all = false
		case weights == nil && v == 0:
			zeros++
		case weights == nil:
			c.keys = append(c.keys, kernel.AscendingKey(v))
		default:
			c.weighted = append(c.weighted, uint64(kernel.AscendingKey(v))<<32|uint64(uint32(i*c.step)))
		}
	}
	c.keys, c.spare = sortKeys(c.keys, c.spare)
	if c.values == nil {
		c.values, c.weights = make([]uint32, 0, len(values)), make([]float64, 0, len(values))
	}
	below, _ := slices.BinarySearch(c.keys, zero)
	for _, k := range c.keys[:below] {
		c.count(k, 1)
	}
	if zeros > 0 {
		c.count(zero, float64(zeros))
	}
	for _, k := range c.keys[below:] {
		c.count(k, 1)
	}
	slices.Sort(c.weighted)
	for _, k := range c.weighted {
		c.count(uint32(k>>32), weights[uint32(k)])
	}
	return all
}

// count adds the weight of a value, which must not be below the values before.
func (c *column) count(value uint32, weight float64) {
	last := len(c.values) - 1
	if last < 0 || c.values[last] != value {
		c.values, c.weights, last = append(c.values, value), append(c.weights, 0), last+1
	}
	c.weights[last] += weight
}

// cuts returns the bounds between neighbouring bins. There are at most most bins.
func (c *column) cuts(most int) []float32 {
	values, weights := c.values, c.weights
	if len(values) < 2 {
		return nil
	}
	var cuts []float32
	if len(values) <= most {
		for i := 1; i < len(values); i++ {
			cuts = append(cuts, between(values[i-1], values[i]))
		}
		return cuts
	}
	// A share is the remaining weight divided by the number of remaining bins. A bin ends when its weight is about a
	// share. A value whose weight is at least a share gets its own bin.
	left, bins, in := 0.0, most, 0.0
	for _, w := range weights {
		left += w
	}
	for i := range values[:len(values)-1] {
		in += weights[i]
		share := left / float64(bins)
		if in >= share || weights[i+1] >= share || in+float64(weights[i+1]/2) > share {
			cuts = append(cuts, between(values[i], values[i+1]))
			left, in = left-in, 0
			if bins--; bins == 1 {
				break
			}
		}
	}
	return cuts
}

// between returns the mean of the values of two keys, or the lower value if rounding makes the mean equal to the
// upper one.
func between(low, high uint32) float32 {
	return midway(kernel.OfAscendingKey(low), kernel.OfAscendingKey(high))
}

// Features returns the number of features.
func (b *Bins) Features() int { return len(b.cuts) }

// Code returns the code of a value of a feature: the number of cuts below the value. It returns 255 for NaN and for a
// category without a bin.
func (b *Bins) Code(feature int, v float32) uint8 {
	if v != v {
		return missingCode
	}
	cuts := b.cuts[feature]
	from, to := 0, len(cuts)
	for from < to {
		middle := int(uint(from+to) >> 1)
		if cuts[middle] < v {
			from = middle + 1
		} else {
			to = middle
		}
	}
	if of := b.categories[feature]; of != nil && (from >= len(of) || of[from] != v) {
		return missingCode
	}
	return uint8(from)
}
