package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// PairWeights are weights of documents in pairs, one a document each: λ_ij of a pair, i being
// the better one, and its second derivative are multiplied by Better[i]·Worse[j]. nil is 1 for
// all; the zero value changes nothing.
//
// They are for grades that are clicks, which come from where documents stood. With one over
// what a position's bias is for clicked documents and for others, LambdaRank on trees is
// Unbiased LambdaMART (Hu, Wang, Peng, Li, Unbiased LambdaMART: An Unbiased Pairwise
// Learning-to-Rank Algorithm, WWW 2019, eq. 24 and 27); with Better alone it is propensity
// weighting by the clicked document.
type PairWeights struct{ Better, Worse []float64 }

// PairWeighted is a Loss of pairs that can be weighted.
type PairWeighted interface {
	Loss

	// BindWeighted is Bind with weights of the query's documents, which must not change.
	BindWeighted(grades []float64, w PairWeights, rng *rand.Rand) (QueryLoss, error)
}

var _ PairWeighted = LambdaRank{}

// IsZero reports whether the weights change nothing.
func (w PairWeights) IsZero() bool { return w.Better == nil && w.Worse == nil }

// Validate returns an error unless there are n weights of either kind, or none, all finite and
// not negative.
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

// Part returns the weights of the documents from ≤ i < to.
func (w PairWeights) Part(from, to int) PairWeights {
	part := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		return x[from:to:to]
	}
	return PairWeights{part(w.Better), part(w.Worse)}
}

// Times returns the weights multiplied by the documents' own weights, one each or nil.
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

// filled returns the weights of n documents with ones in place of nil.
func (w PairWeights) filled(n int) PairWeights {
	if w.Better == nil {
		w.Better = slices.Repeat([]float64{1}, n)
	}
	if w.Worse == nil {
		w.Worse = slices.Repeat([]float64{1}, n)
	}
	return w
}
