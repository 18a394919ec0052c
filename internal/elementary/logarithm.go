package elementary

import "math"

// Log returns the natural logarithm. The error is below 0.9 units in the last place. Log returns
// −Inf for a zero, +Inf for +Inf, and NaN for a negative number or NaN.
//
// log x = k·ln2 + log(1 + f), where x = 2^k·(1 + f) and 1 + f is between √½ and √2.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	k, f := split(x)
	s, h, hr := atanhParts(f)
	low := math.FMA(k, ln2Lo, float64(s*hr))
	return math.FMA(k, ln2Hi, -((h - low) - f))
}

// split returns k and f with x = 2^k·(1 + f), for positive finite x.
func split(x float64) (k, f float64) {
	m, small := x, 0.0
	if x < 0x1p-1022 {
		m, small = float64(x*0x1p54), 54
	}
	bits := math.Float64bits(m) + (oneBits - sqrtHalfBits)
	return float64(int(bits>>52)-1023) - small, math.Float64frombits(bits&mantissaBits+sqrtHalfBits) - 1
}

// atanhParts splits log(1+f) for −0.3 < f ≤ 1 into a leading term and a small correction:
//
//	s = f/(2+f), log(1+f) = 2·atanh(s) = f − (h − s·(h + r)),
//	h = f²/2, r = 2·atanh(s)/s − 2 = s²·p(s²),
//
// where p is atanhPolynomial. It returns s, h and hr = h + r.
func atanhParts(f float64) (s, h, hr float64) {
	s = f / (2 + f)
	z := float64(s * s)
	r := float64(z * evenOdd(&atanhPolynomial, z, float64(z*z)))
	h = float64(float64(0.5*f) * f)
	return s, h, h + r
}

// Log1pUnit returns log(1+u) for 0 ≤ u ≤ 1. It is faster than [Log1p] and has the bits of the
// kernels' assembly. The error is below two units in the last place.
func Log1pUnit(u float64) float64 {
	s, h, hr := atanhParts(u)
	return u - math.FMA(-s, hr, h)
}

// Log1p returns log(1+x) with full relative precision for small x. The error is below two units in
// the last place. Log1p returns −Inf for −1 and NaN below.
func Log1p(x float64) float64 {
	switch {
	case -0.25 < x && x < 0.5:
		if math.Abs(x) < 0x1p-54 {
			return x
		}
		return Log1pUnit(x)
	case !(x > -1) || x > 0x1p60:
		return Log(1 + x)
	}
	y := 1 + x
	lost := x - (y - 1) // exact if x ≤ 1
	if x > 1 {
		lost = 1 - (y - x)
	}
	return Log(y) + lost/y
}

// Log2 returns the logarithm to base 2. It is exact if x is a power of two. Otherwise the error is
// below two units in the last place.
func Log2(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		return Log(x)
	}
	k, f := split(x)
	s, h, hr := atanhParts(f)
	l := f - math.FMA(-s, hr, h)
	return math.FMA(l, log2E, math.FMA(l, log2ELow, k))
}

// log2ELow is 1/ln2 − [log2E].
const log2ELow = 2.0355273740931033e-17

// Log10 returns the logarithm to base 10. It is exact if x is a power of ten or the float64 nearest
// to one. Otherwise the error is below three units in the last place.
func Log10(x float64) float64 {
	l := Log(x) / math.Ln10
	if n := math.Round(l); math.Abs(n) <= 308 && x == math.Pow10(int(n)) {
		return n
	}
	return l
}
