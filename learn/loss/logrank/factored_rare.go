package logrank

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/learn/loss"
)

// logRareGain is logGain for rankings so bad that the probability of any gain
// leaves the range of float64. At most one good then stands high enough to gain
// anything, so that
//
//	log E[G] = LSE_g LSE_{a<T} (log P(a_g = a) + log γ_0(a)),
//
// with the distributions computed in logarithms: slow, but valid for scores of any size.
func (l *orderLaw) logRareGain(s, grad []float64, scratch *loss.Scratch) float64 {
	n, width := len(l.Bad), len(l.steps)
	w := rareWork{
		p: scratch.Floats(n), q: scratch.Floats(n),
		before: scratch.Floats((n + 1) * width), after: scratch.Floats(width + 1),
		terms: scratch.Floats(width),
	}
	gains := scratch.Floats(len(l.Good))
	for g := range l.Good {
		gains[g] = l.logRareRow(g, s, &w)
	}
	total := kernel.LogSumExp(gains)
	if grad == nil {
		return total
	}
	clear(grad)
	for g, doc := range l.Good {
		l.logRareRow(g, s, &w)
		l.logRareBackward(gains[g], &w)
		share := l.Slope * elementary.Exp(gains[g]-total)
		for b, v := range w.p {
			grad[doc] += float64(share * v)
			grad[l.Bad[b]] -= float64(share * v)
		}
	}
	return total
}

// rareWork is the working memory for one good document.
type rareWork struct {
	p, q   []float64 // log p_gb, log(1 − p_gb)
	before []float64 // row b: the log distribution of the flips among the first b bads
	after  []float64 // log expectation of the gain's steps over the others
	terms  []float64
}

// logRareRow returns log E[γ_0(a_g)].
func (l *orderLaw) logRareRow(g int, s []float64, w *rareWork) float64 {
	width := len(l.steps)
	for b, doc := range l.Bad {
		z := l.Slope * (s[l.Good[g]] - s[doc])
		w.p[b], w.q[b] = -logspace.Softplus(z), -logspace.Softplus(-z)
	}
	for t := range width {
		w.before[t] = math.Inf(-1)
	}
	w.before[0] = 0
	for b := range l.Bad {
		row, next := w.before[b*width:(b+1)*width], w.before[(b+1)*width:(b+2)*width]
		below := math.Inf(-1)
		for t, v := range row {
			next[t] = logspace.AddExp(v+w.q[b], below+w.p[b])
			below = v
		}
	}
	for t, v := range w.before[len(l.Bad)*width:] {
		w.terms[t] = v + elementary.Log(l.gains.At(0, t))
	}
	return kernel.LogSumExp(w.terms)
}

// logRareBackward replaces w.p by ∂ log E[γ_0(a_g)]/∂z_gb, given the value and
// the distributions that logRareRow left.
func (l *orderLaw) logRareBackward(value float64, w *rareWork) {
	width := len(l.steps)
	for t, steps := range l.steps {
		w.after[t] = elementary.Log(steps[0])
	}
	w.after[width] = math.Inf(-1)
	for b := len(l.Bad) - 1; b >= 0; b-- {
		for t, f := range w.before[b*width : (b+1)*width] {
			w.terms[t] = f + w.after[t]
			w.after[t] = logspace.AddExp(w.q[b]+w.after[t], w.p[b]+w.after[t+1])
		}
		w.p[b] = elementary.Exp(w.p[b] + w.q[b] + kernel.LogSumExp(w.terms) - value)
	}
}
