package kernel

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// Exp sets dst[i] = exp(x[i]). The slices have the same length and may be the same slice. The error
// is at most one unit in the last place, also for subnormal results. The result is +Inf above
// 709.78, 0 below −745.13 and NaN for NaN.
func Exp(dst, x []float64) {
	mustMatch(len(dst), len(x))
	exp(dst, x)
}

func expGo(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = elementary.Exp(v)
	}
}

// ExpPlus sets dst[i] = exp(x[i] + a·y[i]). The exponent is rounded once. The slices have the same
// length and may be the same slice. The results have the same bits as a call of [Axpy] followed by
// [Exp].
func ExpPlus(dst, x []float64, a float64, y []float64) {
	mustMatch(len(dst), len(x))
	mustMatch(len(y), len(x))
	expPlus(dst, x, a, y)
}

func expPlusGo(dst, x []float64, a float64, y []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = elementary.Exp(math.FMA(a, y[i], v))
	}
}

// ExpSum sets dst[i] = exp(x[i] − shift) and returns the sum of dst. The slices have the same
// length and may be the same slice. The results have the same bits as calls of [Exp] and [Sum].
func ExpSum(dst, x []float64, shift float64) float64 {
	mustMatch(len(dst), len(x))
	return expSum(dst, x, shift)
}

func expSumGo(dst, x []float64, shift float64) float64 {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = elementary.Exp(v - shift)
	}
	return sumGo(dst)
}

func sumExpGo(x []float64, shift float64) float64 {
	var s lanes
	var block [64]float64
	for len(x) > 0 {
		n := min(len(x), len(block))
		for i, v := range x[:n] {
			block[i] = elementary.Exp(v - shift)
		}
		s.add(block[:n])
		x = x[n:]
	}
	return s.sum()
}

// LogSumExp returns log Σ exp(x[i]) without overflow. It returns −Inf for an empty slice, +Inf if
// an element is +Inf, and NaN if an element is NaN.
func LogSumExp(x []float64) float64 {
	m := Max(x)
	if math.IsInf(m, 0) || m != m {
		return m
	}
	return m + elementary.Log(sumExp(x, m))
}
