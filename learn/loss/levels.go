package loss

import (
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
)

// staircase contains all pairs of documents of a query with different grades, for any number of grades.
// The documents are in ascending or descending order of grade. A row is a document. Its columns are the
// documents of all later grades, which are adjacent:
//
//	grades   3 2 2 1 0 0 0          rows     3 2 2 1
//	                                columns    2 2 1 0 0 0     row 3 from 0, rows 2 from 2, row 1 from 3
//
// Of the two orders, staircase uses the one with fewer rows. With two grades, it is the rectangle of all
// pairs.
type staircase struct {
	rows, cols         []int32
	from               []int32 // from[r] is the first column that row r is paired with
	rowSlope, colSlope float64 // −σ for the better, σ for the worse document of a pair
	count              int     // number of pairs
}

func newStaircase(grades []float64, sigma float64) staircase {
	order := make([]int32, len(grades))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch ga, gb := grades[a], grades[b]; {
		case ga > gb:
			return -1
		case ga < gb:
			return 1
		}
		return 0
	})
	ends := levelEnds(grades, order)
	n := len(order)
	if len(ends) < 2 {
		return staircase{}
	}
	p := staircase{rowSlope: -sigma, colSlope: sigma}
	if highest, lowest := ends[0], n-ends[len(ends)-2]; highest > lowest {
		slices.Reverse(order)
		ends = levelEnds(grades, order)
		p.rowSlope, p.colSlope = sigma, -sigma
	}
	p.rows, p.cols = order[:ends[len(ends)-2]], order[ends[0]:]
	p.from = make([]int32, len(p.rows))
	level := 0
	for r := range p.rows {
		if r == ends[level] {
			level++
		}
		p.from[r] = int32(ends[level] - ends[0])
		p.count += n - ends[level]
	}
	return p
}

// levelEnds returns the end of each run of equal grades in order.
func levelEnds(grades []float64, order []int32) []int {
	var ends []int
	for i := range order {
		if i+1 == len(order) || grades[order[i+1]] != grades[order[i]] {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// softplusSum returns Σ log(1 + exp(−σ(s_i − s_j))) over all pairs, where i is the better document. If
// lambda is not nil, softplusSum overwrites it with the negative gradient.
//
// The loop over pairs evaluates no exponentials: exp(σ(s_j − s_i)) is the product of a number for each
// of the two documents.
func (p *staircase) softplusSum(s, lambda []float64, scratch *Scratch) float64 {
	rows, cols := scratch.Floats(len(p.rows)), scratch.Floats(len(p.cols))
	kernel.Gather(rows, s, p.rows, p.rowSlope)
	kernel.Gather(cols, s, p.cols, p.colSlope)
	padded := len(cols) + kernel.RowPadding
	a, e, colGrad := scratch.Floats(len(rows)), scratch.Floats(padded), scratch.Floats(padded)
	clear(e[len(cols):])
	clear(colGrad)
	top := kernel.Max(cols)
	kernel.ExpSum(e[:len(cols)], cols, top)
	for r, v := range rows {
		a[r] = min(v+top, kernel.MaxLogOdds)
	}
	kernel.Exp(a, a)

	var total float64
	work := scratch.Floats(len(cols))
	for r := 0; r < len(rows); {
		if n := flat(rows[r:], kernel.MaxLogOdds-top); n > 0 {
			total += kernel.LogisticRows(a[r:r+n], e, colGrad, p.from[r:r+n])
			r += n
			continue
		}
		from := p.from[r]
		var sum float64
		sum, a[r] = kernel.SteepLogisticRow(rows[r], cols[from:], colGrad[from:len(cols)], work[from:])
		total += sum
		r++
	}
	if lambda != nil {
		clear(lambda)
		scatterAdd(lambda, a, p.rows, -p.rowSlope)
		scatterAdd(lambda, colGrad, p.cols, -p.colSlope)
	}
	return total
}

// curvature overwrites second with the diagonal of softplusSum's Hessian.
func (p *staircase) curvature(s, second []float64, scratch *Scratch) {
	rows, cols := scratch.Floats(len(p.rows)), scratch.Floats(len(p.cols))
	kernel.Gather(rows, s, p.rows, p.rowSlope)
	kernel.Gather(cols, s, p.cols, p.colSlope)
	e, colSum := scratch.Floats(len(cols)), scratch.Floats(len(cols))
	top := kernel.Max(cols)
	kernel.ExpSum(e, cols, top)
	clear(colSum)
	for r, v := range rows {
		from := p.from[r]
		if v+top <= kernel.MaxLogOdds {
			_, _, rows[r] = logspace.VarianceRow(elementary.Exp(v+top), e[from:], colSum[from:])
		} else {
			_, _, rows[r] = logspace.SteepVarianceRow(v, cols[from:], colSum[from:])
		}
	}
	clear(second)
	scatterAdd(second, rows, p.rows, p.rowSlope*p.rowSlope)
	scatterAdd(second, colSum, p.cols, p.colSlope*p.colSlope)
}

// flat returns the number of rows before the first one that is greater than most.
func flat(rows []float64, most float64) int {
	for r, v := range rows {
		if v > most {
			return r
		}
	}
	return len(rows)
}

// scatterAdd adds scale·x[i] to s[docs[i]].
func scatterAdd(s, x []float64, docs []int32, scale float64) {
	x = x[:len(docs)]
	for i, d := range docs {
		s[d] += float64(scale * x[i])
	}
}
