package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss"
)

// ExpGain is the negative logarithm of the expected gain,
//
//	ExpGain(s) = −log E[G] = −log Σ_y p(y) G(y),   λ = Cov(G, φ-scores)/E[G],
//
// which is minimised, while LogRank's equation (6) is maximised. The paper has two errors: the remark
// that the gradient is essentially −E[Δφ], and the closed form with h_gb(−1), which is the expected
// loss. For a pair of documents whose scores differ by .00306, this closed form gives .6962, but −log
// E[G] = .6901.
//
// ExpGain is not convex, so training should use several starts. If all sampled rankings of a query have
// gain 0, ExpGain is infinite at all scores. Bind then returns [loss.Nothing].
type ExpGain struct{ Options }

var _ loss.Loss = ExpGain{}

// Bind implements [loss.Loss].
func (l ExpGain) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return l.bindTo(grades, rng, expectedGain, func(law law) loss.QueryLoss {
		if sampled, ok := law.(*sampledLaw); ok && sampled.gainless {
			return loss.Nothing
		}
		return boundExpGain{law}
	})
}

// Traits implements [loss.Loss].
func (l ExpGain) Traits() loss.Traits { return l.traits(false) }

type boundExpGain struct{ law law }

func (b boundExpGain) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	return -b.law.logGain(scores, lambda, scratch)
}
