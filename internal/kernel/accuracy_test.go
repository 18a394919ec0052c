package kernel

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/internal/testing/numtest"
)

func worst(t *testing.T, f func(dst, x []float64), x []float64, measure func(got float64, want *big.Float) float64, exact func(x *big.Float) *big.Float) float64 {
	t.Helper()
	got := make([]float64, len(x))
	f(got, x)
	largest, at := 0.0, 0.0
	for i, v := range x {
		if e := measure(got[i], exact(numtest.Big(v))); !(e <= largest) {
			largest, at = e, v
		}
	}
	t.Logf("worst error %.3g at %v", largest, at)
	return largest
}

// The accuracy the comment of Exp states, against 256-bit series.
func TestExpAccuracy(t *testing.T) {
	for _, r := range [][2]float64{{-708, 709.7}, {-2, 2}, {-1e-3, 1e-3}, {-745.13, -708}} {
		if e := worst(t, Exp, numtest.Spread(2500, r[0], r[1]), numtest.Ulps, numtest.BigExp); e > 1 {
			t.Errorf("Exp is off by %.3f units in the last place between %v and %v, want at most 1", e, r[0], r[1])
		}
	}
}

// The accuracy the comment of Log states.
func TestLogAccuracy(t *testing.T) {
	x := numtest.Spread(1500, 0.5, 2)
	x = append(x, numtest.Spread(500, 1-1e-6, 1+1e-6)...)
	for _, e := range numtest.Spread(1000, -1074, 1023) {
		x = append(x, math.Exp2(e))
	}
	x = append(x, math.SmallestNonzeroFloat64, 0x1p-1022, math.MaxFloat64)
	if e := worst(t, Log, x, numtest.Ulps, numtest.BigLog); e > 0.9 {
		t.Errorf("Log is off by %.3f units in the last place, want at most 0.9", e)
	}
}

func bigSoftplus(x *big.Float) *big.Float {
	e := numtest.BigExp(x)
	if v, _ := x.Float64(); v < -60 { // e − e²/2, to 1e-52
		half := numtest.Big(0.5)
		half.Mul(half, e)
		return half.Sub(e, half.Mul(half, e))
	}
	return numtest.BigLog(e.Add(e, numtest.Big(1)))
}

func bigLogistic(x *big.Float) *big.Float {
	e := numtest.BigExp(x)
	d := numtest.Big(1)
	return numtest.BigQuo(e, d.Add(d, e))
}

// The accuracy the comments of Softplus and Logistic state.
func TestSoftplusAndLogisticAccuracy(t *testing.T) {
	for _, r := range [][2]float64{{-700, 700}, {-40, 40}, {-1, 1}} {
		x := numtest.Spread(1000, r[0], r[1])
		if e := worst(t, Softplus, x, numtest.Relative, bigSoftplus); e > 4e-16 {
			t.Errorf("Softplus has a relative error of %.3g between %v and %v, want at most 4e-16", e, r[0], r[1])
		}
		if e := worst(t, Logistic, x, numtest.Relative, bigLogistic); e > 4e-16 {
			t.Errorf("Logistic has a relative error of %.3g between %v and %v, want at most 4e-16", e, r[0], r[1])
		}
	}
}

