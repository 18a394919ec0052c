package loss

import (
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// XENDCG is the cross entropy that bounds NDCG,
//
//	L(s) = −Σ_i t_i log softmax(s)_i,   t_i = (2^l_i − γ_i)/Σ_j (2^l_j − γ_j),   λ = t − softmax(s)
//
// (Bruch, An Alternative Cross Entropy Loss for Learning-to-Rank, WWW 2021). The γ_i are uniform random
// numbers between 0 and 1. The paper draws them in every iteration. Here Bind draws them once for each
// query, so that the loss is a function and every optimiser can minimise it. Convex; O(n).
//
// A document of weight w takes w times its part of t and of the softmax.
//
// The loss of a query whose documents all have one grade is [Nothing], since t would depend only on the
// random γ.
type XENDCG struct{}

var _ Loss = XENDCG{}

// Bind implements [Loss].
func (l XENDCG) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	return l.BindDocuments(grades, nil, rng)
}

// WeighsDocuments implements [DocumentWeighted].
func (XENDCG) WeighsDocuments() bool { return true }

// BindDocuments implements [DocumentWeighted].
func (XENDCG) BindDocuments(grades, weights []float64, rng *rand.Rand) (QueryLoss, error) {
	if err := checkDocumentWeights(weights, len(grades)); err != nil {
		return nil, err
	}
	if constant(grades) {
		return Nothing, nil
	}
	target, top := make([]float64, len(grades)), slices.Max(grades)
	for i, l := range grades {
		// Relative to 2^top, against overflow.
		target[i] = elementary.Exp2(l-top) - float64(rng.Float64()*elementary.Exp2(-top))
	}
	for i, w := range weights {
		target[i] *= w
	}
	kernel.Scale(1/kernel.Sum(target), target)
	return newCrossEntropy(target, weights), nil
}

// Traits implements [Loss].
func (XENDCG) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true, Smooth: true} }
