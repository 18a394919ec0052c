package numtest

import (
	"math"
	"math/big"
)

// The functions in this file are slow independent versions of elementary functions: Taylor series
// in 256 bits.

const bigPrecision = 256

// Big returns x with a precision of 256 bits.
func Big(x float64) *big.Float { return new(big.Float).SetPrec(bigPrecision).SetFloat64(x) }

// BigQuo returns a/b.
func BigQuo(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(bigPrecision).Quo(a, b)
}

// BigLn2 is 2·atanh(1/3).
var BigLn2 = func() *big.Float {
	sum := Big(0)
	power := BigQuo(Big(2), Big(3))
	for k := 1; k < 200; k += 2 {
		sum.Add(sum, BigQuo(power, Big(float64(k))))
		power.Quo(power, Big(9))
	}
	return sum
}()

// BigExp returns eˣ by the Taylor series about the nearest multiple of ln 2.
func BigExp(x *big.Float) *big.Float {
	approx, _ := x.Float64()
	k := math.Round(approx / math.Ln2)
	r := Big(k)
	r.Sub(x, r.Mul(r, BigLn2))
	sum, term := Big(1), Big(1)
	for n := 1; n < 50; n++ {
		term.Mul(term, r)
		term.Quo(term, Big(float64(n)))
		sum.Add(sum, term)
	}
	return sum.SetMantExp(sum, int(k))
}

// BigLog returns log x. It starts at the nearest float64 and applies Halley's iteration to eʸ = x.
func BigLog(x *big.Float) *big.Float {
	var mantissa big.Float
	exponent := x.MantExp(&mantissa)
	m, _ := mantissa.Float64()
	y := Big(float64(exponent))
	y.Mul(y, BigLn2)
	y.Add(y, Big(math.Log(m)))
	for range 3 {
		e := BigExp(y)
		up, down := Big(0), Big(0)
		up.Sub(x, e)
		down.Add(x, e)
		up.Quo(up, down)
		y.Add(y, up.Mul(up, Big(2)))
	}
	return y
}

// Relative returns |got − want|/|want|.
func Relative(got float64, want *big.Float) float64 {
	d := Big(got)
	d.Sub(d, want)
	if d.Sign() == 0 {
		return 0
	}
	e, _ := d.Quo(d, want).Float64()
	return math.Abs(e)
}

// Ulps returns |got − want| in units of the last place of want.
func Ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	w = math.Abs(w)
	unit := math.Nextafter(w, math.Inf(1)) - w
	if power, exponent := math.Frexp(w); power == 0.5 && w >= 0x1p-1021 {
		unit = math.Ldexp(1, exponent-53) // a power of two counts as the start of its binade
	}
	d := Big(got)
	d.Sub(d, want)
	e, _ := d.Quo(d, Big(unit)).Float64()
	return math.Abs(e)
}
