package kernel

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// RowPadding is the number of elements that [LogisticRows] needs after the last column.
const RowPadding = 7

// LogisticRows computes the loss of [LogisticRow] for many relevant documents, one row of pairs
// each. Row r pairs relevant document r with the irrelevant documents from number from[r] on. On
// entry, a[r] is exp(−z_g) of relevant document r. On return, a[r] is the sum of p_b over the row.
// a and grad get the same bits as from LogisticRow. LogisticRows returns the sum of log(1 + r_b)
// over all pairs, which takes one logarithm per several thousand pairs. The relative error of the
// sum is below 1e-12, usually near 1e-15.
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

// mostFactors is the largest number of pairs whose factors 1 + r_b are multiplied into one product.
// Rounding errors grow with this number. Only a product of a single row may have more factors.
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

// logisticRowsGo returns u and k such that the product of all 1 + r_b is 2^k·(1 + u), with 0 ≤ u <
// 2^8. It distributes the pairs of a row over the lanes as [logisticRowGo] does, but uses the
// padding after the row instead of masks. So the last five to seven pairs are processed as eight,
// and the last one to four as four.
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

// lanesOfRest returns the first of the four lanes for the last n pairs of a row, 1 ≤ n ≤ 4.
func lanesOfRest(n int) int {
	if n == 4 {
		return 0
	}
	return 4
}
