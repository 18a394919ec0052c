package tree

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// MaxBins is the largest number of bins of a feature, beside the one of missing values.
const MaxBins = 255

// missingCode is the code of missing values.
const missingCode = 255

// sampleRows is the number of rows, at most, by which bins are chosen: as many as LightGBM
// takes by default.
const sampleRows = 200_000

// Bins divide the values of each feature into intervals, so that a value is known by the
// number of its interval, its code: one byte. They are immutable.
type Bins struct {
	cuts [][]float32 // by feature, increasing: code = number of cuts below the value
}

// NewBins chooses bins of about equally many documents. x is the row-major matrix of that
// many features; NaN is a missing value, and every other must be finite. A feature gets a
// bin a value if it has most values or fewer, and otherwise most bins, between 2 and
// MaxBins. Bounds lie halfway between neighbouring values. Of more than 200,000 rows equally
// spaced ones are looked at. The bins do not depend on the number of workers.
func NewBins(x []float32, features, most, workers int) (*Bins, error) {
	if features < 1 || len(x)%features != 0 {
		return nil, fmt.Errorf("found %d values, expected rows of %d", len(x), features)
	}
	if most < 2 || most > MaxBins {
		return nil, fmt.Errorf("found %d bins, expected 2 to %d", most, MaxBins)
	}
	rows := len(x) / features
	step := (rows + sampleRows - 1) / sampleRows
	b := &Bins{cuts: make([][]float32, features)}
	keys := make([][]uint32, parallel.Workers(workers, features))
	parallel.For(features, workers, func(worker, f int) {
		values := keys[worker][:0]
		for i := 0; i < rows; i += step {
			if v := x[i*features+f]; v == v {
				values = append(values, kernel.AscendingKey(v))
			}
		}
		slices.Sort(values)
		b.cuts[f] = cutsOf(values, most)
		if len(b.cuts[f]) == 0 && 0 < len(values) && len(values) < (rows+step-1)/step {
			b.cuts[f] = []float32{kernel.OfAscendingKey(values[0])} // one value, but not everywhere
		}
		keys[worker] = values
	})
	return b, nil
}

// cutsOf returns the bounds between bins of sorted values, by their keys.
func cutsOf(sorted []uint32, most int) []float32 {
	var values []uint32
	var counts []int
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			values, counts = append(values, v), append(counts, 0)
		}
		counts[len(counts)-1]++
	}
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
	// A bin is closed once it has its share of what is left; a value that has more than one
	// share by itself is a bin of its own.
	left, bins, in := len(sorted), most, 0
	for i := range values[:len(values)-1] {
		in += counts[i]
		share := float64(left) / float64(bins)
		if float64(in) >= share || float64(counts[i+1]) >= share || float64(in)+float64(counts[i+1])/2 > share {
			cuts = append(cuts, between(values[i], values[i+1]))
			left, in = left-in, 0
			if bins--; bins == 1 {
				break
			}
		}
	}
	return cuts
}

// between returns a number that is at least the value of the first key and below that of
// the second: their mean.
func between(low, high uint32) float32 {
	a, b := kernel.OfAscendingKey(low), kernel.OfAscendingKey(high)
	m := float32((float64(a) + float64(b)) / 2)
	if !(m >= a && m < b) {
		return a
	}
	return m
}

// Features returns the number of features.
func (b *Bins) Features() int { return len(b.cuts) }

// Code returns the code of a value of a feature: the number of its cuts below the value, or
// 255 for NaN.
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
	return uint8(from)
}
