package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss"
)

// ExpLoss is the logarithm of the expected exponential of a ranking's loss. It is LogRank's equation (5)
// with f = exp,
//
//	ExpLoss(s) = log E[exp(βΔ)] = log Σ_y p(y) exp(β Δ(y)) = A(β) − A(0).
//
// ExpLoss is at least [L2], by Jensen's inequality, and at most β. [ConvexLoss] is MLE + ExpLoss, and
// [L3] is MLE + L2. ExpLoss is not convex. It supports the same forms and measures as ConvexLoss.
// [LogLoss] is equation (5) with the identity as f.
type ExpLoss struct{ Options }

var _ loss.Loss = ExpLoss{}

// Bind implements [loss.Loss].
func (l ExpLoss) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return l.bindTo(grades, rng, lossPartition, func(law law) loss.QueryLoss { return boundExpLoss{law, l.beta()} })
}

// Traits implements [loss.Loss].
func (l ExpLoss) Traits() loss.Traits { return l.traits(false) }

type boundExpLoss struct {
	law  law
	beta float64
}

func (b boundExpLoss) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	var grad []float64
	if lambda != nil {
		grad = scratch.Floats(len(lambda))
	}
	plain := b.law.logPartition(0, scores, grad, scratch)
	tilted := b.law.logPartition(b.beta, scores, lambda, scratch)
	for i, v := range grad {
		lambda[i] = v - lambda[i]
	}
	// At very large scores, rounding errors exceed the difference of the two terms. The bounds keep
	// the result in its range, [0, β].
	return min(max(tilted-plain, 0), b.beta)
}
