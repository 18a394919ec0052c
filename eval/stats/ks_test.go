package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Claim: the tail is Kolmogorov's, by its quantiles (Smirnov 1948), and both its series agree
// where one takes over from the other.
func TestKolmogorovTail(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{{0.5, 0.9639452}, {0.82757, 0.5}, {1.0, 0.2699997}, {1.22385, 0.1}, {1.35810, 0.05}, {1.62762, 0.01}, {1.94947, 0.001}} {
		if got := kolmogorovTail(c.x); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("above %v: %v, want %v", c.x, got, c.want)
		}
	}
	if below, above := kolmogorovTail(1.18-1e-12), kolmogorovTail(1.18); math.Abs(below-above) > 1e-11 {
		t.Errorf("the series give %v and %v", below, above)
	}
}

// Claim: the distance is that of the distribution functions, by counting at every value.
func TestDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a, b := make([]float64, 1+rng.IntN(9)), make([]float64, 1+rng.IntN(9))
		for i := range a {
			a[i] = float64(rng.IntN(6))
		}
		for i := range b {
			b[i] = float64(rng.IntN(6))
		}
		var want float64
		for v := range 6 {
			share := func(list []float64) (n float64) {
				for _, x := range list {
					if x <= float64(v) {
						n++
					}
				}
				return n / float64(len(list))
			}
			want = max(want, math.Abs(share(a)-share(b)))
		}
		if got := Distance(a, b); math.Abs(got-want) > 1e-15 {
			t.Fatalf("%v and %v: distance %v, want %v", a, b, got, want)
		}
	}
}

// Claim: samples of one distribution are told apart at the level of the test, not more often,
// for few values and for many, and samples of others nearly always.
func TestKolmogorovSmirnovLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{5, 20, 200} {
		false5, found := 0, 0
		const trials = 1000
		for range trials {
			a, b := make([]float64, n), make([]float64, n+3)
			for i := range a {
				a[i] = rng.NormFloat64()
			}
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			if _, p, err := KolmogorovSmirnov(a, b); err != nil || p < 0.05 {
				false5++
			}
			for i := range b {
				b[i] += 3
			}
			if _, p, _ := KolmogorovSmirnov(a, b); p < 0.05 {
				found++
			}
		}
		if false5 > 72 || found < 900 { // 50 and three standard errors
			t.Errorf("%d values: %d of %d false alarms, %d shifts found", n, false5, trials, found)
		}
	}
	if _, _, err := KolmogorovSmirnov(nil, []float64{1}); err == nil {
		t.Error("an empty sample is no error")
	}
	if _, _, err := KolmogorovSmirnov([]float64{math.NaN()}, []float64{1}); err == nil {
		t.Error("NaN is no error")
	}
}
