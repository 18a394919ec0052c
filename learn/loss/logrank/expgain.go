package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss"
)

// ExpGain is the negative logarithm of the expected gain,
//
//	ExpGain(s) = −log E[G] = −log Σ_y p(y) G(y),   λ = Cov(G, φ-scores)/E[G],
//
// which training minimises, while LogRank's equation (6) is maximised. Cov is the covariance of the
// gain and of the features φ(y), as coefficients of the scores. The paper has two errors. It says
// that the gradient is essentially −E[Δφ]. Its closed form with h_gb(−1) is the expected loss, not
// the expected gain: for a pair of documents whose scores differ by .00306, the closed form gives
// .6962, but −log E[G] = .6901.
//
// ExpGain is not convex, so training should use several starting points. If all sampled rankings of
// a query have gain 0, ExpGain is infinite at all scores. Bind then returns [loss.Nothing].
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
