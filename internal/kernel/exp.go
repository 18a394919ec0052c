package kernel

import "math"

// Exp sets dst[i] = exp(x[i]), for slices of the same length, which may be the
// same slice. The error is at most one unit in the last place, subnormal results
// included; above 709.78 the result is +Inf, below −745.13 zero, and NaN for NaN.
func Exp(dst, x []float64) {
	mustMatch(len(dst), len(x))
	exp(dst, x)
}

func expGo(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = expOne(v)
	}
}

// expOne returns eˣ. With k = x/ln2 rounded to an integer and r = x − k·ln2, in
// two steps so that nothing of k·ln2 is lost,
//
//	eˣ = 2^k·(1 + (r + r²·p(r))),
//
// p being expPolynomial. Adding expMagic leaves k + 2046 in the low bits of t; its
// halves become the exponents of two factors, so that a result too small for one
// normal factor is rounded once. At expLow both factors are 0, which takes the
// processor less time than a product that underflows.
func expOne(x float64) float64 {
	if x > expHigh {
		x = expHigh
	}
	if x < expLow {
		x = expLow
	}
	t := math.FMA(log2E, x, expMagic)
	k := t - expMagic
	r := math.FMA(-k, ln2Hi, x)
	r = math.FMA(-k, ln2Lo, r)
	r2 := float64(r * r)
	p := 1 + math.FMA(evenOdd(&expPolynomial, r, r2), r2, r)

	bits := math.Float64bits(t)
	half := bits >> 1
	p = float64(p * math.Float64frombits(half<<52))
	return float64(p * math.Float64frombits((bits-half)<<52))
}

// evenOdd returns the polynomial c at z, given z2 = z².
func evenOdd(c *[10]float64, z, z2 float64) float64 {
	even, odd := c[8], c[9]
	for j := 6; j >= 0; j -= 2 {
		even = math.FMA(even, z2, c[j])
		odd = math.FMA(odd, z2, c[j+1])
	}
	return math.FMA(odd, z, even)
}

// ExpPlus sets dst[i] = exp(x[i] + a·y[i]), the exponent with one rounding; the
// slices have the same length and may be the same. The bits are those of [Axpy] and
// [Exp].
func ExpPlus(dst, x []float64, a float64, y []float64) {
	mustMatch(len(dst), len(x))
	mustMatch(len(y), len(x))
	expPlus(dst, x, a, y)
}

func expPlusGo(dst, x []float64, a float64, y []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = expOne(math.FMA(a, y[i], v))
	}
}

// ExpSum sets dst[i] = exp(x[i] − shift) and returns their sum; the slices have
// the same length and may be the same. The bits are those of [Exp] and [Sum].
func ExpSum(dst, x []float64, shift float64) float64 {
	mustMatch(len(dst), len(x))
	return expSum(dst, x, shift)
}

func expSumGo(dst, x []float64, shift float64) float64 {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = expOne(v - shift)
	}
	return sumGo(dst)
}

func sumExpGo(x []float64, shift float64) float64 {
	var s lanes
	var block [64]float64
	for len(x) > 0 {
		n := min(len(x), len(block))
		for i, v := range x[:n] {
			block[i] = expOne(v - shift)
		}
		s.add(block[:n])
		x = x[n:]
	}
	return s.sum()
}

// LogSumExp returns log Σ exp(x[i]) without overflow; −Inf for no elements. An
// element of +Inf gives +Inf, a NaN gives NaN.
func LogSumExp(x []float64) float64 {
	m := Max(x)
	if math.IsInf(m, 0) || m != m {
		return m
	}
	return m + logOne(sumExp(x, m))
}
