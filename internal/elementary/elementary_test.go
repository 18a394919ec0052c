package elementary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/internal/testing/numtest"
)

// powers returns numbers of both small and large exponents.
func powers(n int, low, high float64) []float64 {
	x := numtest.Spread(n, low, high)
	for i := range x {
		x[i] = math.Exp2(x[i])
	}
	return x
}

func plus(x *big.Float, y float64) *big.Float { return new(big.Float).Add(x, numtest.Big(y)) }

// series returns Σ terms until they are below 2⁻²⁷⁰⁰ of the sum; next gives a term from the one before.
func series(first *big.Float, next func(term *big.Float, n int) *big.Float) *big.Float {
	sum := new(big.Float).Set(first)
	term := new(big.Float).Set(first)
	for n := 1; n < 5000; n++ {
		term = next(term, n)
		sum.Add(sum, term)
		if n > 8 && (term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-2700) {
			break
		}
	}
	return sum
}

// bigErfc is by 2/√π·∫ₓ exp(−t²) dt = 1 − 2/√π·e^(−x²)·Σ 2ⁿx²ⁿ⁺¹/(2n+1)!! in 2,600 bits, with
// √π from Γ(½)'s duplication, that is from π by Gauss and Legendre.
func bigErfc(x *big.Float) *big.Float {
	const bits = 2600
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
	z := wide(0).Set(x)
	square := wide(0).Mul(z, z)
	sum := series(z, func(t *big.Float, n int) *big.Float {
		t = wide(0).Mul(t, square)
		return t.Quo(t, wide(float64(n)+0.5))
	})
	// exp(x²) by its series, with as many bits.
	e := series(wide(1), func(t *big.Float, n int) *big.Float {
		t = wide(0).Mul(t, square)
		return t.Quo(t, wide(float64(n)))
	})
	sum.Mul(sum, wide(2))
	sum.Quo(sum, wide(0).Sqrt(bigPi(bits)))
	return e.Quo(wide(0).Sub(e, sum), e)
}

// bigPi is by the arithmetic-geometric mean.
func bigPi(bits uint) *big.Float {
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(bits + 64).SetFloat64(v) }
	a, b, t, p := wide(1), wide(0).Sqrt(wide(0.5)), wide(0.25), wide(1)
	for range 14 {
		mean := wide(0).Add(a, b)
		mean.Quo(mean, wide(2))
		b = wide(0).Sqrt(wide(0).Mul(a, b))
		d := wide(0).Sub(a, mean)
		t.Sub(t, d.Mul(d, wide(0).Mul(d, p)))
		p.Mul(p, wide(2))
		a = mean
	}
	a.Add(a, b)
	a.Mul(a, a)
	return a.Quo(a, t.Mul(t, wide(4)))
}

// bigSine is by the series about zero, in 2,600 bits.
func bigSine(x *big.Float) *big.Float {
	z := new(big.Float).SetPrec(2600).Set(x)
	square := new(big.Float).Mul(z, z)
	return series(z, func(t *big.Float, n int) *big.Float {
		t = new(big.Float).Mul(t, square)
		t.Quo(t, numtest.Big(float64(2*n)*float64(2*n+1)))
		return t.Neg(t)
	})
}

