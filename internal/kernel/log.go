package kernel

import "math"

// Log sets dst[i] = log(x[i]), for slices of the same length, which may be the
// same slice. The error is below 0.9 units in the last place. The logarithm of a
// zero is −Inf, of +Inf +Inf, of a negative number or NaN NaN.
func Log(dst, x []float64) {
	mustMatch(len(dst), len(x))
	logs(dst, x)
}

func logGo(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = logOne(v)
	}
}

// logOne returns log x = k·ln2 + log(1 + f), where x = 2^k·(1 + f) and 1 + f is
// between √½ and √2.
func logOne(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	m, small := x, 0.0
	if x < 0x1p-1022 {
		m, small = float64(x*0x1p54), 54
	}
	bits := math.Float64bits(m) + (oneBits - sqrtHalfBits)
	k := float64(int(bits>>52)-1023) - small
	f := math.Float64frombits(bits&mantissaBits+sqrtHalfBits) - 1

	s, h, hr := atanhParts(f)
	low := math.FMA(k, ln2Lo, float64(s*hr))
	return math.FMA(k, ln2Hi, -((h - low) - f))
}

// atanhParts splits log(1+f) for −0.3 < f ≤ 1 into a leading term and a small
// correction:
//
//	s = f/(2+f), log(1+f) = 2·atanh(s) = f − (h − s·(h + r)),
//	h = f²/2, r = 2·atanh(s)/s − 2 = s²·p(s²),
//
// p being atanhPolynomial. It returns s, h and h + r.
func atanhParts(f float64) (s, h, hr float64) {
	s = f / (2 + f)
	z := float64(s * s)
	r := float64(z * evenOdd(&atanhPolynomial, z, float64(z*z)))
	h = float64(float64(0.5*f) * f)
	return s, h, h + r
}

// log1pUnit returns log(1+u) for 0 ≤ u ≤ 1.
func log1pUnit(u float64) float64 {
	s, h, hr := atanhParts(u)
	return u - math.FMA(-s, hr, h)
}
