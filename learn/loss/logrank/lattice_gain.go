package logrank

import (
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// The sums of lattice_sums.go with their derivatives with respect to a weight of
// the gain: a sum over paths of a product of factors gets a companion, the sum of
// the same products times the gain γ so far. All terms are non-negative.

// gainWork is the additional memory of latticeWork for the companions.
type gainWork struct {
	before []float64 // companions of latticeWork.before
	suffix []float64
	gains  []float64 // one row of γ, zeros included
}

// row sets gains to row i of γ.
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

// forwardGain computes cells, before and its companion, and returns the sum over
// all paths and the sum of their gains.
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

// prefixGains is prefixProducts for sums and companions.
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

// backwardGain computes the derivatives of log E[G] after forwardGain: those under
// the law weighted by the gain less those under the law. The arguments are the
// reciprocals of the sums.
func (w *latticeWork) backwardGain(d *gainWork, norm, gainNorm float64) {
	kernel.Fill(w.suffix, 1)
	clear(d.suffix)
	for i := len(w.good) - 1; i >= 0; i-- {
		m := gainRow{w.row(w.before, i), w.row(d.before, i), w.row(w.cells, i), d.row(w.gains, i)}
		w.expected[i] = m.marginals(w.suffix, d.suffix, w.columns, norm, gainNorm)
	}
}

type gainRow struct{ before, dbefore, cells, gains []float64 }

// marginals is the function of that name with companions.
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
