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

// bootstrap computes the intervals of means and the bootstrap-shift test of every pair. All use the
// same bootstrap samples: samples of the queries with replacement. If a method has several runs,
// bootstrap adds a random error to the mean of every sample, which represents other seeds and has
// Student's t distribution. As in randomize, a factor removes the interaction of seeds and queries from
// the sample's own error.
//
// The bootstrap-shift test (Noreen 1989; Smucker, Allan and Carterette 2007) shifts the
// distribution of the mean difference over samples to mean 0. It uses the shifted distribution as
// the distribution under the null hypothesis. D̄ is the mean difference on the given queries. For B
// samples D*,
//
//	p = (1 + #{|mean(D*) − D̄| ≥ |D̄|}) / (1 + B)
func (r *Comparison) bootstrap(values [][]float64, methods []seeds, errors []noise, c *Config) {
	drawn := resample(values, c)
	var z []float64
	if slices.ContainsFunc(methods, func(m seeds) bool { return m.runs > 0 }) {
		z = draws(random.Stream(c.Seed, "seeds of samples", ""), c.Resamples, len(values))
	}
	parallel.For(len(r.Systems), c.Workers, func(_, i int) {
		s, off := &r.Systems[i], slices.Clone(drawn[i])
		if e := newNoise(methods[i], seeds{}, values[i]); e.scale > 0 {
			for k := range off {
				off[k] = float64(e.shrink*off[k]) + e.of(z[k*len(values)+i], 0)
			}
		}
		s.Interval = interval(values[i], s.Mean, spreadOf(methods[i], seeds{}), off)
	})
	parallel.For(len(r.Pairs), c.Workers, func(_, i int) {
		p := &r.Pairs[i]
		e := &errors[i]
		off := make([]float64, c.Resamples)
		for k, a := range drawn[p.A] {
			if off[k] = a - drawn[p.B][k]; e.scale > 0 {
				off[k] = float64(e.shrink*off[k]) + e.of(z[k*len(values)+p.A], z[k*len(values)+p.B])
			}
		}
		p.Bootstrap = Test{P: shiftTest(off, p.Difference, r.slack(values, p)), MaxT: math.NaN()}
	})
}

// shiftTest returns the p value of a mean difference. off contains, for each sample, the sample's
// mean difference minus difference. slack is an upper bound on the rounding error of a mean
// difference.
func shiftTest(off []float64, difference, slack float64) float64 {
	reached := 1
	for _, d := range off {
		if math.Abs(d) >= math.Abs(difference)-slack {
			reached++
		}
	}
	return float64(reached) / float64(len(off)+1)
}

// slack returns an upper bound on the rounding error of the mean of a pair's differences.
func (r *Comparison) slack(values [][]float64, p *Pair) float64 {
	var size float64
	for q, a := range values[p.A] {
		size += math.Abs(a-r.Systems[p.A].Mean) + math.Abs(values[p.B][q]-r.Systems[p.B].Mean)
	}
	return float64(0x1p-52 * (size + math.Abs(r.Systems[p.A].Mean) + math.Abs(r.Systems[p.B].Mean)))
}

// resample draws samples of the queries with replacement. It returns, for every system and sample, the
// sample's mean minus the system's mean.
func resample(values [][]float64, c *Config) [][]float64 {
	systems, n := len(values), len(values[0])
	rows := make([]float64, n*systems) // the values of a query for all systems are adjacent
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
