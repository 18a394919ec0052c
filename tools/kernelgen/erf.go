package main

import (
	"math/big"
)

// The polynomials of the complementary error function in internal/elementary/erf.go.
var (
	// erfPolynomial approximates erf(x)/x as a polynomial in x², for 0 ≤ x ≤ ½.
	erfPolynomial = interpolate(chebyshev(10, 0, 0.25), func(k int) *big.Float {
		c := new(big.Float).Mul(twoOverRootPi(precision), inverse(factorial(k)))
		c.Mul(c, inverse(number(float64(2*k+1))))
		if k%2 == 1 {
			c.Neg(c)
		}
		return c
	})
	// erfcPolynomial approximates (1 + 2x)·exp(x²)·erfc(x) as a polynomial in t = (x − c)/(x + c),
	// c = erfcCentre, for ½ ≤ x ≤ 28. Beyond 28, erfc underflows (M. M. Shepherd and J. G.
	// Laframboise, Chebyshev approximation of (1 + 2x)exp(x²)erfc x in 0 ≤ x < ∞, Mathematics of
	// Computation 36, 1981).
	erfcPolynomial = through(chebyshev(26, (0.5-erfcCentre)/(0.5+erfcCentre), (28-erfcCentre)/(28+erfcCentre)), scaledErfc)
)

const erfcCentre = 3.75

// widePrecision is the precision of scaledErfc in bits. The difference in scaledErfc cancels up to
// 784/ln 2 ≈ 1131 bits, and 256 correct bits must remain.
const widePrecision = 1600

// scaledErfc returns the function of erfcPolynomial at t, computed as (1 + 2x)·(exp(x²) − 2/√π·Σ
// 2ⁿx²ⁿ⁺¹/(2n+1)!!) with more precision than needed.
func scaledErfc(t *big.Float) *big.Float {
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(widePrecision).SetFloat64(x) }
	up, down := wide(1), wide(1)
	up.Add(up, t)
	down.Sub(down, t)
	x := wide(erfcCentre)
	x.Mul(x, up.Quo(up, down))
	square := wide(0).Mul(x, x)

	exponential, power := wide(1), wide(1)
	sum, odd := wide(0), wide(0).Set(x)
	for n := 1; n < 4000; n++ {
		power.Mul(power, square)
		power.Quo(power, wide(float64(n)))
		exponential.Add(exponential, power)
		sum.Add(sum, odd)
		odd.Mul(odd, square)
		odd.Quo(odd, wide(float64(n)+0.5))
	}
	exponential.Sub(exponential, sum.Mul(sum, twoOverRootPi(widePrecision)))
	x.Mul(x, wide(2))
	return exponential.Mul(exponential, x.Add(x, wide(1)))
}

// twoOverRootPi returns 2/√π, by Machin's formula.
func twoOverRootPi(bits uint) *big.Float {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	arctanOfInverse := func(n float64) *big.Float {
		sum, power := number(0), number(1)
		power.Quo(power, number(n))
		for k := 0; k < int(bits); k++ {
			term := number(0).Quo(power, number(float64(2*k+1)))
			if k%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, number(n*n))
		}
		return sum
	}
	pi := arctanOfInverse(5)
	pi.Mul(pi, number(4))
	pi.Sub(pi, arctanOfInverse(239))
	pi.Mul(pi, number(4))
	return number(2).Quo(number(2), pi.Sqrt(pi))
}
