package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss"
)

// ExpLoss is the logarithm of the expected exponential of a ranking's loss, LogRank's
// equation (5) with f = exp,
//
//	ExpLoss(s) = log E[exp(βΔ)] = log Σ_y p(y) exp(β Δ(y)) = A(β) − A(0).
//
// It lies between [L2], by Jensen's inequality, and β. [ConvexLoss] is the sum of MLE and
// this, where [L3] is that of MLE and L2. By itself it is bounded and not convex, and exists
// where ConvexLoss does. [LogLoss] is equation (5) with f the identity.
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
	// At scores so large that the difference is lost in rounding, the bounds are not.
	return min(max(tilted-plain, 0), b.beta)
}
