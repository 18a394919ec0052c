package logrank

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// pairs computes sums over all n⁺n⁻ pairs of a query. The log odds of an inversion, −z_gb = 2κ(s_b − s_g), are the sum
// of a term for each document. A pair is a row and a column of a matrix. The smaller class, good or bad, forms the
// rows. The larger class forms the columns, over which the inner, vectorised loop runs.
type pairs struct {
	rows, cols         []int32
	rowSlope, colSlope float64 // −2κ for goods, 2κ for bads
}

func newPairs(docs bipartite.Scaled) pairs {
	if len(docs.Good) <= len(docs.Bad) {
		return pairs{docs.Good, docs.Bad, -docs.Slope, docs.Slope}
	}
	return pairs{docs.Bad, docs.Good, docs.Slope, -docs.Slope}
}

// logOdds returns the term of each document in the log odds of an inversion.
func (p *pairs) logOdds(s []float64, scratch *loss.Scratch) (rows, cols []float64) {
	rows, cols = scratch.Floats(len(p.rows)), scratch.Floats(len(p.cols))
	kernel.Gather(rows, s, p.rows, p.rowSlope)
	kernel.Gather(cols, s, p.cols, p.colSlope)
	return rows, cols
}

// factors returns a and e such that the odds of pair (r, c), exp(rows[r] + cols[c] + margin), are a[r]·e[c]. e[c] is
// exp(cols[c] − top), where top is the largest of cols. factors replaces rows[r] by rows[r] + top + margin, the largest
// log odds of row r, and a[r] is the exponential of this number. If the number exceeds [kernel.MaxLogOdds], a[r] is not
// valid.
func factors(rows, cols []float64, margin float64, scratch *loss.Scratch) (a, e []float64, top float64) {
	a, e = scratch.Floats(len(rows)), scratch.Floats(len(cols))
	top = kernel.Max(cols)
	kernel.ExpSum(e, cols, top)
	for r := range rows {
		rows[r] += top + margin
		a[r] = min(rows[r], kernel.MaxLogOdds)
	}
	kernel.Exp(a, a)
	return a, e, top
}

// softplusSum returns Σ log(1 + exp(−z_gb + margin)) over all pairs. If grad is not nil, softplusSum overwrites it with
// the gradient with respect to the scores.
func (p *pairs) softplusSum(margin float64, s, grad []float64, scratch *loss.Scratch) float64 {
	rows, cols := p.logOdds(s, scratch)
	a, e, top := factors(rows, cols, margin, scratch)
	colGrad, work := scratch.Floats(len(cols)), scratch.Floats(len(cols))
	clear(colGrad)
	var total float64
	for r, largest := range rows {
		var sum float64
		if largest <= kernel.MaxLogOdds {
			sum, a[r] = kernel.LogisticRow(a[r], e, colGrad)
		} else {
			sum, a[r] = kernel.SteepLogisticRow(largest-top, cols, colGrad, work)
		}
		total += sum
	}
	if grad != nil {
		kernel.Scatter(grad, a, p.rows, p.rowSlope)
		kernel.Scatter(grad, colGrad, p.cols, p.colSlope)
	}
	return total
}

// inversions returns two sums over all pairs: kept, the sum of 1 − p_gb, and inverted, the sum of p_gb, where p_gb =
// σ(−z_gb) is the probability of an inversion. If grad is not nil, inversions overwrites it with the gradient of
// inverted.
func (p *pairs) inversions(s, grad []float64, scratch *loss.Scratch) (kept, inverted float64) {
	rows, cols := p.logOdds(s, scratch)
	a, e, top := factors(rows, cols, 0, scratch)
	colGrad := scratch.Floats(len(cols))
	clear(colGrad)
	for r, largest := range rows {
		var keep, inv float64
		if largest <= kernel.MaxLogOdds {
			keep, inv, a[r] = logspace.VarianceRow(a[r], e, colGrad)
		} else {
			keep, inv, a[r] = logspace.SteepVarianceRow(largest-top, cols, colGrad)
		}
		kept += keep
		inverted += inv
	}
	if grad != nil {
		kernel.Scatter(grad, a, p.rows, p.rowSlope)
		kernel.Scatter(grad, colGrad, p.cols, p.colSlope)
	}
	return kept, inverted
}

// curvature overwrites second with the diagonal of the Hessian of softplusSum at margin 0. An element is
// (2κ)² Σ p_gb (1 − p_gb) over the pairs of a document.
func (p *pairs) curvature(s, second []float64, scratch *loss.Scratch) {
	p.inversions(s, second, scratch)
	for _, d := range p.rows {
		second[d] *= p.rowSlope
	}
	for _, d := range p.cols {
		second[d] *= p.colSlope
	}
}

// keptLimit returns log Σ_gb (1 − p_gb) in the limit that all pairs are almost surely inverted. Then 1 − p_gb =
// exp(z_gb), so the sum is a product of a sum over goods and a sum over bads. If grad is not nil, keptLimit overwrites
// it with the gradient.
func (p *pairs) keptLimit(s, grad []float64, scratch *loss.Scratch) float64 {
	rows, cols := p.logOdds(s, scratch)
	kernel.Scale(-1, rows)
	kernel.Scale(-1, cols)
	sum := logspace.Softmax(rows, rows) + logspace.Softmax(cols, cols)
	if grad != nil {
		kernel.Scatter(grad, rows, p.rows, -p.rowSlope)
		kernel.Scatter(grad, cols, p.cols, -p.colSlope)
	}
	return sum
}

// smallestLogOdds returns the smallest log odds of an inversion over all pairs.
func (p *pairs) smallestLogOdds(s []float64) float64 {
	row, col := math.Inf(1), math.Inf(1)
	for _, d := range p.rows {
		row = min(row, p.rowSlope*s[d])
	}
	for _, d := range p.cols {
		col = min(col, p.colSlope*s[d])
	}
	return row + col
}