// What the comments say of infinities, NaN, zeros and the ends of the range.
func TestSpecialValues(t *testing.T) {
	inf, nan, tiny := math.Inf(1), math.NaN(), math.SmallestNonzeroFloat64
	for _, c := range []struct {
		name    string
		f       func(dst, x []float64)
		x, want float64
	}{
		{"Exp", Exp, 0, 1}, {"Exp", Exp, inf, inf}, {"Exp", Exp, -inf, 0}, {"Exp", Exp, nan, nan},
		{"Exp", Exp, 709.782712893384, 1.7976931348622732e308}, {"Exp", Exp, 709.7827128933841, inf},
		{"Exp", Exp, math.MaxFloat64, inf}, {"Exp", Exp, -math.MaxFloat64, 0},
		{"Exp", Exp, -745.1332191019411, tiny}, {"Exp", Exp, -745.1332191019412, 0}, {"Exp", Exp, tiny, 1},
		{"Exp", Exp, -746, 0}, {"Exp", Exp, -1000, 0}, {"Exp", Exp, -1417, 0}, {"Exp", Exp, -1418, 0}, {"Exp", Exp, -1419, 0},
		{"Log", Log, 1, 0}, {"Log", Log, 0, -inf}, {"Log", Log, math.Copysign(0, -1), -inf},
		{"Log", Log, -1, nan}, {"Log", Log, -tiny, nan}, {"Log", Log, -inf, nan}, {"Log", Log, nan, nan}, {"Log", Log, inf, inf},
		{"Softplus", Softplus, inf, inf}, {"Softplus", Softplus, -inf, 0}, {"Softplus", Softplus, nan, nan},
		{"Softplus", Softplus, math.MaxFloat64, math.MaxFloat64}, {"Softplus", Softplus, 0, math.Ln2},
		{"Logistic", Logistic, inf, 1}, {"Logistic", Logistic, -inf, 0}, {"Logistic", Logistic, nan, nan},
		{"Logistic", Logistic, 0, 0.5}, {"Logistic", Logistic, math.Copysign(0, -1), 0.5},
	} {
		for n := 1; n <= 9; n++ { // every place in a vector, and in the tails
			x, got := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i] = c.x
			}
			c.f(got, x)
			for i, v := range got {
				if !sameBits(v, c.want) {
					t.Fatalf("%s(%v) = %v at %d of %d, want %v", c.name, c.x, v, i, n, c.want)
				}
			}
		}
	}
}

// Exp of a larger number is not smaller, across the seams between exponents.
func TestExpIsMonotone(t *testing.T) {
	for k := -1070; k < 1020; k += 7 {
		seam := (float64(k) + 0.5) * math.Ln2
		x := make([]float64, 41)
		for i := range x {
			x[i] = seam * (1 + float64(i-20)*0x1p-52)
		}
		if k < 0 {
			for i, j := 0, len(x)-1; i < j; i, j = i+1, j-1 {
				x[i], x[j] = x[j], x[i]
			}
		}
		got := make([]float64, len(x))
		Exp(got, x)
		for i := 1; i < len(got); i++ {
			if got[i] < got[i-1]*(1-0x1p-52) {
				t.Fatalf("exp(%v) = %v < exp(%v) = %v", x[i], got[i], x[i-1], got[i-1])
			}
		}
	}
}

// LogSumExp against 256 bits, at scores whose exponentials overflow.
func TestLogSumExp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		x := finite(t, n, "x")
		shift := rapid.SampledFrom([]float64{0, 700, -700, 1e6, -1e300}).Draw(t, "shift")
		total := numtest.Big(0)
		for i := range x {
			x[i] += shift
			total.Add(total, numtest.BigExp(numtest.Big(x[i]-shift)))
		}
		want := numtest.BigLog(total)
		want.Add(want, numtest.Big(shift))
		w, _ := want.Float64()
		checkClose(t, LogSumExp(x), w, 4e-15+math.Abs(w)*3e-16, "LogSumExp")
		dst := make([]float64, n)
		checkClose(t, math.Log(ExpSum(dst, x, Max(x)))+Max(x), w, 1e-14+math.Abs(w)*3e-16, "log of ExpSum")
		for i := range dst {
			dst[i] = -Max(x) / 2
		}
		ExpPlus(dst, x, 2, dst)
		checkClose(t, math.Log(Sum(dst))+Max(x), w, 1e-14+math.Abs(w)*3e-16, "log of the sum of ExpPlus")
	})
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{nil, -inf}, {[]float64{-inf, -inf}, -inf}, {[]float64{1, inf, -inf}, inf}, {[]float64{inf, 1, nan}, nan},
		{[]float64{nan}, nan}, {[]float64{-inf, 3}, 3}, {[]float64{3}, 3}, {[]float64{-1e308, 1e308}, 1e308},
	} {
		if got := LogSumExp(c.x); !sameBits(got, c.want) {
			t.Errorf("LogSumExp(%v) = %v, want %v", c.x, got, c.want)
		}
	}
}
