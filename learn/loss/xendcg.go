package loss

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// XENDCG is a cross entropy that bounds NDCG,
//
//	L(s) = −Σ_i t_i log softmax(s)_i,   t_i = (2^l_i − γ_i)/Σ_j (2^l_j − γ_j),   λ = t − softmax(s)
//
// (Bruch, An Alternative Cross Entropy Loss for Learning-to-Rank, WWW 2021). The γ_i are uniform random
// numbers between 0 and 1. The paper draws them in every iteration. Here Bind draws them once for each
// query, so the loss is a function that every optimiser can minimise. The loss is convex, and an
// evaluation takes O(n).
//
// The paper assumes integer grades, so γ is at most the smallest positive gain 2^l − 1. If the largest
// gain c of a query is below 1, as for click rates, γ would hide the grades. The target is then
// proportional to 2^l − 1 + c(1 − γ), which equals the paper's target for c = 1.
//
// The weight of a document multiplies its share of t and of the softmax.
//
// Bind returns [Nothing] if all documents have the same grade, since t would depend only on γ.
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
		scale = elementary.Exp2(-top) // relative to 2^top, which could overflow
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
