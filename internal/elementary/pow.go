package elementary

import "math"

// Pow returns xʸ, with the special cases of math.Pow. The error depends on y. If y is an integer
// and |y| ≤ 64, the result is exact if it needs at most 53 bits, and otherwise the error is below
// |y| units in the last place. For other y, the error is below 2 + |y·log x|/8 units.
func Pow(x, y float64) float64 {
	switch {
	case x == 0 || x != x || y != y || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Pow(x, y) // no arithmetic
	case y == math.Trunc(y) && math.Abs(y) <= 64:
		return integerPower(x, int(y))
	case x < 0 && y != math.Trunc(y):
		return math.NaN()
	case x < 0 && math.Mod(y, 2) != 0:
		return -positivePower(-x, y)
	}
	return positivePower(math.Abs(x), y)
}

// integerPower returns xⁿ by repeated squaring.
func integerPower(x float64, n int) float64 {
	result, left := 1.0, max(n, -n)
	for square := x; left > 0; square = float64(square * square) {
		if left%2 == 1 {
			result = float64(result * square)
		}
		left /= 2
	}
	if n < 0 {
		return 1 / result
	}
	return result
}

// positivePower returns exp(y·log x). The logarithm and its product with y are computed in two
// parts.
func positivePower(x, y float64) float64 {
	high, low := logParts(x)
	p := float64(y * high)
	if !(math.Abs(p) < 2000) {
		return Exp(p)
	}
	rest := math.FMA(y, high, -p) + float64(y*low)
	e := Exp(p)
	if e > math.MaxFloat64 {
		return e
	}
	return math.FMA(e, rest, e)
}

// logParts returns log x of a positive finite number as a sum of two terms. high has 53 bits, and
// the sum about 58. logParts uses log(1+f) = 2s + s³·p(s²), with s = f/(2+f) in two parts.
func logParts(x float64) (high, low float64) {
	k, f := split(x)
	d := 2 + f
	lost := f - (d - 2)
	s := f / d
	rest := (math.FMA(-s, d, f) - float64(s*lost)) / d
	z := float64(s * s)
	tail := float64(float64(s*z) * evenOdd(&atanhPolynomial, z, float64(z*z)))

	high, low = add(float64(k*ln2Hi), s+s) // both exact
	low += float64(k*ln2Lo) + ((rest + rest) + tail)
	return add(high, low)
}

// add returns a + b rounded, and the rounding error.
func add(a, b float64) (sum, lost float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}
