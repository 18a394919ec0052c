package logrank

import (
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// pairwiseLaw is the factored law with a gain that loses the same amount h for
// every inverted pair, G = G0 − h·#{inverted pairs}: AUC, where h = 1/(n⁺n⁻).
// With p_gb = σ(−z_gb), the probability of an inversion,
//
//	A(β)     = β(1 − G0) + Σ_gb log(1 + exp(−z_gb + βh))
//	log E[G] = log(G0 − h Σ_gb p_gb),   ∂ log E[G]/∂z_gb = h p_gb (1−p_gb)/E[G].
//
// (LogRank, section 2.3, with the slip of h_gb(−1) for h_gb(+1) corrected.) Time
// is O(n⁺n⁻), memory O(n).
type pairwiseLaw struct {
	pairs
	best   float64 // G0
	lowest float64 // G0 − h n⁺n⁻, the gain when all pairs are inverted
	step   float64 // h
}

func newPairwiseLaw(p pairs, gains *bipartite.GainTable, step float64) *pairwiseLaw {
	l := &pairwiseLaw{pairs: p, best: gains.Column(0), lowest: gains.Column(gains.Bad), step: step}
	if l.lowest < 1e-12*l.best {
		l.lowest = 0 // rounding of a measure whose lowest value is 0
	}
	return l
}

func (l *pairwiseLaw) logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64 {
	sum := l.softplusSum(beta*l.step, s, grad, scratch)
	if beta == 0 {
		return sum
	}
	return sum + float64(beta*(1-l.best))
}

// inversionCertain is where exp(−z_gb) + 1 = exp(−z_gb) to machine precision.
const inversionCertain = 40

func (l *pairwiseLaw) logGain(s, grad []float64, scratch *loss.Scratch) float64 {
	if l.step == 0 {
		clear(grad)
		return elementary.Log(l.best)
	}
	if l.lowest == 0 && l.smallestLogOdds(s) > inversionCertain {
		return elementary.Log(l.step) + l.keptLimit(s, grad, scratch)
	}
	kept, inverted := l.inversions(s, grad, scratch)
	gain, lost := l.lowest+float64(l.step*kept), l.step*inverted
	kernel.Scale(-l.step/gain, grad)
	if lost < gain {
		return elementary.Log(l.best) + elementary.Log1p(-lost/l.best)
	}
	return elementary.Log(gain)
}