// The accuracy that the comments state, against series in 256 bits and more.
func TestAccuracy(t *testing.T) {
	inverseLn2 := numtest.BigQuo(numtest.Big(1), numtest.BigLn2)
	log2 := func(x *big.Float) *big.Float { l := numtest.BigLog(x); return l.Mul(l, inverseLn2) }
	for _, c := range []struct {
		name  string
		f     func(float64) float64
		exact func(*big.Float) *big.Float
		x     []float64
		most  float64
	}{
		{"Exp", Exp, numtest.BigExp, numtest.Spread(2000, -708, 709), 1},
		{"Exp near 0", Exp, numtest.BigExp, numtest.Spread(2000, -1, 1), 1},
		{"Exp2", Exp2, func(x *big.Float) *big.Float { return numtest.BigExp(new(big.Float).Mul(x, numtest.BigLn2)) }, numtest.Spread(2000, -1021, 1023), 1.5},
		{"Expm1", Expm1, func(x *big.Float) *big.Float { return plus(numtest.BigExp(x), -1) }, numtest.Spread(2000, -45, 45), 2},
		{"Expm1 near 0", Expm1, func(x *big.Float) *big.Float { return plus(numtest.BigExp(x), -1) }, append(numtest.Spread(2000, -1, 1), powers(400, -60, 0)...), 2},
		{"Log", Log, numtest.BigLog, append(powers(1000, -1074, 1023), numtest.Spread(1000, 0.5, 2)...), 0.9},
		{"Log1p", Log1p, func(x *big.Float) *big.Float { return numtest.BigLog(plus(x, 1)) }, append(powers(1000, -60, 70), numtest.Spread(2000, -0.999, 2)...), 2},
		{"Log2", Log2, log2, append(powers(1000, -1022, 1023), numtest.Spread(2000, 0.5, 3)...), 2},
		{"Log10", Log10, func(x *big.Float) *big.Float {
			return numtest.BigQuo(numtest.BigLog(x), numtest.BigLog(numtest.Big(10)))
		}, powers(1000, -1022, 1023), 3},
		{"sine", func(x float64) float64 { s, _ := Sincos(x); return s }, bigSine, numtest.Spread(2000, -8, 8), 2},
		{"cosine", func(x float64) float64 { _, c := Sincos(x); return c }, func(x *big.Float) *big.Float {
			half := bigPi(256)
			return bigSine(half.Sub(half.Quo(half, numtest.Big(2)), x))
		}, numtest.Spread(2000, -900, 900), 2},
		{"Erfc", Erfc, bigErfc, append(numtest.Spread(400, -6, 6), numtest.Spread(300, 0, 26)...), 4},
	} {
		largest, at := 0.0, 0.0
		for i, x := range c.x {
			if i%5 != 0 && !long.Enabled() {
				continue
			}
			if e := numtest.Ulps(c.f(x), c.exact(numtest.Big(x))); !(e <= largest) {
				largest, at = e, x
			}
		}
		t.Logf("%s: at most %.3g units in the last place, at %v", c.name, largest, at)
		if !(largest <= c.most) {
			t.Errorf("%s is off by %.3g units in the last place at %v, want at most %v", c.name, largest, at, c.most)
		}
	}
}

// The accuracy of Pow by the size of its exponent, as its comment states it.
func TestPowAccuracy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	worst := 0.0
	for range 4000 {
		x := math.Exp2(40*r.Float64() - 20)
		y := 400*r.Float64() - 200
		if r.IntN(4) == 0 {
			y = math.Round(y)
		}
		size := math.Abs(y * math.Log(x))
		if size > 700 {
			continue
		}
		exact := numtest.BigLog(numtest.Big(x))
		exact = numtest.BigExp(exact.Mul(exact, numtest.Big(y)))
		most := 2 + size/8
		if y == math.Trunc(y) && math.Abs(y) <= 64 {
			most = math.Abs(y) + 1
		}
		e := numtest.Ulps(Pow(x, y), exact)
		worst = max(worst, e/most)
		if !(e <= most) {
			t.Errorf("%v to the %v is off by %.3g units in the last place, want at most %.3g", x, y, e, most)
		}
	}
	t.Logf("at most %.2g of what is stated", worst)
	for x := range 17 {
		for y := range 13 {
			want := 1
			for range y {
				want *= x
			}
			if got := Pow(float64(x), float64(y)); got != float64(want) {
				t.Errorf("%d to the %d is %v, want %d", x, y, got, want)
			}
		}
	}
}

// Powers of two and of ten are exact, and so are their logarithms.
func TestExactPowers(t *testing.T) {
	for k := -1074; k <= 1023; k++ {
		x := math.Ldexp(1, k)
		if got := Log2(x); got != float64(k) {
			t.Errorf("Log2(2^%d) = %v", k, got)
		}
		if got := Exp2(float64(k)); got != x {
			t.Errorf("Exp2(%d) = %v", k, got)
		}
	}
	for k := -300; k <= 300; k++ {
		if got := Log10(math.Pow10(k)); got != float64(k) {
			t.Errorf("Log10(10^%d) = %v", k, got)
		}
	}
}

// Erfinv inverts the error function.
func TestErfinv(t *testing.T) {
	for _, p := range append(numtest.Spread(400, -1, 1), 1e-12, 1e-9, 0.5, 1-1e-9, 0.25) {
		x := Erfinv(p)
		// The condition of the inverse: how far p moves where x moves by its last place.
		slope := 2 / math.SqrtPi * math.Exp(-x*x)
		got := new(big.Float).Sub(numtest.Big(1), bigErfc(numtest.Big(x)))
		off, _ := got.Sub(got, numtest.Big(p)).Float64()
		if bound := 8 * (math.Abs(x)*slope + math.Abs(p)) * 0x1p-52; !(math.Abs(off) <= bound) {
			t.Errorf("erf(Erfinv(%v)) is off by %v, want at most %v", p, off, bound)
		}
	}
}

