package logrank

import (
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// latticeWork is one evaluation of a latticeLaw. Rows are goods, columns 0 … n⁻
// the numbers of bads above them.
type latticeWork struct {
	gains *bipartite.GainTable

	good, bad     []float64 // scaled scores, descending
	goodAt, badAt []float64 // the documents they belong to, as places in the classes
	sums          []float64 // Σ_{l≤j} bad[l−1]
	peak          []float64 // max_j c_i(j) of every row
	peaks         float64   // their sum, the energy of the best path

	width, stride int       // columns; from one row to the next, 0 if only one is kept
	cells         []float64 // exp(c_i(j) + u_i(j) − peak_i)
	before        []float64 // row i: the sums over all paths to row i−1, column ≤ j
	suffix        []float64

	expected []float64 // derivatives of the result: Σ_j j·P(j_i = j)
	columns  []float64 // and Σ_i P(j_i = j)
}

// row returns row i of cells or of before.
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

// backward computes the derivatives after forward; norm is the reciprocal of
// the sum over all paths.
func (w *latticeWork) backward(norm float64) {
	kernel.Fill(w.suffix, norm)
	for i := len(w.good) - 1; i >= 0; i-- {
		w.expected[i] = marginals(w.row(w.before, i), w.row(w.cells, i), w.suffix, w.columns)
	}
}

// marginals adds P(j_i = j) to columns[j] and returns E[j_i]. It replaces suffix,
// the sums over all paths from row i+1, column ≥ j, by those from row i.
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
