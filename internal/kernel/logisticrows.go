package kernel

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// RowPadding is the number of elements beyond its columns that [LogisticRows]
// works on.
const RowPadding = 7

// LogisticRows is [LogisticRow] for many good documents. The r-th is paired with the bad documents from
// number from[r] on. a[r] is exp(−z_g) on entry and the sum of the row's p_b on return. a and grad have
// the bits of LogisticRow. The sum of log(1 + r_b) over all pairs takes one logarithm for some thousand
// pairs. Its relative error is below 1e-12, usually near 1e-15.
//
// e and grad are longer than their columns by RowPadding elements, which are 0 in e. So rows need no
// special treatment of their rest. from has the length of a, and no element above the number of columns.
func LogisticRows(a, e, grad []float64, from []int32) (logSum float64) {
	mustMatch(len(grad), len(e))
	mustMatch(len(from), len(a))
	columns := len(e) - RowPadding
	for _, f := range from {
		if f < 0 || int(f) > columns {
			panic(lengthError{int(f), columns})
		}
	}
	for len(a) > 0 {
		n := fewRows(from, columns)
		u, k := logisticRows(a[:n], e, grad, from[:n])
		u, k = normalise(u, k)
		logSum += math.FMA(float64(k), math.Ln2, elementary.Log1pUnit(u))
		a, from = a[n:], from[n:]
	}
	return logSum
}

// mostFactors is the number of pairs that one product is made of, unless it is a
// single row's: its rounding errors grow with them.
const mostFactors = 4096

// fewRows returns how many rows, at least one, have no more pairs than that.
func fewRows(from []int32, columns int) int {
	pairs := 0
	for n, f := range from {
		if pairs += columns - int(f); pairs > mostFactors {
			return max(n, 1)
		}
	}
	return len(from)
}

// factorsAtOnce is how many factors a product takes until it is normalised.
const factorsAtOnce = 8

// logisticRowsGo returns the product of all 1 + r_b as 2^k·(1 + u), 0 ≤ u < 2^8. A row goes to the lanes
// as in [logisticRowGo]. After the eights, a rest of five or more is padded to an eight, four go to the
// first four lanes, and fewer to the last four.
func logisticRowsGo(a, e, grad []float64, from []int32) (u float64, k int64) {
	var o odds
	left := factorsAtOnce
	count := func() {
		if left--; left == 0 {
			o.normalise()
			left = factorsAtOnce
		}
	}
	for r, f := range from {
		o.sum = [8]float64{}
		n := len(e) - RowPadding - int(f)
		cols, g := e[f:], grad[f:]
		for ; n >= 5; n -= 8 {
			o.pass(0, a[r], cols[:8], g)
			count()
			cols, g = cols[8:], g[8:]
		}
		if n > 0 {
			o.pass(lanesOfRest(n), a[r], cols[:4], g)
			count()
		}
		a[r] = o.probSum()
	}
	o.normalise()
	u, k = o.product()
	return u, k
}

// lanesOfRest returns the first lane of up to four last elements.
func lanesOfRest(n int) int {
	if n == 4 {
		return 0
	}
	return 4
}
