package elementary

import (
	"hash/fnv"
	"math"
	"testing"
)

// Claim: the functions give the same bits on every architecture: their sums are those of amd64.
func TestBits(t *testing.T) {
	positive := func(x float64) float64 { return math.Abs(x) + 0x1p-9 }
	unit := func(x float64) float64 { return positive(x) / 32 } // in (0, 1)
	for name, c := range map[string]struct {
		f    func(x float64) float64
		want uint64
	}{
		"Exp":         {func(x float64) float64 { return Exp(16 * x) }, 0x1fe23df87b9226c3},
		"Exp2":        {func(x float64) float64 { return Exp2(16 * x) }, 0xade28b033adae2e1},
		"Expm1":       {Expm1, 0x9145bdd59e717391},
		"Log":         {func(x float64) float64 { return Log(positive(x)) }, 0x69a6bfccd14a6b1f},
		"Log1p":       {func(x float64) float64 { return Log1p(positive(x)) }, 0x87466a89e8ee438b},
		"Log1pUnit":   {func(x float64) float64 { return Log1pUnit(unit(x)) }, 0xd2e2c2ffdcbbed87},
		"Log2":        {func(x float64) float64 { return Log2(positive(x)) }, 0xfad32eb6f642791f},
		"Log10":       {func(x float64) float64 { return Log10(positive(x)) }, 0xae57ffdc14fb8cad},
		"Pow":         {func(x float64) float64 { return Pow(positive(x), x) }, 0x43b5af73bf0aa1b1},
		"sine":        {func(x float64) float64 { s, _ := Sincos(x); return s }, 0x55dc486ba43a39d5},
		"cosine":      {func(x float64) float64 { _, c := Sincos(x); return c }, 0x27073ff90b36e88},
		"Erfc":        {Erfc, 0xb70ee5bac3b3d68f},
		"Erfinv":      {func(x float64) float64 { return Erfinv(x / 32) }, 0xdfc8ec90d9ca1a49},
		"Erfcinv":     {func(x float64) float64 { return Erfcinv(unit(x)) }, 0x1502834acd2d9ad4},
		"LogGamma":    {func(x float64) float64 { return LogGamma(positive(x)) }, 0x81f50507acf01ee8},
		"Beta":        {func(x float64) float64 { return Beta(2.5, positive(x), 0.25) }, 0xe73e2182eda88bfc},
		"BetaInverse": {func(x float64) float64 { return BetaInverse(2.5, 4, unit(x)) }, 0xebc9fe12d9ce47c2},
	} {
		sum := fnv.New64a()
		for i := -5000; i <= 5000; i += 5 {
			y := c.f(float64(i) / 256)
			if y == 0 || math.IsNaN(y) {
				continue
			}
			bits := math.Float64bits(y)
			for range 8 {
				_, _ = sum.Write([]byte{byte(bits)})
				bits >>= 8
			}
		}
		if got := sum.Sum64(); got != c.want {
			t.Errorf("%s: the sum of the bits is %#x, expected %#x", name, got, c.want)
		}
	}
}
