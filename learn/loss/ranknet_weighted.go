package loss

import (
	"github.com/listwise/listwise/internal/logspace"
)

// boundWeightedRankNet is RankNet of documents with weights. Its loops are over the pairs.
type boundWeightedRankNet struct {
	order   []int32   // the documents by descending grade
	from    []int     // of each place in order, where those of lower grades begin
	weights []float64 // of the documents
	sigma   float64
	scale   float64
}

func newWeightedRankNet(l RankNet, grades, weights []float64) QueryLoss {
	b := &boundWeightedRankNet{order: make([]int32, len(grades)), weights: weights, sigma: sigmaOr1(l.Sigma), scale: 1}
	for i := range b.order {
		b.order[i] = int32(i)
	}
	sortByGrade(b.order, grades)
	var pairs float64
	start := 0
	for _, end := range levelEnds(grades, b.order) {
		for _, i := range b.order[start:end] {
			b.from = append(b.from, end)
			for _, j := range b.order[end:] {
				pairs += float64(weights[i] * weights[j])
			}
		}
		start = end
	}
	if pairs == 0 {
		return Nothing
	}
	if l.Mean {
		b.scale = 1 / pairs
	}
	return b
}

func (b *boundWeightedRankNet) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return b.EvalSecond(scores, lambda, nil, scratch)
}

// EvalSecond implements [Diagonal].
func (b *boundWeightedRankNet) EvalSecond(scores, lambda, second []float64, _ *Scratch) (value float64) {
	clear(lambda)
	clear(second)
	for place, i := range b.order {
		own := float64(b.scale * b.weights[i])
		for _, j := range b.order[b.from[place]:] {
			w, odds := float64(own*b.weights[j]), float64(b.sigma*(scores[j]-scores[i]))
			value += float64(w * logspace.Softplus(odds))
			if lambda == nil {
				continue
			}
			p, q := logspace.Bernoulli(odds)
			pull := float64(w * b.sigma * p)
			lambda[i] += pull
			lambda[j] -= pull
			if second != nil {
				bend := float64(w * b.sigma * b.sigma * p * q)
				second[i] += bend
				second[j] += bend
			}
		}
	}
	return value
}
