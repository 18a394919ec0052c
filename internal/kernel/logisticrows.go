package kernel

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// RowPadding is the number of elements that [LogisticRows] needs after the last column.
const RowPadding = 7

// LogisticRows is [LogisticRow] for many relevant documents. Relevant document r is paired with the
// irrelevant documents from number from[r] on. a[r] is exp(−z_g) on entry and the sum of the p_b of
// row r on return. a and grad get the same bits as from LogisticRow. LogisticRows returns the sum
// of log(1 + r_b) over all pairs, which takes one logarithm per several thousand pairs. The
// relative error of the sum is below 1e-12, usually near 1e-15.
//
// e and grad have one element per irrelevant document and RowPadding more. The padding of e must be
// 0, so that the end of a row needs no special code. from has the length of a. No element of from
// exceeds the number of irrelevant documents.
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

// mostFactors is the largest number of pairs in one product, since rounding errors grow with the
// number of pairs. Only the product of a single row may have more.
const mostFactors = 4096

// fewRows returns the number of rows whose pairs go into one product. The number is at least one.
func fewRows(from []int32, columns int) int {
	pairs := 0
	for n, f := range from {
		if pairs += columns - int(f); pairs > mostFactors {
			return max(n, 1)
		}
	}
	return len(from)
}

// factorsAtOnce is the number of factors that are multiplied before a product is normalised.
const factorsAtOnce = 8

// logisticRowsGo returns the product of all 1 + r_b as 2^k·(1 + u), 0 ≤ u < 2^8. It distributes a
// row over the lanes as [logisticRowGo] does, with the padding as zeros: five to seven last pairs
// count as eight, and one to four as four.
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

// lanesOfRest returns the first lane of the last n pairs of a row, for n up to four.
func lanesOfRest(n int) int {
	if n == 4 {
		return 0
	}
	return 4
}
