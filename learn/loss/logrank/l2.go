package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/learn/loss"
)

// L2 is the expected loss of a ranking,
//
//	L2(s) = β E[Δ] = β (1 − E[G]),   λ = β E[G] ∇ log E[G].
//
// It is LogRank's second objective (section 3). Under AUC in the factored form, it is β times the
// mean of 1/(1 + exp(2κ(s_g − s_b))) over the pairs. L2 is bounded and not convex. Its gradient
// vanishes at scores that rank a query very badly, where the gradient of [ExpGain] does not vanish.
type L2 struct{ Options }

var _ loss.Loss = L2{}

// Bind implements [loss.Loss].
func (l L2) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return l.bindTo(grades, rng, expectedGain, func(law law) loss.QueryLoss { return boundL2{law, l.beta()} })
}

// Traits implements [loss.Loss].
func (l L2) Traits() loss.Traits { return l.traits(false) }

type boundL2 struct {
	law  law
	beta float64
}

func (b boundL2) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	return expectedLoss(b.law, b.beta, scores, lambda, scratch)
}

// expectedLoss returns β(1 − E[G]). If lambda is not nil, expectedLoss overwrites it with the
// negative gradient.
func expectedLoss(law law, beta float64, scores, lambda []float64, scratch *loss.Scratch) float64 {
	logGain := law.logGain(scores, lambda, scratch)
	scale := beta * elementary.Exp(logGain)
	for i := range lambda {
		lambda[i] *= scale
	}
	return -beta * elementary.Expm1(logGain)
}