// Erfcinv inverts the complementary error function, far into its tail.
func TestErfcinv(t *testing.T) {
	for _, p := range append(powers(300, -990, 1), 1e-300, 0.75, 1, 1.5, 1.999) {
		x := Erfcinv(p)
		if off := math.Abs(Erfc(x)-p) / p; !(off <= 64*0x1p-52*max(1, x*x)) {
			t.Errorf("erfc(Erfcinv(%v)) is off by %v of it", p, off)
		}
	}
}

// LogGamma against factorials, half integers and the standard library.
func TestLogGamma(t *testing.T) {
	near := func(x, got, want float64) {
		most := 2e-14
		if x == math.Trunc(x) {
			most = 2e-15
		}
		if math.Abs(got-want) > most*max(1, math.Abs(want)) {
			t.Errorf("LogGamma(%v) = %v, want %v", x, got, want)
		}
	}
	factorial := numtest.Big(1)
	for n := 1; n < 1000; n++ {
		want, _ := numtest.BigLog(factorial).Float64()
		near(float64(n), LogGamma(float64(n)), want)
		factorial.Mul(factorial, numtest.Big(float64(n)))
	}
	half := new(big.Float).Sqrt(bigPi(256))
	for n := range 400 {
		want, _ := numtest.BigLog(half).Float64()
		near(float64(n)+0.5, LogGamma(float64(n)+0.5), want)
		half.Mul(half, numtest.Big(float64(n)+0.5))
	}
	for _, x := range numtest.Spread(3000, 0.01, 40) {
		want, _ := math.Lgamma(x)
		near(x, LogGamma(x), want)
	}
}

// Infinities, NaN, zeros and the ends of the ranges give what package math gives.
func TestSpecialValues(t *testing.T) {
	values := []float64{math.Inf(-1), -1e300, -746, -745.2, -1, -0.5, math.Copysign(0, -1), 0, 0x1p-1022, 0.5, 1, 2, 27.3, 709.7, 710, 1e300, math.MaxFloat64, math.Inf(1), math.NaN()}
	same := func(a, b float64) bool {
		return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b || numtest.Near(a, b, 1e-13) && a != 0
	}
	lgamma := func(x float64) float64 {
		if x < 0 {
			return math.NaN()
		}
		l, _ := math.Lgamma(x)
		return l
	}
	for _, c := range []struct {
		name      string
		got, want func(float64) float64
	}{
		{"Exp", Exp, math.Exp}, {"Exp2", Exp2, math.Exp2}, {"Expm1", Expm1, math.Expm1}, {"Log", Log, math.Log}, {"Log1p", Log1p, math.Log1p},
		{"Log2", Log2, math.Log2}, {"Log10", Log10, math.Log10}, {"Erfc", Erfc, math.Erfc}, {"Erfinv", Erfinv, math.Erfinv}, {"Erfcinv", Erfcinv, math.Erfcinv}, {"LogGamma", LogGamma, lgamma},
	} {
		for _, x := range values {
			if got, want := c.got(x), c.want(x); !same(got, want) {
				t.Errorf("%s(%v) = %v, want %v", c.name, x, got, want)
			}
		}
	}
	for _, x := range values {
		for _, y := range append(values, 2.5, -3, 3, 65, 66, -65) {
			if got, want := Pow(x, y), math.Pow(x, y); !same(got, want) {
				t.Errorf("Pow(%v, %v) = %v, want %v", x, y, got, want)
			}
		}
	}
}

// Each function beside the standard library's, in one run.
func BenchmarkOverMath(b *testing.B) {
	x := numtest.Spread(1000, 0.01, 3)
	var sink float64
	for _, c := range []struct {
		name      string
		own, math func(float64) float64
	}{{"Exp", Exp, math.Exp}, {"Expm1", Expm1, math.Expm1}, {"Log", Log, math.Log}, {"Log1p", Log1p, math.Log1p}, {"Log2", Log2, math.Log2}, {"Erfc", Erfc, math.Erfc}} {
		b.Run(c.name, func(b *testing.B) {
			var own, std []float64
			for b.Loop() {
				own = append(own, numtest.Timed(func() {
					for _, v := range x {
						sink += c.own(v)
					}
				}))
				std = append(std, numtest.Timed(func() {
					for _, v := range x {
						sink += c.math(v)
					}
				}))
			}
			b.ReportMetric(numtest.Median(own)/1000, "ns/own")
			b.ReportMetric(numtest.Median(std)/1000, "ns/math")
		})
	}
	_ = sink
}
