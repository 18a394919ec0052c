package transform

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
)

// Learn learns the steps, in order, from training data, which it does not change. Each step sees the output of
// the steps before it. Quantiles are interpolated linearly between documents (type 7 of R. Hyndman and Y. Fan,
// "Sample quantiles in statistical packages", The American Statistician 50, 1996). Deviations are population
// standard deviations. Missing values are ignored. Weights are ignored, too. Learn takes 4 bytes of memory for
// every document and core, and a few passes over each feature.
//
// It is an error if a spec names a feature that the data lack, or if there are more than MaxSteps specs.
func Learn(specs []Spec, d *dataset.Dataset) (*Pipeline, error) {
	return LearnWithin(specs, d, gatheredBytes)
}

// LearnWithin does the work of Learn with a memory limit for features of streamed data. The values of one
// feature are read at once, even if they exceed the limit. The result does not depend on the limit.
func LearnWithin(specs []Spec, d *dataset.Dataset, memory int64) (*Pipeline, error) {
	if len(specs) > MaxSteps {
		return nil, fmt.Errorf("found %d transforms, expected at most %d", len(specs), MaxSteps)
	}
	in := make([][]bool, len(specs))
	for i, s := range specs {
		var err error
		if in[i], err = s.features(d.Features, d.FeatureNames); err != nil {
			return nil, fmt.Errorf("transform %s: %w", s, err)
		}
	}
	workers := parallel.Workers(0, d.Features)
	columns := make([]column, workers)
	chains := make([]Chain, d.Features)
	values := d.Streamed() && slices.ContainsFunc(specs, func(s Spec) bool { return !s.given() })
	together := max(d.Features, 1)
	if values {
		together = max(1, int(min(memory, gatheredBytes))/4/max(d.Docs(), 1))
	}
	for from := 0; from < d.Features; from += together {
		some := source{d: d, from: from}
		if values {
			some.gather(min(from+together, d.Features))
		}
		parallel.For(min(together, d.Features-from), workers, func(worker, i int) {
			feature := from + i
			c := &columns[worker]
			c.taken, c.pending = false, nil
			for i, s := range specs {
				if in[i][feature] {
					step := c.learn(s, some, feature)
					chains[feature], c.pending = append(chains[feature], step), append(c.pending, step)
				}
			}
		})
	}
	of := make(map[int]Chain, len(chains))
	for feature, c := range chains {
		of[feature] = c
	}
	return New(of)
}

// gatheredBytes is the largest memory for features of streamed data that are gathered in one pass.
const gatheredBytes = 256 << 20

// source gives the values of features, from d or, for streamed data, from gathered.
type source struct {
	d        *dataset.Dataset
	from     int
	gathered [][]float32 // values of the features from index from on
}

// gather reads the features from, …, to−1 of streamed data.
func (s *source) gather(to int) {
	d, from := s.d, s.from
	s.gathered = make([][]float32, to-from)
	for j := range s.gathered {
		s.gathered[j] = make([]float32, 0, d.Docs())
	}
	rows := d.Reader()
	for i := range d.Queries {
		for row := range slices.Chunk(rows.At(i), d.Features) {
			for j := range s.gathered {
				s.gathered[j] = append(s.gathered[j], row[from+j])
			}
		}
	}
}

// appendTo appends the values of a feature to values.
func (s source) appendTo(values []float32, feature int) []float32 {
	if s.gathered != nil {
		return append(values, s.gathered[feature-s.from]...)
	}
	for i, x := feature, s.d.X(); i < len(x); i += s.d.Features {
		values = append(values, x[i])
	}
	return values
}

// column has the values of one feature for all documents.
type column struct {
	values  []float32
	taken   bool
	pending Chain        // steps that are not yet applied to values
	counts  [1 << 16]int // memory of ranked
}

// take reads the values of a feature, unless they are already there, and applies the pending steps.
func (c *column) take(s source, feature int) {
	if !c.taken {
		c.values, c.taken = s.appendTo(c.values[:0], feature), true
	}
	for k, x := range c.values {
		c.values[k] = c.pending.Apply(x)
	}
	c.pending = c.pending[:0]
}

// given reports whether the step can be made without data.
func (s Spec) given() bool {
	return s.step == Log1p{}.Name() || s.by == byNumber || s.step == Clip{}.Name() && s.low.kind != atQuantile && s.high.kind != atQuantile
}

// learn returns the step of a feature.
func (c *column) learn(s Spec, from source, feature int) Step {
	if !s.given() {
		c.take(from, feature)
	}
	switch s.step {
	case Clip{}.Name():
		low, high := c.bound(s.low, -Unbounded), c.bound(s.high, Unbounded)
		if low > high { // possible with a number and a quantile
			high = low
		}
		return Clip{low, high}
	case Standard{}.Name():
		mean, deviation := c.moments()
		return Standard{mean, deviation}
	case Fill{}.Name():
		return Fill{c.filler(s)}
	}
	return Log1p{}
}

// filler returns the replacement of missing values. It is 0 if it must be learned and all values are missing.
func (c *column) filler(s Spec) float64 {
	switch s.by {
	case byMean:
		mean, _ := c.moments()
		return mean
	case byMedian:
		return c.bound(bound{atQuantile, 50}, 0)
	}
	return s.value
}

// bound returns the number of a bound. It returns the argument otherwise if there is no bound, or if the bound
// is a quantile and all values are missing.
func (c *column) bound(b bound, otherwise float64) float64 {
	switch b.kind {
	case atNumber:
		return b.value
	case atQuantile:
		n := c.present()
		if n == 0 {
			return otherwise
		}
		rank, part := b.among(n)
		v := float64(c.ranked(rank))
		if part > 0 {
			v += float64(part * (float64(c.ranked(rank+1)) - v))
		}
		return v
	}
	return otherwise
}

// moments returns the mean and the population standard deviation. The deviation is exactly 0 if all values are
// the same.
func (c *column) moments() (mean, deviation float64) {
	n, low, high := 0.0, float32(math.Inf(1)), float32(math.Inf(-1))
	for _, x := range c.values {
		if x == x {
			mean += float64(x)
			n++
			low, high = min(low, x), max(high, x)
		}
	}
	switch {
	case n == 0:
		return 0, 0
	case low == high:
		return float64(low), 0
	}
	mean /= n
	for _, x := range c.values {
		if x == x {
			deviation += float64((float64(x) - mean) * (float64(x) - mean))
		}
	}
	return mean, math.Sqrt(deviation / n)
}

// present returns the number of values that are not missing.
func (c *column) present() int {
	n := 0
	for _, x := range c.values {
		if x == x {
			n++
		}
	}
	return n
}

// ranked returns the value with the given rank, from 0, in ascending order of the values that are not missing.
// It first counts the upper 16 bits of the values' ordered form, then the lower 16 bits.
func (c *column) ranked(rank int) float32 {
	clear(c.counts[:])
	for _, x := range c.values {
		if x == x {
			c.counts[ordered(x)>>16]++
		}
	}
	upper, rank := c.bin(rank)
	clear(c.counts[:])
	for _, x := range c.values {
		if o := ordered(x); x == x && o>>16 == upper {
			c.counts[o&0xffff]++
		}
	}
	lower, _ := c.bin(rank)
	return ofOrdered(upper<<16 | lower)
}

// bin returns the bin of counts that contains a rank, and the rank within the bin.
func (c *column) bin(rank int) (bin uint32, within int) {
	for c.counts[bin] <= rank {
		rank -= c.counts[bin]
		bin++
	}
	return bin, rank
}
