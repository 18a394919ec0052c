package stats

import (
	"math"
	"testing"
)

// near reports whether two numbers agree to a relative error.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(math.Abs(want), 1e-300)
}

// The ten pairs of average precisions that golden values are known of.
var (
	goldenA = []float64{.41, .22, .63, .18, .55, .90, .33, .27, .48, .71}
	goldenB = []float64{.38, .25, .55, .11, .50, .72, .35, .20, .47, .60}
)

func compare(t *testing.T, values [][]float64, c Config) *Comparison {
	t.Helper()
	r, err := Compare(values, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Claim: on the golden pairs the t-test agrees with scipy's ttest_rel, the exact
// randomisation test with scipy's permutation_test, the effect size with numpy, and
// the bootstrap interval, taken without widening, with scipy's BCa and percentiles.
func TestGolden(t *testing.T) {
	r := compare(t, [][]float64{goldenA, goldenB}, Config{Baseline: -1, Permutations: 1, Resamples: 100_000, Seed: 1})
	p := &r.Pairs[0]
	for _, c := range []struct {
		name                 string
		got, want, tolerance float64
	}{
		{"t", p.T.T, 2.7791013395195128, 1e-12},
		{"p of t", p.T.P, 0.021432228690730786, 1e-12},
		{"exact p", p.Randomization.P, 0.021484375, 0},
		{"max-T of one pair", p.Randomization.MaxT, 0.021484375, 0},
		{"Holm of one pair", p.Randomization.Holm, 0.021484375, 0},
		{"d", p.CohenD, 0.8788290081306572, 1e-12},
		{"difference", p.Difference, 0.055, 1e-12},
	} {
		if !near(c.got, c.want, c.tolerance) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if !r.Exact || r.Permutations != 1024 || p.Wins != 8 || p.Ties != 0 || p.Losses != 2 || p.T.DF != 9 {
		t.Errorf("comparison is %+v", r)
	}

	drawn := resample([][]float64{goldenA}, &Config{Resamples: 100_000, Seed: 1})[0]
	for _, c := range []struct {
		name      string
		z0, a     float64
		low, high float64
	}{
		{"percentile", 0, 0, 0.337, 0.609},
		{"BCa", bias(sorted(drawn)), acceleration(goldenA), 0.346, 0.620},
	} {
		low, high := bcaLevels(1.959963984540054, c.z0, c.a)
		off := sorted(drawn)
		if l, h := mean(goldenA)+quantile(off, low), mean(goldenA)+quantile(off, high); math.Abs(l-c.low) > 0.0021 || math.Abs(h-c.high) > 0.0021 {
			t.Errorf("%s interval is %v, %v, scipy's is %v, %v", c.name, l, h, c.low, c.high)
		}
	}
}

// Claim: the bootstrap-shift test draws the exact distribution, which is found here
// by convolution: the golden differences are whole hundredths.
func TestBootstrapShiftAgainstConvolution(t *testing.T) {
	const n = 10
	var d [n]int
	total := 0
	for q := range d {
		d[q] = int(math.Round(100 * (goldenA[q] - goldenB[q])))
		total += d[q]
	}
	ways := map[int]float64{0: 1}
	for range n {
		next := map[int]float64{}
		for sum, w := range ways {
			for _, v := range d {
				next[sum+v] += w / n
			}
		}
		ways = next
	}
	var exact float64
	for sum, w := range ways {
		if sum-total >= total || total-sum >= total {
			exact += w
		}
	}
	const draws = 200_000
	r := compare(t, [][]float64{goldenA, goldenB}, Config{Baseline: -1, Permutations: 1, Resamples: draws, Seed: 2})
	if got := r.Pairs[0].Bootstrap.P; math.Abs(got-exact) > 4*math.Sqrt(exact/draws) {
		t.Errorf("p is %v, the exact one %v", got, exact)
	}
}

// Claim: tails and quantiles of Student's t are scipy's (t.sf, t.ppf), far out too.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ t, df, want float64 }{
		{0.1, 1, 0.9365489651388929}, {2.5, 3, 0.08770664700806555}, {12.7, 1, 0.05002432768934415},
		{1.96, 105, 0.05264592606519581}, {3.3, 105, 0.0013211783021521558}, {8, 105, 1.7503508953857874e-12},
		{30, 105, 2.5853589823276686e-53}, {0.001, 7, 0.9992300172449988}, {-4, 30000, 6.349428699665954e-05},
	} {
		if got := studentTails(c.t, c.df); !near(got, c.want, 1e-11) {
			t.Errorf("tails of %v with %v degrees of freedom are %v, want %v", c.t, c.df, got, c.want)
		}
	}
	for _, c := range []struct{ p, df, want float64 }{
		{.975, 1, 12.706204736432095}, {.8, 1, 1.3763819204924512}, {.975, 9, 2.2621571627409915},
		{.8, 9, 0.8834038596855205}, {.975, 105, 1.9828152737371543}, {.8, 105, 0.845057887168021}, {.995, 20, 2.845339709776814},
	} {
		if got := studentQuantile(c.p, c.df); !near(got, c.want, 1e-9) {
			t.Errorf("quantile %v with %v degrees of freedom is %v, want %v", c.p, c.df, got, c.want)
		}
	}
	if z := normalQuantile(0.975); !near(z, 1.959963984540054, 1e-12) || !near(normal(z), 0.975, 1e-12) {
		t.Errorf("normal quantile is %v", z)
	}
}

// Claim: the detectable difference is that of the exact power, solved with scipy's
// noncentral t, within the error that the documentation names.
func TestDetectable(t *testing.T) {
	for _, c := range []struct {
		n         int
		exact     float64 // in standard deviations
		tolerance float64
	}{{5, 1.6819969659555578, 0.012}, {10, 0.9960013714362282, 0.0015}, {106, 0.27463422252342107, 0.0005}, {1000, 0.08867907559626248, 0.0005}} {
		d := make([]float64, c.n)
		for q := range d {
			d[q] = float64(q*q%17) / 10
		}
		var p Pair
		p.describe(d, spread{})
		if got := p.Detectable / deviation(d); !near(got, c.exact, c.tolerance) {
			t.Errorf("%d queries: %v standard deviations, want %v", c.n, got, c.exact)
		}
	}
	// Γ(1)/(1·Γ(1/2)) = 1/√π, and Γ(3/2)/(√(3/2)·Γ(1)) = √(π/6).
	if a, b := unbias(2), unbias(3); !near(a, 1/math.Sqrt(math.Pi), 1e-12) || !near(b, math.Sqrt(math.Pi/6), 1e-12) {
		t.Errorf("Hedges' factors are %v and %v", a, b)
	}
}

// Claim: Holm's correction, worked by hand: five p values, out of order, times 5, 4,
// 3, 2, 1 by rank, never below the one before, never above 1.
func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{[]float64{.03, .001, .2, .012, .04}, []float64{.09, .005, .2, .048, .09}},
		{[]float64{.5, .5, .9}, []float64{1, 1, 1}},
		{[]float64{.02, .02}, []float64{.04, .04}},
		{nil, nil},
	} {
		got := Holm(c.p)
		for i := range got {
			if !near(got[i], c.want[i], 1e-12) {
				t.Errorf("Holm(%v) = %v, want %v", c.p, got, c.want)
				break
			}
		}
	}
}
