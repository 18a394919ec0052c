package loss

import (
	"math"
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
// The paper has whole grades, where γ is at most the gain 2^l − 1 of the least relevant grade. If the
// largest gain c of a query is below 1, as for shares of clicks, γ would hide the grades. The target
// is then proportional to 2^l − 1 + c(1 − γ), which equals the paper's for c = 1.
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
	scale := 1.0
	if top >= 1 {
		scale = elementary.Exp2(-top) // Relative to 2^top, against overflow.
	}
	for i, l := range grades {
		gain := elementary.Exp2(l - top)
		if top < 1 {
			gain = 1 + elementary.Expm1(float64(l*math.Ln2))/elementary.Expm1(float64(top*math.Ln2))
		}
		target[i] = gain - float64(rng.Float64()*scale)
	}
	for i, w := range weights {
		target[i] *= w
	}
	kernel.Scale(1/kernel.Sum(target), target)
	return newCrossEntropy(target, weights), nil
}

// Traits implements [Loss].
func (XENDCG) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true, Smooth: true} }
