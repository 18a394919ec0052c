package loss

import (
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// lambdaNorm is what [LambdaRank.GapNorm] and [LambdaRank.SumNorm] ask for, and the weights of
// documents, bound to a query. The zero value changes nothing.
type lambdaNorm struct {
	gap, sum bool
	ideal    float64     // that changes of the measure are multiplied with; 0 for 1
	weights  PairWeights // both nil, or neither
}

// leastGap is added to differences of scores before anything is divided by them.
const leastGap = 0.01

// newLambdaNorm returns the norm of a query. Where NDCG of whole lists is truncated, its
// changes are divided by the ideal DCG of the ranks that count alone.
func newLambdaNorm(l LambdaRank, grades []float64, w PairWeights) lambdaNorm {
	n := lambdaNorm{gap: l.GapNorm, sum: l.SumNorm}
	if !w.IsZero() {
		n.weights = w.filled(len(grades))
	}
	if (n.gap || n.sum) && l.Truncation > 0 && l.Truncation < len(grades) && measure.Family(l.Measure) == "ndcg" && depthOf(l.Measure) > len(grades) {
		c := measure.ConventionOf(l.Measure)
		gains := normalGains(c, grades, l.Truncation)
		slices.Sort(gains)
		slices.Reverse(gains)
		for i, g := range gains {
			n.ideal += float64(g * c.Discount(i+1))
		}
	}
	return n
}

// normRun is a lambdaNorm at the scores of one evaluation.
type normRun struct {
	lambdaNorm
	row   []float64 // where the λ_ij of a rank with those below are added: λ itself, unless sum
	total float64   // of all |λ_ij|, if sum

	better, worse []float64 // weights by rank; nil without
}

// at returns the norm at a ranking.
func (n lambdaNorm) at(by byScore, lambda []float64, scratch *Scratch) normRun {
	r := normRun{lambdaNorm: n, row: lambda}
	r.gap = n.gap && slices.Max(by.scores) > slices.Min(by.scores)
	if n.sum {
		r.row = scratch.Floats(len(lambda))
		clear(r.row)
	}
	if !n.weights.IsZero() {
		r.better, r.worse = scratch.Floats(len(lambda)), scratch.Floats(len(lambda))
		by.gather(r.better, n.weights.Better)
		by.gather(r.worse, n.weights.Worse)
	}
	return r
}

// weigh changes the losses of the swaps of rank a with those below up to to.
func (r *normRun) weigh(loss, scores []float64, a, to int) {
	if r.ideal != 0 {
		kernel.Scale(r.ideal, loss[a+1:to])
	}
	if r.gap {
		for b := a + 1; b < to; b++ {
			loss[b] /= leastGap + math.Abs(scores[a]-scores[b])
		}
	}
	if r.better == nil {
		return
	}
	for b := a + 1; b < to; b++ {
		if loss[b] > 0 {
			loss[b] *= r.better[a] * r.worse[b]
		} else {
			loss[b] *= r.better[b] * r.worse[a]
		}
	}
}

// gather moves what was added of rank a and those below to λ.
func (r *normRun) gather(lambda []float64, a, to int) {
	if !r.sum {
		return
	}
	for b := a + 1; b < to; b++ {
		r.total += math.Abs(r.row[b])
	}
	for b := a; b < to; b++ {
		lambda[b] += r.row[b]
		r.row[b] = 0
	}
}

// scale multiplies λ and second derivatives.
func (r *normRun) scale(lambda, second []float64) {
	if !r.sum || r.total == 0 {
		return
	}
	factor := elementary.Log2(1+2*r.total) / (2 * r.total)
	kernel.Scale(factor, lambda)
	kernel.Scale(factor, second)
}
