package logrank

import (
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// latticeLaw is the law over the C(n, n⁺) rankings in which the goods stand in
// the order of their scores, and so do the bads: the paths 0 ≤ j_1 ≤ … ≤ j_n⁺ ≤
// n⁻ of a lattice, j_i being the number of bads above the i-th good. With s_g1 ≥
// s_g2 ≥ … and s_b1 ≥ s_b2 ≥ …, a path's energy and gain are sums over its steps,
//
//	−w·δφ(y) = Σ_i c_i(j_i),  c_i(j) = 2κ Σ_{l≤j} (s_bl − s_gi),  G(y) = Σ_i γ_i(j_i),
//
// so that sums over all paths take n⁺(n⁻+1) cells:
//
//	F_i(j) = exp(c_i(j) + u_i(j)) Σ_{j'≤j} F_{i−1}(j'),  log Σ_y exp(…) = log Σ_j F_n⁺(j)
//
// with u = −βγ for A(β). Together with the same sums from the other end these
// give P(j_i = j), and the gradient ∂A/∂s_gi = −2κ E[j_i], ∂A/∂s_bl = 2κ Σ_i
// P(j_i ≥ l). log E[G] and its gradient carry along the derivative of all sums
// with respect to u in the direction γ.
//
// A(β) is convex in the scores in spite of the sorting: by rearrangement a path's
// weight is largest when both classes are in order, so that it is the maximum
// over all assignments of log-sum-exps of linear functions. It is continuous, with
// kinks where two documents of a class tie; there the result is the mean of the
// gradients of all orders of the tied documents, a subgradient that does not
// depend on the order of documents in a file.
//
// Time is O(n⁺n⁻ + n log n); memory is O(n) for a value and two or three numbers
// a cell for a gradient.
type latticeLaw struct {
	bipartite.Scaled
	gains    *bipartite.GainTable // nil when only A(0) is wanted
	logPaths float64              // log C(n, n⁺)
	logBest  float64              // log G(y*), which rounding must not exceed
}

func newLatticeLaw(docs bipartite.Scaled, gains *bipartite.GainTable) *latticeLaw {
	l := &latticeLaw{Scaled: docs, gains: gains, logPaths: logChoose(docs.Docs(), len(docs.Good))}
	if gains != nil {
		l.logBest = elementary.Log(gains.Column(0))
	}
	return l
}

// logChoose returns the logarithm of a binomial coefficient.
func logChoose(n, k int) float64 {
	all := elementary.LogGamma(float64(n + 1))
	in := elementary.LogGamma(float64(k + 1))
	out := elementary.LogGamma(float64(n - k + 1))
	return all - in - out
}

// Cells are computed relative to the best path: c_i(j) less its maximum over j.
// The best steps of all goods form a path, so every cell's factor is at most 1,
// partial sums are at most the number of paths, and what is lost to underflow
// below exp(−700) is at most that number times exp(−700). A sum over paths is thus
// precise when it is exp(smallPath) or more per path; otherwise the sums are done
// in logarithms, which happens for long lists of as many goods as bads, and for
// E[G] of a ranking whose gain is almost surely 0.
const smallPath = -660

func (l *latticeLaw) logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64 {
	w := l.prepare(s, grad != nil, scratch)
	constant := beta + w.peaks // βΔ = β − βG
	if l.logPaths+beta > -smallPath {
		return constant + l.partitionByLogs(&w, beta, grad, scratch)
	}
	total := w.forward(beta)
	if grad != nil {
		w.backward(1 / total)
		l.finish(&w, grad)
	}
	return constant + elementary.Log(total)
}

func (l *latticeLaw) logGain(s, grad []float64, scratch *loss.Scratch) float64 {
	w := l.prepare(s, grad != nil, scratch)
	if l.logPaths > -smallPath {
		return l.gainByLogs(&w, grad, scratch)
	}
	d := w.companions(scratch)
	total, gain := w.forwardGain(&d)
	if gain < elementary.Exp(l.logPaths+smallPath) {
		return l.gainByLogs(&w, grad, scratch)
	}
	if grad != nil {
		w.backwardGain(&d, 1/total, 1/gain)
		l.finish(&w, grad)
	}
	return min(elementary.Log(gain/total), l.logBest)
}

// finish maps the derivatives in w to documents.
func (l *latticeLaw) finish(w *latticeWork, grad []float64) {
	var above float64
	bad := w.columns[1:]
	for j := len(bad) - 1; j >= 0; j-- {
		above += bad[j]
		bad[j] = above
	}
	kernel.AverageTies(w.expected, w.good)
	kernel.AverageTies(bad, w.bad)
	for i, d := range w.goodAt {
		grad[l.Good[int(d)]] = -l.Slope * w.expected[i]
	}
	for i, d := range w.badAt {
		grad[l.Bad[int(d)]] = l.Slope * bad[i]
	}
}

// prepare sorts both classes and allocates memory: one row of cells, or all of them if a
// gradient is needed.
func (l *latticeLaw) prepare(s []float64, gradient bool, scratch *loss.Scratch) latticeWork {
	w := latticeWork{gains: l.gains, width: len(l.Bad) + 1}
	w.good, w.goodAt = l.Sorted(l.Good, s, scratch)
	w.bad, w.badAt = l.Sorted(l.Bad, s, scratch)
	bipartite.Centre(w.good, w.bad)
	w.sums = scratch.Floats(w.width)
	w.sums[0] = 0
	for j, v := range w.bad {
		w.sums[j+1] = w.sums[j] + v
	}
	w.peak = scratch.Floats(len(w.good))
	best := 0
	for i, g := range w.good {
		for best < len(w.bad) && w.bad[best] > g {
			best++
		}
		w.peak[i] = w.sums[best] - float64(float64(best)*g)
		w.peaks += w.peak[i]
	}
	rows := 1
	if gradient {
		rows = len(w.good)
		w.expected = scratch.Floats(len(w.good))
		w.columns = scratch.Floats(w.width)
		clear(w.columns)
		w.suffix = scratch.Floats(w.width)
		w.stride = w.width
	}
	w.cells = scratch.Floats(rows * w.width)
	w.before = scratch.Floats(rows*w.width + w.stride)
	return w
}
