package stats

import (
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// sampleBlock is the number of bootstrap samples that share a random stream.
const sampleBlock = 128

// bootstrap sets the intervals of means and differences and the bootstrap-shift
// test of every pair, all from the same samples of the queries with replacement.
//
// The test (Noreen 1989; Smucker, Allan and Carterette 2007) takes the differences'
// distribution, moved to mean 0, for that of the null hypothesis: with B samples D*,
//
//	p = (1 + #{|mean(D*) − D̄| ≥ |D̄|}) / (1 + B)
func (r *Comparison) bootstrap(values [][]float64, c *Config) {
	drawn := resample(values, c)
	parallel.For(len(r.Systems), c.Workers, func(_, i int) {
		s := &r.Systems[i]
		s.Interval = interval(values[i], s.Mean, slices.Clone(drawn[i]))
	})
	parallel.For(len(r.Pairs), c.Workers, func(_, i int) {
		p := &r.Pairs[i]
		off := make([]float64, c.Resamples)
		for k, a := range drawn[p.A] {
			off[k] = a - drawn[p.B][k]
		}
		p.Bootstrap = Test{P: shiftTest(off, p.Difference, r.slack(values, p)), MaxT: math.NaN()}
		p.Interval = interval(differences(values[p.A], values[p.B]), p.Difference, off)
	})
}

// shiftTest returns the p value of a difference, given how far the samples' are from
// it.
func shiftTest(off []float64, difference, slack float64) float64 {
	reached := 1
	for _, d := range off {
		if math.Abs(d) >= math.Abs(difference)-slack {
			reached++
		}
	}
	return float64(reached) / float64(len(off)+1)
}

// slack is what rounding may add to or take from the mean of a pair's differences.
func (r *Comparison) slack(values [][]float64, p *Pair) float64 {
	var size float64
	for q, a := range values[p.A] {
		size += math.Abs(a-r.Systems[p.A].Mean) + math.Abs(values[p.B][q]-r.Systems[p.B].Mean)
	}
	return float64(0x1p-52 * (size + math.Abs(r.Systems[p.A].Mean) + math.Abs(r.Systems[p.B].Mean)))
}

// resample draws samples of the queries with replacement and returns, for every
// system, how far each sample's mean is from the system's own.
func resample(values [][]float64, c *Config) [][]float64 {
	systems, n := len(values), len(values[0])
	rows := make([]float64, n*systems) // a query's values side by side
	drawn := make([][]float64, systems)
	for i, v := range values {
		drawn[i] = make([]float64, c.Resamples)
		m := mean(v)
		for q, x := range v {
			rows[q*systems+i] = x - m
		}
	}
	blocks := (c.Resamples + sampleBlock - 1) / sampleBlock
	parallel.For(blocks, c.Workers, func(_, block int) {
		rng := random.Stream(c.Seed, "bootstrap", strconv.Itoa(block))
		sums := make([]float64, systems)
		for k := block * sampleBlock; k < min((block+1)*sampleBlock, c.Resamples); k++ {
			clear(sums)
			for range n {
				at := int(rng.Uint32N(uint32(n))) * systems
				for i, v := range rows[at : at+systems] {
					sums[i] += v
				}
			}
			for i, v := range sums {
				drawn[i][k] = v / float64(n)
			}
		}
		c.tell(min((block+1)*sampleBlock, c.Resamples) - block*sampleBlock)
	})
	return drawn
}
