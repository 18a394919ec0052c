package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss"
)

// L3 is the sum of LogRank's first two objectives (section 3),
//
//	L3(s) = L1 + L2 = −log p(y*) + β E[Δ] = A(0) + β (1 − E[G]).
//
// L3 is a lower bound of [ConvexLoss] by Jensen's inequality. Contrary to the paper, L3 over a
// fixed set of rankings is convex for β ≤ 1. For larger β it is not convex in general.
type L3 struct{ Options }

var _ loss.Loss = L3{}

// Bind implements [loss.Loss].
func (l L3) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return l.bindTo(grades, rng, expectedGain, func(law law) loss.QueryLoss { return boundL3{law, l.beta()} })
}

// Traits implements [loss.Loss].
func (l L3) Traits() loss.Traits { return l.traits(false) }

type boundL3 struct {
	law  law
	beta float64
}

func (b boundL3) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	var grad []float64
	if lambda != nil {
		grad = scratch.Floats(len(lambda))
	}
	value := b.law.logPartition(0, scores, grad, scratch)
	value += expectedLoss(b.law, b.beta, scores, lambda, scratch)
	for i, v := range grad {
		lambda[i] -= v
	}
	return value
}
