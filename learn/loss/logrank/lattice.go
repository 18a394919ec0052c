package logrank

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// latticeLaw is the law of the form [Lattice], over the C(n, n⁺) rankings in which both the goods
// and the bads are in descending order of scores. These rankings are the paths 0 ≤ j_1 ≤ … ≤ j_n⁺ ≤
// n⁻ of a lattice, where j_i is the number of bads above the i-th good. With s_g1 ≥ s_g2 ≥ … and
// s_b1 ≥ s_b2 ≥ …, the energy and the gain of a path are sums over the goods,
//
//	−w·δφ(y) = Σ_i c_i(j_i),  c_i(j) = 2κ Σ_{l≤j} (s_bl − s_gi),  G(y) = Σ_i γ_i(j_i),
//
// where γ_i(j) is the term of the i-th good in the gain if j bads are above it. So dynamic
// programming computes sums over all paths. It has a cell for each good i and each number j of bads
// above the good:
//
//	F_i(j) = exp(c_i(j) + u_i(j)) Σ_{j'≤j} F_{i−1}(j'),  log Σ_y exp(…) = log Σ_j F_n⁺(j)
//
// with u = −βγ for A(β). Together with the same sums in the opposite direction, from the last good
// to the first, these sums give P(j_i = j). The gradient is ∂A/∂s_gi = −2κ E[j_i], ∂A/∂s_bl = 2κ
// Σ_i P(j_i ≥ l). For log E[G], each sum is computed together with the sum of the same terms
// multiplied by the gain.
//
// A(β) is convex in the scores in spite of the sorting. By the rearrangement inequality, the weight
// of a path is largest if both classes are in descending order of scores. So A(β) is the maximum,
// over all orders of both classes, of log-sum-exps of linear functions. A(β) has kinks where two
// documents of a class tie. There the gradient is the mean of the gradients for all orders of the
// tied documents. This mean is a subgradient, and does not depend on the order of the documents in
// the data.
//
// Time is O(n⁺n⁻ + n log n). Memory is O(n) for a value, and two or three numbers for each cell for a
// gradient.
type latticeLaw struct {
	bipartite.Scaled
	gains    *bipartite.GainTable // nil if only A(0) is needed
	logPaths float64              // log C(n, n⁺)
	logBest  float64              // log G(y*), the largest possible log E[G]
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

// smallPath is a threshold for the logarithm of the mean of the terms of a sum over paths. If the
// logarithm is smaller, the sum is computed in logarithms, because its terms underflow. Cells are
// relative to the best path: they use c_i(j) minus the maximum of c_i over j. The maxima of all
// goods form a path, so the factor of a cell is at most 1, and a sum is at most the number of
// paths. Underflow loses at most exp(−700) for each path, so sums above the threshold are precise.
// Sums below the threshold occur for long lists with as many goods as bads, and for E[G] if the
// gain of a ranking is almost surely 0.
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

// finish sets grad from the fields expected and columns of w, which it overwrites.
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

// prepare sorts both classes and allocates the cells. It allocates a row of cells for each good if
// gradient is set, and otherwise a single row.
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

// latticeWork is the state of one evaluation of a latticeLaw. It contains matrices with a row for
// each good and the columns 0 … n⁻, the numbers of bads above the good.
type latticeWork struct {
	gains *bipartite.GainTable

	good, bad     []float64 // scaled scores, descending
	goodAt, badAt []float64 // indices, in the class, of the documents of good and bad
	sums          []float64 // Σ_{l≤j} bad[l−1]
	peak          []float64 // max_j c_i(j) of every row
	peaks         float64   // sum of peak, the energy of the best path

	width, stride int       // number of columns; distance of two rows, 0 if only one is stored
	cells         []float64 // exp(c_i(j) + u_i(j) − peak_i)
	before        []float64 // row i, column j: sum over all paths through rows 0 to i−1 that end at columns ≤ j
	suffix        []float64

	expected []float64 // by row: Σ_j j·P(j_i = j)
	columns  []float64 // by column: Σ_i P(j_i = j)
}

// row returns row i of x, which is cells or before.
func (w *latticeWork) row(x []float64, i int) []float64 {
	return x[i*w.stride : i*w.stride+w.width]
}

// exponents sets dst[j] = c_i(j) − beta·γ_i(j) − peak_i.
func (w *latticeWork) exponents(dst []float64, i int, beta float64) {
	g, peak := w.good[i], w.peak[i]
	for j, sum := range w.sums {
		dst[j] = sum - float64(float64(j)*g) - peak
	}
	if beta != 0 {
		kernel.Axpy(-beta, w.gains.Rows[i], dst[:len(w.gains.Rows[i])])
	}
}

// forward computes cells and before, and returns the sum over all paths.
func (w *latticeWork) forward(beta float64) float64 {
	next := w.row(w.before, 0)
	kernel.Fill(next, 1)
	for i := range w.good {
		cells, before := w.row(w.cells, i), next
		next = w.row(w.before, i+1)
		w.exponents(cells, i, beta)
		kernel.Exp(cells, cells)
		prefixProducts(next, before, cells)
	}
	return next[w.width-1]
}

// prefixProducts sets dst[j] = Σ_{l≤j} x[l]·y[l]; dst may be x.
func prefixProducts(dst, x, y []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	var sum float64
	for j, v := range x {
		sum += float64(v * y[j])
		dst[j] = sum
	}
}

// backward sets the fields expected and columns from the results of forward. norm is the reciprocal
// of the sum over all paths.
func (w *latticeWork) backward(norm float64) {
	kernel.Fill(w.suffix, norm)
	for i := len(w.good) - 1; i >= 0; i-- {
		w.expected[i] = marginals(w.row(w.before, i), w.row(w.cells, i), w.suffix, w.columns)
	}
}

// marginals adds P(j_i = j) to columns[j] and returns E[j_i], for the row i of before and cells. On
// entry, suffix[j] is the sum over all paths that start in row i+1 at columns ≥ j, times norm. On
// return, it is the same sum for paths that start in row i.
func marginals(before, cells, suffix, columns []float64) float64 {
	cells, suffix, columns = cells[:len(before)], suffix[:len(before)], columns[:len(before)]
	var sum, expected float64
	for j := len(before) - 1; j >= 0; j-- {
		v := float64(cells[j] * suffix[j])
		sum += v
		suffix[j] = sum
		v = float64(v * before[j])
		columns[j] += v
		expected += float64(float64(j) * v)
	}
	return expected
}

// The following functions compute the same sums in logarithms. They are used if a sum leaves the
// range of float64.

// partitionByLogs returns the logarithm of the sum over all paths, relative to the best path.
func (l *latticeLaw) partitionByLogs(w *latticeWork, beta float64, grad []float64, scratch *loss.Scratch) float64 {
	next := w.row(w.before, 0)
	clear(next)
	terms := scratch.Floats(w.width)
	for i := range w.good {
		cells, before := w.row(w.cells, i), next
		next = w.row(w.before, i+1)
		w.exponents(cells, i, beta)
		sumInto(terms, before, cells)
		logspace.PrefixLogSumExp(next, terms)
	}
	total := next[w.width-1]
	if grad == nil {
		return total
	}
	clear(w.suffix)
	for i := len(w.good) - 1; i >= 0; i-- {
		sumInto(w.suffix, w.suffix, w.row(w.cells, i))
		sumInto(terms, w.suffix, w.row(w.before, i))
		kernel.ExpSum(terms, terms, total)
		w.expected[i] = addMoments(w.columns, terms, 1)
		logspace.SuffixLogSumExp(w.suffix, w.suffix)
	}
	l.finish(w, grad)
	return total
}

// gainByLogs computes logGain in logarithms, after prepare.
func (l *latticeLaw) gainByLogs(w *latticeWork, grad []float64, scratch *loss.Scratch) float64 {
	d := w.companions(scratch)
	total, gain := w.forwardLogGain(&d, scratch)
	if grad != nil {
		w.backwardLogGain(&d, total, gain, scratch)
		l.finish(w, grad)
	}
	return min(gain-total, l.logBest)
}

func (w *latticeWork) forwardLogGain(d *gainWork, scratch *loss.Scratch) (total, gain float64) {
	next, dnext := w.row(w.before, 0), w.row(d.before, 0)
	clear(next)
	kernel.Fill(dnext, math.Inf(-1))
	terms, dterms := scratch.Floats(w.width), scratch.Floats(w.width)
	for i := range w.good {
		cells, before, dbefore := w.row(w.cells, i), next, dnext
		next, dnext = w.row(w.before, i+1), w.row(d.before, i+1)
		gains := d.row(w.gains, i)
		w.exponents(cells, i, 0)
		for j, c := range cells {
			terms[j] = before[j] + c
			dterms[j] = logspace.AddExp(dbefore[j]+c, terms[j]+elementary.Log(gains[j]))
		}
		logspace.PrefixLogSumExp(next, terms)
		logspace.PrefixLogSumExp(dnext, dterms)
	}
	return next[w.width-1], dnext[w.width-1]
}

func (w *latticeWork) backwardLogGain(d *gainWork, total, gain float64, scratch *loss.Scratch) {
	clear(w.suffix)
	kernel.Fill(d.suffix, math.Inf(-1))
	terms, dterms := scratch.Floats(w.width), scratch.Floats(w.width)
	for i := len(w.good) - 1; i >= 0; i-- {
		cells, before, dbefore := w.row(w.cells, i), w.row(w.before, i), w.row(d.before, i)
		gains := d.row(w.gains, i)
		for j, c := range cells {
			v := c + w.suffix[j]
			dv := logspace.AddExp(c+d.suffix[j], v+elementary.Log(gains[j]))
			terms[j] = before[j] + v
			dterms[j] = logspace.AddExp(dbefore[j]+v, before[j]+dv)
			w.suffix[j], d.suffix[j] = v, dv
		}
		kernel.ExpSum(terms, terms, total)
		kernel.ExpSum(dterms, dterms, gain)
		w.expected[i] = addMoments(w.columns, dterms, 1) + addMoments(w.columns, terms, -1)
		logspace.SuffixLogSumExp(w.suffix, w.suffix)
		logspace.SuffixLogSumExp(d.suffix, d.suffix)
	}
}

// sumInto sets dst[j] = x[j] + y[j].
func sumInto(dst, x, y []float64) {
	for j, v := range x {
		dst[j] = v + y[j]
	}
}

// addMoments adds scale·p[j] to columns[j] and returns scale·Σ j·p[j].
func addMoments(columns, p []float64, scale float64) float64 {
	var sum float64
	for j, v := range p {
		columns[j] += scale * v
		sum += float64(float64(j) * scale * v)
	}
	return sum
}

// The following functions compute the sums for log E[G]. Each sum over paths gets a companion: the
// sum of the same terms, each multiplied by the gain of the part of the path that the sum contains.
// All terms are non-negative.

// gainWork is the additional memory of latticeWork for the companions.
type gainWork struct {
	before []float64 // companions of latticeWork.before
	suffix []float64
	gains  []float64 // one row of γ, padded with zeros
}

// row returns row i of γ, padded with zeros. It is valid until the next call.
func (d *gainWork) row(t *bipartite.GainTable, i int) []float64 {
	n := copy(d.gains, t.Rows[i])
	clear(d.gains[n:])
	return d.gains
}

func (w *latticeWork) companions(scratch *loss.Scratch) gainWork {
	d := gainWork{before: scratch.Floats(len(w.before)), gains: scratch.Floats(w.width)}
	if w.stride > 0 {
		d.suffix = scratch.Floats(w.width)
	}
	return d
}

// forwardGain computes cells, before and the companion of before. It returns total, the sum over
// all paths, and gain, the companion of total.
func (w *latticeWork) forwardGain(d *gainWork) (total, gain float64) {
	next, dnext := w.row(w.before, 0), w.row(d.before, 0)
	kernel.Fill(next, 1)
	clear(dnext)
	for i := range w.good {
		cells, before, dbefore := w.row(w.cells, i), next, dnext
		next, dnext = w.row(w.before, i+1), w.row(d.before, i+1)
		w.exponents(cells, i, 0)
		kernel.Exp(cells, cells)
		prefixGains(next, dnext, before, dbefore, cells, d.row(w.gains, i))
	}
	return next[w.width-1], dnext[w.width-1]
}

// prefixGains sets dst as prefixProducts does, and ddst to the companion of dst. dx is the
// companion of x, and gains has the gains of the cells.
func prefixGains(dst, ddst, x, dx, cells, gains []float64) {
	n := len(x)
	dst, ddst, dx, cells, gains = dst[:n], ddst[:n], dx[:n], cells[:n], gains[:n]
	var sum, dsum float64
	for j, v := range x {
		v = float64(v * cells[j])
		sum += v
		dsum += float64(dx[j]*cells[j]) + float64(v*gains[j])
		dst[j], ddst[j] = sum, dsum
	}
}

// backwardGain sets the fields expected and columns from the results of forwardGain. For log E[G],
// both fields are differences: an expectation under the law weighted by the gain, minus the same
// expectation under the law. norm and gainNorm are the reciprocals of the results of forwardGain.
func (w *latticeWork) backwardGain(d *gainWork, norm, gainNorm float64) {
	kernel.Fill(w.suffix, 1)
	clear(d.suffix)
	for i := len(w.good) - 1; i >= 0; i-- {
		m := gainRow{w.row(w.before, i), w.row(d.before, i), w.row(w.cells, i), d.row(w.gains, i)}
		w.expected[i] = m.marginals(w.suffix, d.suffix, w.columns, norm, gainNorm)
	}
}

type gainRow struct{ before, dbefore, cells, gains []float64 }

// marginals does what the function marginals does, for the difference of probabilities that
// backwardGain describes.
func (m *gainRow) marginals(suffix, dsuffix, columns []float64, norm, gainNorm float64) float64 {
	n := len(m.before)
	before, dbefore, cells, gains := m.before[:n], m.dbefore[:n], m.cells[:n], m.gains[:n]
	suffix, dsuffix, columns = suffix[:n], dsuffix[:n], columns[:n]
	var sum, dsum, expected float64
	for j := n - 1; j >= 0; j-- {
		v := float64(cells[j] * suffix[j])
		dv := float64(cells[j]*dsuffix[j]) + float64(v*gains[j])
		sum += v
		dsum += dv
		suffix[j], dsuffix[j] = sum, dsum
		p := float64((float64(dbefore[j]*v)+float64(before[j]*dv))*gainNorm) - float64(before[j]*v*norm)
		columns[j] += p
		expected += float64(float64(j) * p)
	}
	return expected
}
