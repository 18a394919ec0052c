package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss"
)

// MLE is the negative log likelihood of the ideal ranking y*,
//
//	L1(s) = −log p(y*) = log Σ_y ω_y exp(−w·δφ(y)) = A(0).
//
// MLE is LogRank's first objective (section 3). In the factored form it is
//
//	L1 = Σ_gb log(1 + exp(−2κ(s_g − s_b))),
//
// which is the pairwise logistic loss of RankNet with slope 2κ. MLE is convex in every form. In the
// factored and the sampled form, its bound loss is a [loss.Diagonal].
type MLE struct{ Options }

var _ loss.Loss = MLE{}

// Bind implements [loss.Loss].
func (l MLE) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return l.bindTo(grades, rng, onlyPartition, func(law law) loss.QueryLoss {
		if pairwise, ok := law.(*pairwiseLaw); ok {
			return boundPairwiseMLE{boundPartition{law, 0}, &pairwise.pairs}
		}
		return bindPartition(law, 0)
	})
}

// Traits implements [loss.Loss].
func (l MLE) Traits() loss.Traits { return l.traits(true) }

// boundPairwiseMLE is MLE in the factored form, which has second derivatives.
type boundPairwiseMLE struct {
	boundPartition
	pairs *pairs
}

var _ loss.Diagonal = boundPairwiseMLE{}

// EvalSecond implements [loss.Diagonal].
func (b boundPairwiseMLE) EvalSecond(scores, lambda, second []float64, scratch *loss.Scratch) float64 {
	value := b.Eval(scores, lambda, scratch)
	b.pairs.curvature(scores, second, scratch)
	return value
}
