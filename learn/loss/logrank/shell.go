package logrank

import (
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// shellLaw is the law of the form [Shell], over the ideal ranking y* and its neighbours. A
// neighbour inverts one pair (g, b), by moving g to the end of the goods and b directly above it.
// So all n⁺n⁻ neighbours have the same gain: one bad is above the lowest good. With
//
//	L = log Σ_gb exp(−z_gb) = LSE_g(−2κ s_g) + LSE_b(2κ s_b)
//
// the law has two outcomes: y* with gain G0, and one of the neighbours with gain G1. The odds of a
// neighbour are e^L:
//
//	A(β)     = log(exp(β(1−G0)) + exp(β(1−G1) + L))
//	log E[G] = log G0 + log(1 − (1 − G1/G0) σ(L))
//
// Time and memory are O(n).
type shellLaw struct {
	bipartite.Scaled
	best, rest float64 // G0, G1
}

func newShellLaw(docs bipartite.Scaled, gains *bipartite.GainTable) *shellLaw {
	l := &shellLaw{Scaled: docs}
	if gains != nil {
		last := len(docs.Good) - 1
		l.best = gains.Column(0)
		for i := range last {
			l.rest += gains.At(i, 0)
		}
		l.rest += gains.At(last, 1)
	}
	return l
}

func (l *shellLaw) logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64 {
	inverted := l.logOdds(s, grad, scratch)
	x := inverted + float64(beta*(l.best-l.rest))
	if grad != nil {
		kernel.Scale(logspace.Logistic(x), grad)
	}
	return float64(beta*(1-l.best)) + logspace.Softplus(x)
}

func (l *shellLaw) logGain(s, grad []float64, scratch *loss.Scratch) float64 {
	inverted := l.logOdds(s, grad, scratch)
	ratio := elementary.Log(l.rest / l.best) // −Inf for a single pair under AUC
	if grad != nil {
		// σ(L + ratio) − σ(L), without cancellation.
		kernel.Scale(logspace.Logistic(inverted)*logspace.Logistic(-inverted-ratio)*elementary.Expm1(ratio), grad)
	}
	if l.rest == 0 {
		return elementary.Log(l.best) - logspace.Softplus(inverted)
	}
	return elementary.Log(l.best) + elementary.Log1p(-(l.best-l.rest)/l.best*logspace.Logistic(inverted))
}

// logOdds returns L. If grad is not nil, logOdds overwrites it with the gradient of L.
func (l *shellLaw) logOdds(s, grad []float64, scratch *loss.Scratch) float64 {
	good, bad := scratch.Floats(len(l.Good)), scratch.Floats(len(l.Bad))
	kernel.Gather(good, s, l.Good, -l.Slope)
	kernel.Gather(bad, s, l.Bad, l.Slope)
	if grad == nil {
		return kernel.LogSumExp(good) + kernel.LogSumExp(bad)
	}
	sum := logspace.Softmax(good, good) + logspace.Softmax(bad, bad)
	kernel.Scatter(grad, good, l.Good, -l.Slope)
	kernel.Scatter(grad, bad, l.Bad, l.Slope)
	return sum
}
