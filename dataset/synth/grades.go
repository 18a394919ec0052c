package synth

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
)

// grade adds noise to the signal of the documents and grades them by the result. The best documents get grade
// 3 or 2, the next ones grade 1 and all others 0. The number of documents with each grade varies between
// queries.
func (s Shape) grade(signal []float64, o Options, odds float64, rng *rand.Rand) []float64 {
	n := len(signal)
	utility := make([]float64, n)
	order := make([]int, n)
	for i, v := range signal {
		utility[i] = v + float64(o.Noise*random.Normal(rng))
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(utility[j], utility[i]) })
	relevant := o.Relevant
	if s.spread > 0 {
		relevant = roundRandomly(logistic(odds+float64(s.spread*random.Normal(rng)))*float64(n), rng)
	}
	relevant = min(relevant, n)
	best := 0
	if s.best > 0 {
		best = roundRandomly(logistic(logit(s.best)+float64(0.5*random.Normal(rng)))*float64(relevant), rng)
	}
	top := 0
	if s.top > 0 {
		top = roundRandomly(float64(s.top*float64(best)), rng)
	}
	grades := make([]float64, n)
	for rank, i := range order[:relevant] {
		grades[i] = 1
		if rank < best {
			grades[i] = 2
		}
		if rank < top {
			grades[i] = 3
		}
	}
	return grades
}

// roundRandomly returns one of the two integers next to v. Its expectation is v.
func roundRandomly(v float64, rng *rand.Rand) int { return int(v + rng.Float64()) }

func logistic(v float64) float64 { return 1 / (1 + elementary.Exp(-v)) }

func logit(p float64) float64 { return elementary.Log(p / (1 - p)) }

// normalQuantiles are the quantiles of the standard normal distribution in the middles of 100 equal parts.
var normalQuantiles = sync.OnceValue(func() (z [100]float64) {
	for k := range z {
		z[k] = float64(math.Sqrt2 * elementary.Erfinv(float64((float64(2*float64(k))+1)/float64(len(z)))-1))
	}
	return z
})

// meanLogit returns m such that logistic(m + spread·Z) has mean p, where Z is standard normal. It bisects, and
// computes the mean over quantiles of Z.
func meanLogit(p, spread float64) float64 {
	quantiles := normalQuantiles()
	low, high := -50.0, 50.0
	for range 60 {
		m, mean := float64((low+high)/2), 0.0
		for _, z := range &quantiles {
			mean += float64(logistic(m+float64(spread*z)) / float64(len(quantiles)))
		}
		if mean < p {
			low = m
		} else {
			high = m
		}
	}
	return float64((low + high) / 2)
}
