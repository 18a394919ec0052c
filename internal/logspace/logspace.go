// Package logspace computes probabilities and odds from their logarithms, with full precision for
// probabilities near 0 or 1.
//
// Start reading at [Bernoulli], for single numbers, and at [Softmax], for slices. The package must
// not know the events of the probabilities. Package kernel has vectorised loops for the same
// functions.
package logspace

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// Softplus returns log(1 + eᵗ) without overflow for large t and without cancellation for negative
// t.
func Softplus(t float64) float64 {
	return max(t, 0) + elementary.Log1p(elementary.Exp(-math.Abs(t)))
}

// Logistic returns 1/(1 + e⁻ᵗ) with full relative precision for t of either sign.
func Logistic(t float64) float64 {
	if t < 0 {
		e := elementary.Exp(t)
		return e / (1 + e)
	}
	return 1 / (1 + elementary.Exp(-t))
}

// Bernoulli returns the probability p = 1/(1 + e⁻ᵗ) of an event with log odds t, and q = 1 − p,
// both with full relative precision.
func Bernoulli(t float64) (p, q float64) {
	e := elementary.Exp(-math.Abs(t))
	likely := 1 / (1 + e)
	if t < 0 {
		return e * likely, likely
	}
	return likely, e * likely
}

// AddExp returns log(eᵃ + eᵇ).
func AddExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + elementary.Log1p(elementary.Exp(b-a))
}

// PrefixLogSumExp sets dst[j] = log Σ_{l≤j} exp(x[l]). dst and x have the same length and may be
// the same slice. Elements of x may be −Inf.
func PrefixLogSumExp(dst, x []float64) { runningLogSumExp(dst[:len(x)], x, 0, 1) }

// SuffixLogSumExp sets dst[j] = log Σ_{l≥j} exp(x[l]). The conditions are those of
// [PrefixLogSumExp].
func SuffixLogSumExp(dst, x []float64) { runningLogSumExp(dst[:len(x)], x, len(x)-1, -1) }

// runningLogSumExp sums x from index from on, upwards or downwards by step.
func runningLogSumExp(dst, x []float64, from, step int) {
	top, sum := math.Inf(-1), 0.0
	for j := from; uint(j) < uint(len(x)); j += step {
		switch v := x[j]; {
		case v > top:
			sum = float64(sum*elementary.Exp(top-v)) + 1
			top = v
		case !math.IsInf(v, -1):
			sum += elementary.Exp(v - top)
		}
		dst[j] = top + elementary.Log(sum)
	}
}

// Softmax sets dst[i] = exp(x[i] − s) and returns s = log Σ exp(x[i]). dst and x have the same
// length and may be the same slice.
func Softmax(dst, x []float64) float64 {
	top := kernel.Max(x)
	sum := kernel.ExpSum(dst, x, top)
	for i := range dst {
		dst[i] /= sum
	}
	return top + elementary.Log(sum)
}
