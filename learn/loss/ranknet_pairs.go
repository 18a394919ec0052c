package loss

import (
	"iter"
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// Pairs yields the pairs (i, j) of documents with grades[i] > grades[j], for every
// i in ascending order all j in ascending order. Together with [RankNet.PairLoss]
// it is RankNet as it was before section 5 of Burges, Ragno and Le (NIPS 2006),
// "V1" there: each pair by itself, with a forward and a backward pass through the
// scorer for both of its documents. The accelerated form is tested against it and its
// gain in speed is measured by it.
func Pairs(grades []float64) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		for i, better := range grades {
			for j, worse := range grades {
				if better > worse && !yield(i, j) {
					return
				}
			}
		}
	}
}

// PairLoss returns the loss of one pair, log(1 + exp(−σ(better − worse))), of the
// scores of its better and its worse document, and the λ of the better one,
// λ_ij = σ/(1 + exp(σ(better − worse))); that of the worse is −λ_ij. It ignores Mean,
// which depends on the number of pairs.
func (l RankNet) PairLoss(better, worse float64) (value, lambda float64) {
	sigma := sigmaOr1(l.Sigma)
	t := sigma * (worse - better)
	e := elementary.Exp(-math.Abs(t)) // for value and λ
	value = max(t, 0) + elementary.Log1p(e)
	if t < 0 {
		return value, sigma * (e / (1 + e))
	}
	return value, sigma / (1 + e)
}
