package kernel

import (
	"math"
	"math/big"
)

// The functions here are the slow second opinion: Taylor series in 256 bits.

const bigPrecision = 256

func bigNumber(x float64) *big.Float { return new(big.Float).SetPrec(bigPrecision).SetFloat64(x) }

func bigQuo(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(bigPrecision).Quo(a, b)
}

// bigLn2 is 2·atanh(1/3).
var bigLn2 = func() *big.Float {
	sum := bigNumber(0)
	power := bigQuo(bigNumber(2), bigNumber(3))
	for k := 1; k < 200; k += 2 {
		sum.Add(sum, bigQuo(power, bigNumber(float64(k))))
		power.Quo(power, bigNumber(9))
	}
	return sum
}()

func bigExp(x *big.Float) *big.Float {
	approx, _ := x.Float64()
	k := math.Round(approx / math.Ln2)
	r := bigNumber(k)
	r.Sub(x, r.Mul(r, bigLn2))
	sum, term := bigNumber(1), bigNumber(1)
	for n := 1; n < 50; n++ {
		term.Mul(term, r)
		term.Quo(term, bigNumber(float64(n)))
		sum.Add(sum, term)
	}
	return sum.SetMantExp(sum, int(k))
}

// bigLog improves the nearest float64 by Halley's iteration on eʸ = x.
func bigLog(x *big.Float) *big.Float {
	var mantissa big.Float
	exponent := x.MantExp(&mantissa)
	m, _ := mantissa.Float64()
	y := bigNumber(float64(exponent))
	y.Mul(y, bigLn2)
	y.Add(y, bigNumber(math.Log(m)))
	for range 3 {
		e := bigExp(y)
		up, down := bigNumber(0), bigNumber(0)
		up.Sub(x, e)
		down.Add(x, e)
		up.Quo(up, down)
		y.Add(y, up.Mul(up, bigNumber(2)))
	}
	return y
}

// relative returns |got − want|/|want|.
func relative(got float64, want *big.Float) float64 {
	d := bigNumber(got)
	d.Sub(d, want)
	if d.Sign() == 0 {
		return 0
	}
	e, _ := d.Quo(d, want).Float64()
	return math.Abs(e)
}

// ulps returns |got − want| in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	w = math.Abs(w)
	unit := math.Nextafter(w, math.Inf(1)) - w
	if power, exponent := math.Frexp(w); power == 0.5 && w >= 0x1p-1021 {
		unit = math.Ldexp(1, exponent-53) // a power of two counts as the start of its binade
	}
	d := bigNumber(got)
	d.Sub(d, want)
	e, _ := d.Quo(d, bigNumber(unit)).Float64()
	return math.Abs(e)
}
