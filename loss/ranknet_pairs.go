package loss

import (
	"iter"
	"math"
)

// Pairs yields the pairs (i, j) of documents with grades[i] > grades[j], for every
// i in ascending order all j in ascending order. Together with [RankNet.PairCost]
// it is RankNet as it was before section 5 of Burges, Ragno and Le (NIPS 2006),
// "V1" there: each pair by itself, with a forward and a backward pass through the
// scorer for both of its documents. It stands as the measure of what the
// accelerated form gains, and as its oracle.
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

// PairCost returns the cost of one pair, log(1 + exp(−σ(better − worse))), of the
// scores of its better and its worse document, and the force on the better one,
// λ_ij = σ/(1 + exp(σ(better − worse))); the force on the worse is −λ_ij. It
// ignores Mean, which is a matter of all pairs.
func (l RankNet) PairCost(better, worse float64) (cost, force float64) {
	sigma := sigmaOr1(l.Sigma)
	t := sigma * (worse - better)
	e := math.Exp(-math.Abs(t)) // serves both
	cost = max(t, 0) + math.Log1p(e)
	if t < 0 {
		return cost, sigma * (e / (1 + e))
	}
	return cost, sigma / (1 + e)
}
