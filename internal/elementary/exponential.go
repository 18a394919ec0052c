package elementary

import "math"

// Exp returns eˣ. The error is at most one unit in the last place, also for subnormal results. Exp
// returns +Inf above 709.78, 0 below −745.13 and NaN for NaN.
//
// k is x/ln2 rounded to an integer, and r = x − k·ln2. r is computed in two steps, so that no bit
// of k·ln2 is lost. Then
//
//	eˣ = 2^k·(1 + (r + r²·p(r))),
//
// where p is expPolynomial. Adding expMagic puts k + 2046 into the low bits of t. Its halves become
// the exponents of two factors, so that a result too small for one normal factor is rounded once.
// At expLow both factors are 0, which is faster than a product that underflows.
func Exp(x float64) float64 {
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
	return scale(1+lessOne(r), t)
}

// lessOne returns eʳ − 1, for |r| ≤ ln2/2.
func lessOne(r float64) float64 {
	r2 := float64(r * r)
	return math.FMA(evenOdd(&expPolynomial, r, r2), r2, r)
}

// scale returns p·2^k, where the low bits of t are k + 2046.
func scale(p, t float64) float64 {
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

// Exp2 returns 2ˣ. It is exact if x is an integer. Otherwise the error is below one and a half
// units in the last place.
func Exp2(x float64) float64 {
	if x > 1024 {
		x = 1024
	}
	if x < -1100 {
		x = -1100
	}
	t := x + expMagic
	f := x - (t - expMagic) // exact
	r := float64(f * math.Ln2)
	low := math.FMA(f, math.Ln2, -r)
	return scale(1+(lessOne(r)+low), t)
}

// Expm1 returns eˣ − 1 with full relative precision for small x. The error is below two units in
// the last place.
//
// With k and r as in [Exp], eˣ − 1 = 2^k·(eʳ − 1) + (2^k − 1). The second term is exact whenever
// the sum cancels digits.
func Expm1(x float64) float64 {
	switch {
	case x > 40:
		return Exp(x) - 1
	case x < -40:
		return -1
	case math.Abs(x) <= math.Ln2/2:
		if math.Abs(x) < 0x1p-54 {
			return x
		}
		return lessOne(x)
	}
	t := math.FMA(log2E, x, expMagic)
	k := t - expMagic
	r := math.FMA(-k, ln2Hi, x)
	r = math.FMA(-k, ln2Lo, r)
	power := scale(1, t)
	return math.FMA(lessOne(r), power, power-1)
}
