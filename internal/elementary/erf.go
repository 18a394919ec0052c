package elementary

import "math"

// Erfc returns the complementary error function 1 − erf(x). The error is below four units in the
// last place if the result is at least 1e-300. Smaller results have an absolute error below 1e-302.
//
// For 0 ≤ x ≤ ½, erfc(x) = 1 − x·p(x²), where p is erfPolynomial. Above ½,
//
//	erfc(x) = exp(−x²)·q(t)/(1 + 2x), t = (x − c)/(x + c), c = erfcCentre,
//
// where q is erfcPolynomial (Shepherd and Laframboise, Mathematics of Computation 36, 1981). x² is
// computed in two parts. erfc(−x) = 2 − erfc(x).
func Erfc(x float64) float64 {
	switch {
	case x != x:
		return x
	case x < -0.5:
		return 2 - erfcAboveHalf(-x)
	case x <= 0.25:
		return 1 - erfUpToHalf(x)
	case x <= 0.5:
		return 0.5 + (0.5 - erfUpToHalf(x))
	}
	return erfcAboveHalf(x)
}

func erfUpToHalf(x float64) float64 {
	z := float64(x * x)
	return float64(x * evenOdd(&erfPolynomial, z, float64(z*z)))
}

func erfcAboveHalf(x float64) float64 {
	if x > 28 {
		return 0
	}
	t := (x - erfcCentre) / (x + erfcCentre)
	q := erfcPolynomial[len(erfcPolynomial)-1]
	for i := len(erfcPolynomial) - 2; i >= 0; i-- {
		q = math.FMA(q, t, erfcPolynomial[i])
	}
	square := float64(x * x)
	lost := math.FMA(x, x, -square)
	e := Exp(-square)
	return float64(math.FMA(e, -lost, e)*q) / (1 + (x + x))
}

// Erfinv returns the inverse of the error function at p, for −1 < p < 1. It returns ±Inf at the
// ends and NaN outside. The error is at most the effect of eight units in the last place of p.
func Erfinv(p float64) float64 {
	switch {
	case p != p || math.Abs(p) > 1:
		return math.NaN()
	case math.Abs(p) == 1:
		return math.Inf(int(p))
	case p < 0:
		return -Erfinv(-p)
	case p < 1e-9:
		return float64(p * (math.SqrtPi / 2))
	case p < 0.25:
		return halley(winitzki(Log1p(-float64(p*p))), func(x float64) float64 { return erfUpToHalf(x) - p })
	}
	return Erfcinv(1 - p)
}

// Erfcinv returns the inverse of the complementary error function at p, for 0 < p < 2. It returns
// +Inf for 0, −Inf for 2 and NaN outside. For p ≥ 1e-300, the error is at most the effect of eight
// units in the last place of p.
func Erfcinv(p float64) float64 {
	switch {
	case p != p || p < 0 || p > 2:
		return math.NaN()
	case p == 0:
		return math.Inf(1)
	case p > 0.75:
		return Erfinv(1 - p)
	}
	return halley(winitzki(Log(float64(p*(2-p)))), func(x float64) float64 { return p - Erfc(x) })
}

// winitzki returns the inverse of the error function to two digits, given l = log(1 − erf²) (S.
// Winitzki, A handy approximation for the error function and its inverse, 2008).
func winitzki(l float64) float64 {
	const a = 0.147
	b := 2/(math.Pi*a) + float64(l/2)
	return math.Sqrt(math.Sqrt(float64(b*b)-l/a) - b)
}

// halley refines x to a zero of over by Halley's method. over is the error function minus its
// target. A step triples the number of correct digits.
func halley(x float64, over func(float64) float64) float64 {
	for range 4 {
		step := float64(float64(over(x)*(math.SqrtPi/2)) * Exp(float64(x*x)))
		x -= step / (1 + float64(x*step))
	}
	return x
}
