package elementary

import "math"

// LogGamma returns log Γ(x) for x > 0, +Inf for 0 and NaN below. The error is below ε times the
// larger of 1 and the result's magnitude, where ε is 2e-15 for integers and 2e-14 otherwise.
//
// For an integer of at most 171, LogGamma is the logarithm of a product. For other x below 16, it
// uses Γ(x) = Γ(x+n)/(x·(x+1)⋯(x+n−1)). From 16 on, the first seven terms of Stirling's series
//
//	log Γ(x) = (x − ½)·log x − x + ½·log 2π + Σ_j B_2j/(2j·(2j−1)·x^(2j−1))
//
// have an error below 1e-17.
func LogGamma(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0 || x > math.MaxFloat64:
		return math.Inf(1)
	case x <= 171 && x == math.Trunc(x):
		return Log(rising(1, int(x)-1))
	case x < 16:
		n := int(math.Ceil(16 - x))
		return stirling(x+float64(n)) - Log(rising(x, n))
	}
	return stirling(x)
}

// rising returns x·(x+1)⋯(x+n−1).
func rising(x float64, n int) float64 {
	product := 1.0
	for i := range n {
		product = float64(product * (x + float64(i)))
	}
	return product
}

func stirling(x float64) float64 {
	const halfLogTwoPi = 0.918938533204672741780329736405617639
	bernoulli := [...]float64{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156}
	z := 1 / x
	z2 := float64(z * z)
	series := bernoulli[len(bernoulli)-1]
	for i := len(bernoulli) - 2; i >= 0; i-- {
		series = math.FMA(series, z2, bernoulli[i])
	}
	return math.FMA(x-0.5, Log(x), -x) + (halfLogTwoPi + float64(series*z))
}
