package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// PairWeights are weights of documents in pairs. If document i is better than document j, the weights
// multiply λ_ij and its second derivative by Better[i]·Worse[j]. The zero value changes nothing.
//
// The weights correct grades that are clicks for position bias. Let Better be the reciprocal bias of
// each document's position for clicked documents, and Worse the same for other documents. LambdaRank on
// trees is then Unbiased LambdaMART (Hu, Wang, Peng, Li, Unbiased LambdaMART: An Unbiased Pairwise
// Learning-to-Rank Algorithm, WWW 2019, eq. 24 and 27). With Better alone, LambdaRank weighs pairs by
// the inverse propensity of the clicked document.
type PairWeights struct {
	Better, Worse []float64 // one finite number per document, not negative; nil means 1 for all
}

// PairWeighted is a Loss over pairs that accepts weights of documents in pairs.
type PairWeighted interface {
	Loss

	// BindWeighted is Bind with weights of the query's documents. The caller must not change them.
	BindWeighted(grades []float64, w PairWeights, rng *rand.Rand) (QueryLoss, error)
}

// PairCosts is the QueryLoss of a [PairWeighted] that computes the costs of pairs, whose derivative by the
// difference of scores is −λ_ij. It reads the weights of pairs again in each evaluation, so the caller may
// change them between evaluations.
type PairCosts interface {
	QueryLoss

	// PairCosts overwrites better[i] with the sum of the costs of all pairs in which document i is the better
	// one, and worse[i] with that of all pairs in which it is the worse one. Each cost includes the weights
	// Better and Worse of its documents. All slices have an element for each document.
	PairCosts(scores, better, worse []float64, scratch *Scratch)
}

var _ PairWeighted = LambdaRank{}

var _ = []PairCosts{&boundLambdaRank{}, &boundSecondLambdaRank{}, nothing{}}

// IsZero reports whether both slices are nil.
func (w PairWeights) IsZero() bool { return w.Better == nil && w.Worse == nil }

// Validate returns an error unless each slice is nil or contains n finite numbers that are not negative.
func (w PairWeights) Validate(n int) error {
	for _, list := range [][]float64{w.Better, w.Worse} {
		if list != nil && len(list) != n {
			return fmt.Errorf("found %d weights of documents in pairs, expected %d", len(list), n)
		}
		for i, v := range list {
			if !(v >= 0) || math.IsInf(v, 1) {
				return fmt.Errorf("found the weight %v of document %d in pairs, expected a finite number that is not negative", v, i+1)
			}
		}
	}
	return nil
}

// Part returns the weights of the documents i with from ≤ i < to.
func (w PairWeights) Part(from, to int) PairWeights {
	part := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		return x[from:to:to]
	}
	return PairWeights{part(w.Better), part(w.Worse)}
}

// Times returns Better and Worse, multiplied by a weight for each document. If documents is nil, it
// returns w.
func (w PairWeights) Times(documents []float64) PairWeights {
	if documents == nil {
		return w
	}
	w = w.filled(len(documents))
	better, worse := make([]float64, len(documents)), make([]float64, len(documents))
	for i, v := range documents {
		better[i], worse[i] = v*w.Better[i], v*w.Worse[i]
	}
	return PairWeights{better, worse}
}

// filled returns w with n ones in place of each nil slice.
func (w PairWeights) filled(n int) PairWeights {
	if w.Better == nil {
		w.Better = slices.Repeat([]float64{1}, n)
	}
	if w.Worse == nil {
		w.Worse = slices.Repeat([]float64{1}, n)
	}
	return w
}
