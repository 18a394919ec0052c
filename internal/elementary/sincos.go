package elementary

import "math"

// π/2 as a sum of three parts. The first two have trailing zeros, so their products with integers
// of at most 20 bits are exact.
const (
	halfPiHigh   = 0x1.921fb544p+00
	halfPiMiddle = 0x1.0b4611a6p-34
	halfPiLow    = 0x1.3198a2e037073p-69
)

// Sincos returns sin x and cos x for |x| ≤ 2²⁰, and NaN beyond. The error is below the larger of
// two units in the last place and 1e-20.
//
// Let k be x/(π/2) rounded and r = x − k·π/2, so |r| ≤ π/4. Sincos computes the Taylor series of
// sin r and cos r. The quadrant k decides which is the sine, and the signs.
func Sincos(x float64) (sin, cos float64) {
	if !(math.Abs(x) <= 1<<20) {
		return math.NaN(), math.NaN()
	}
	k := math.Round(float64(x * (2 / math.Pi)))
	r := math.FMA(-k, halfPiMiddle, math.FMA(-k, halfPiHigh, x))
	r = math.FMA(-k, halfPiLow, r)
	sin, cos = sineSeries(r), cosineSeries(r)
	switch int64(k) & 3 {
	case 1:
		return cos, -sin
	case 2:
		return -sin, -cos
	case 3:
		return -cos, sin
	}
	return sin, cos
}

func sineSeries(r float64) float64 {
	z := float64(r * r)
	sum := -1.0 / (2 * 3 * 4 * 5 * 6 * 7 * 8 * 9 * 10 * 11 * 12 * 13 * 14 * 15)
	for _, c := range [...]float64{1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6} {
		sum = math.FMA(sum, z, c)
	}
	return math.FMA(float64(r*z), sum, r)
}

func cosineSeries(r float64) float64 {
	z := float64(r * r)
	sum := 1.0 / (2 * 3 * 4 * 5 * 6 * 7 * 8 * 9 * 10 * 11 * 12 * 13 * 14 * 15 * 16)
	for _, c := range [...]float64{-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24} {
		sum = math.FMA(sum, z, c)
	}
	half := float64(0.5 * z)
	w := 1 - half
	return w + ((1 - w - half) + float64(float64(z*z)*sum))
}
