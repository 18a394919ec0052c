package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/learn/loss"
)

// LogLoss is the logarithm of the expected loss. It is LogRank's equation (5) with the identity as f,
// except for a small ε and a constant,
//
//	LogLoss(s) = log(E[Δ] + ε) − log ε,   λ = E[G]/(E[Δ] + ε) · ∇ log E[G].
//
// The paper proposes [ExpGain] instead, because E[Δ] is near 1 when training begins (section 2.1).
// ε = 1e-5 keeps the logarithm finite for a perfectly ranked query, and keeps its argument larger
// than rounding errors. The constant log ε makes LogLoss 0 for a perfectly ranked query. LogLoss
// ignores Options.Beta, which would only add a constant. LogLoss is not convex.
type LogLoss struct{ Options }

var _ loss.Loss = LogLoss{}

// leastLoss is ε.
const leastLoss = 1e-5

// Bind implements [loss.Loss].
func (l LogLoss) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return l.bindTo(grades, rng, expectedGain, func(law law) loss.QueryLoss { return boundLogLoss{law} })
}

// Traits implements [loss.Loss].
func (l LogLoss) Traits() loss.Traits { return l.traits(false) }

type boundLogLoss struct{ law law }

func (b boundLogLoss) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	expected := max(expectedLoss(b.law, 1, scores, lambda, scratch), 0)
	for i := range lambda {
		lambda[i] /= expected + leastLoss
	}
	return elementary.Log1p(expected / leastLoss)
}
