package elementary

import "math"

// Beta returns the regularised incomplete beta function I_x(a, b) for a, b > 0 and 0 ≤ x ≤ 1, and
// NaN for other arguments. The relative error is below the larger of 1e-12·(1 + a + b)/100 and
// 1e-12.
//
// For x ≤ (a+1)/(a+b+2), it is xᵃ(1−x)ᵇ/(a·B(a, b)) times the continued fraction of DLMF 8.17.22,
// which converges fast. Lentz's method evaluates the fraction. For larger x, it is 1 − I_{1−x}(b,
// a).
func Beta(a, b, x float64) float64 {
	switch {
	case !(a > 0 && b > 0 && x >= 0 && x <= 1):
		return math.NaN()
	case x == 0 || x == 1:
		return x
	case x > (a+1)/(a+b+2):
		return 1 - betaTail(b, a, 1-x)
	}
	return betaTail(a, b, x)
}

func betaTail(a, b, x float64) float64 {
	front := LogGamma(a+b) - LogGamma(a) - LogGamma(b)
	front += float64(a*Log(x)) + float64(b*Log1p(-x))
	return Exp(front) / a / betaFraction(a, b, x)
}

// betaFraction returns 1 + d₁/(1 + d₂/(1 + …)).
func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300
	value, c, d := 1.0, 1.0, 0.0
	for n := 1; n < 10000; n++ {
		m := float64(n / 2)
		term := float64(float64(m*(b-m))*x) / float64((a+float64(2*m)-1)*(a+float64(2*m)))
		if n%2 == 1 {
			term = -float64(float64((a+m)*(a+b+m))*x) / float64((a+float64(2*m))*(a+float64(2*m)+1))
		}
		if d = 1 + float64(term*d); d == 0 {
			d = tiny
		}
		if c = 1 + term/c; c == 0 {
			c = tiny
		}
		d = 1 / d
		step := float64(c * d)
		value = float64(value * step)
		if math.Abs(step-1) < 0x1p-52 {
			break
		}
	}
	return value
}

// BetaInverse returns the x with I_x(a, b) = p, for a, b > 0 and 0 ≤ p ≤ 1, and NaN for other
// arguments. It bisects the bit patterns of the float64s between 0 and 1 until two neighbours
// remain. So small results have the same relative precision as large ones.
func BetaInverse(a, b, p float64) float64 {
	switch {
	case !(a > 0 && b > 0 && p >= 0 && p <= 1):
		return math.NaN()
	case p == 0 || p == 1:
		return p
	}
	low, high := uint64(0), math.Float64bits(1)
	for high-low > 1 {
		middle := low + (high-low)/2
		if Beta(a, b, math.Float64frombits(middle)) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Float64frombits(high)
}
