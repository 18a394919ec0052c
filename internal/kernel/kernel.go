// Package kernel holds the vector loops that learning to rank spends its time
// in. Every function exists as portable Go, the reference, and on amd64 with
// AVX2 as generated assembly chosen when the program starts; both give the same
// bits.
//
// The package knows slices and nothing else. Lengths that do not match are a
// programmer's mistake and panic.
package kernel

import "math"

// Dot returns Σ x[i]·y[i].
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s float64
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Dot32 returns Σ x[i]·w[i] with x widened to float64.
func Dot32(x []float32, w []float64) float64 {
	w = w[:len(x)]
	var s float64
	for i, v := range x {
		s += float64(v) * w[i]
	}
	return s
}

// Axpy adds a·x to y.
func Axpy(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

// Gemv sets dst[i] to the product of row i of the row-major matrix x, of len(w)
// columns and len(dst) rows, with w: all documents' scores under a linear scorer.
func Gemv(dst []float64, x []float32, w []float64) {
	d := len(w)
	for i := range dst {
		dst[i] = Dot32(x[i*d:(i+1)*d], w)
	}
}

// GemvT adds Xᵀ·lambda to grad, for the row-major matrix x of len(grad) columns
// and len(lambda) rows: the way back from documents to weights.
func GemvT(grad []float64, x []float32, lambda []float64) {
	d := len(grad)
	for i, l := range lambda {
		for j, v := range x[i*d : (i+1)*d] {
			grad[j] += l * float64(v)
		}
	}
}

// Max returns the largest element, −Inf for none; NaN if any element is.
func Max(x []float64) float64 {
	m := math.Inf(-1)
	for _, v := range x {
		m = math.Max(m, v)
	}
	return m
}

// Sum returns Σ x[i].
func Sum(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s
}

// Exp sets dst[i] = exp(x[i]); dst and x may be the same slice.
func Exp(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = math.Exp(v)
	}
}

// ExpSum sets dst[i] = exp(x[i] − shift) and returns their sum; dst and x may be
// the same slice.
func ExpSum(dst, x []float64, shift float64) float64 {
	dst = dst[:len(x)]
	var s float64
	for i, v := range x {
		e := math.Exp(v - shift)
		dst[i] = e
		s += e
	}
	return s
}

// LogSumExp returns log Σ exp(x[i]) without overflow; −Inf for no elements. An
// element of +Inf gives +Inf, a NaN gives NaN.
func LogSumExp(x []float64) float64 {
	m := Max(x)
	if math.IsInf(m, 0) || m != m {
		return m
	}
	var s float64
	for _, v := range x {
		s += math.Exp(v - m)
	}
	return m + math.Log(s)
}

// GatherDiff sets dst[i] = s[plus[i]] − s[minus[i]].
func GatherDiff(dst, s []float64, plus, minus []int32) {
	plus, minus = plus[:len(dst)], minus[:len(dst)]
	for i := range dst {
		dst[i] = s[plus[i]] - s[minus[i]]
	}
}

// ScatterDiff adds c[i] to s[plus[i]] and subtracts it from s[minus[i]], in the
// order of i: the adjoint of GatherDiff.
func ScatterDiff(s, c []float64, plus, minus []int32) {
	plus, minus = plus[:len(c)], minus[:len(c)]
	for i, v := range c {
		s[plus[i]] += v
		s[minus[i]] -= v
	}
}

// LogisticRow computes one good document's part of the pairwise logistic loss
// against many bad ones. With r_b = a·e[b] (a = exp(−z_g), e[b] = exp(z_b), so r_b
// = exp(z_b − z_g)), it returns Σ_b log(1 + r_b) and Σ_b p_b, p_b = r_b/(1 + r_b),
// and adds p_b to grad[b]. All r_b must be at most 2^100; a and e finite and
// non-negative.
func LogisticRow(a float64, e, grad []float64) (logSum, probSum float64) {
	grad = grad[:len(e)]
	for b, v := range e {
		r := a * v
		p := r / (1 + r)
		grad[b] += p
		probSum += p
		logSum += math.Log1p(r)
	}
	return logSum, probSum
}
