package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
)

// Claim: the bootstrap interval of a mean of n values holds the true mean in 93 to
// 97 % of samples, for values as skewed as those of measures.
func TestCoverage(t *testing.T) {
	long.Test(t)
	values := []struct {
		name string
		draw func(*rand.Rand) float64
		mean float64
	}{
		{"triangular, as average precision", func(r *rand.Rand) float64 { return 1 - math.Sqrt(r.Float64()) }, 1. / 3},
		{"a fourth power, many small and few large", func(r *rand.Rand) float64 { return math.Pow(r.Float64(), 4) }, 0.2},
		{"zero or one, as the precision of one document", func(r *rand.Rand) float64 { return float64(r.IntN(3) / 2) }, 1. / 3},
	}
	for _, v := range values {
		for _, n := range []int{25, 106} {
			const trials = 1000
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			held := 0
			for trial := range trials {
				x := make([]float64, n)
				for q := range x {
					x[q] = v.draw(rng)
				}
				off := resample([][]float64{x}, &Config{Resamples: 500, Seed: uint64(trial)})[0]
				if i := interval(x, mean(x), spread{}, off); i.Low <= v.mean && v.mean <= i.High {
					held++
				}
			}
			coverage := float64(held) / trials
			t.Logf("%s, %d queries: %.1f %%", v.name, n, 100*coverage)
			if coverage < 0.93 || coverage > 0.97 {
				t.Errorf("%s, %d queries: the interval holds the mean in %.1f %% of samples", v.name, n, 100*coverage)
			}
		}
	}
}

// Claim: where two systems are alike, p values of the t-test and the randomisation
// test are uniform (χ² over 20 equal bins; the 0.999 quantile with 19 degrees of
// freedom is 43.8), and the bootstrap's fall below 0.05 about as often as they
// should. Where the differences' true mean is a third of their standard deviation,
// they are not uniform, so the check can fail.
func TestUniformUnderTheNull(t *testing.T) {
	long.Test(t)
	for _, c := range []struct {
		shift   float64
		uniform bool
	}{{0, true}, {0.05, false}} {
		const trials, bins = 1000, 20
		var student, randomized [bins]int
		rejected := 0
		rng := rand.New(rand.NewPCG(2, 2))
		for trial := range trials {
			values := nullValues(rng, 60)
			for q := range values[0] {
				values[0][q] += c.shift
			}
			r := compare(t, values, Config{Baseline: -1, Permutations: 999, Resamples: 999, Seed: uint64(trial)})
			p := &r.Pairs[0]
			student[bin(p.T.P, bins)]++
			randomized[bin(p.Randomization.P, bins)]++
			if p.Bootstrap.P <= 0.05 {
				rejected++
			}
		}
		for name, x := range map[string]float64{"t": chiSquare(student[:]), "randomisation": chiSquare(randomized[:])} {
			t.Logf("shift %v, %s: χ² = %.1f", c.shift, name, x)
			if (x < 43.8) != c.uniform {
				t.Errorf("shift %v: χ² of the p values of %s is %.1f", c.shift, name, x)
			}
		}
		if share := float64(rejected) / trials; (share > 0.035 && share < 0.07) != c.uniform {
			t.Errorf("shift %v: %.1f %% of the p values of the bootstrap are at most 0.05", c.shift, 100*share)
		}
	}
}

// nullValues are two systems' values whose differences are normal with mean 0.
func nullValues(rng *rand.Rand, n int) [][]float64 {
	values := [][]float64{make([]float64, n), make([]float64, n)}
	for q := range n {
		hard := rng.Float64()
		values[0][q], values[1][q] = hard+0.1*rng.NormFloat64(), hard+0.1*rng.NormFloat64()
	}
	return values
}

// bin returns which of equal parts of (0, 1] p is in.
func bin(p float64, bins int) int {
	return min(max(int(math.Ceil(p*float64(bins)-1e-9))-1, 0), bins-1)
}

func chiSquare(counts []int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	want := float64(total) / float64(len(counts))
	var x float64
	for _, c := range counts {
		x += (float64(c) - want) * (float64(c) - want) / want
	}
	return x
}

// Claim: max-T keeps the probability of any false rejection at 5 %, whether all
// systems are alike or one stands far apart and others vary much more than the rest;
// it rejects no less than Holm's correction in all, and without any correction false
// rejections are frequent, so the check can fail.
func TestFamilywiseError(t *testing.T) {
	long.Test(t)
	const n = 40
	const trials = 800
	for _, c := range []struct {
		name  string
		shift []float64
		noise []float64
	}{
		{"all alike", []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}},
		{"one apart", []float64{0, 0, 0, 3}, []float64{1, 1, 1, 1}},
		{"unequal noise", []float64{0, 0, 0, 0}, []float64{3, 3, 0.2, 0.2}},
		{"one apart, unequal noise", []float64{0, 0, 0, 2}, []float64{3, 3, 0.2, 0.2}},
	} {
		rng := rand.New(rand.NewPCG(3, 3))
		var alone, holm, maxT int
		for trial := range trials {
			values := make([][]float64, len(c.shift))
			for i := range values {
				values[i] = make([]float64, n)
				for q := range n {
					values[i][q] = c.shift[i] + c.noise[i]*rng.NormFloat64()
				}
			}
			r := compare(t, values, Config{Baseline: -1, Permutations: 999, Resamples: 1, Seed: uint64(trial)})
			smallest := Test{1, 1, 1} // of the true null hypotheses
			for _, p := range r.Pairs {
				if c.shift[p.A] == c.shift[p.B] {
					smallest.P = min(smallest.P, p.Randomization.P)
					smallest.Holm = min(smallest.Holm, p.Randomization.Holm)
					smallest.MaxT = min(smallest.MaxT, p.Randomization.MaxT)
				}
			}
			alone += below(smallest.P)
			holm += below(smallest.Holm)
			maxT += below(smallest.MaxT)
		}
		share := func(k int) float64 { return float64(k) / float64(trials) }
		t.Logf("%s: any false rejection in %.1f %% of trials by max-T, %.1f %% by Holm, %.1f %% uncorrected", c.name, 100*share(maxT), 100*share(holm), 100*share(alone))
		if share(maxT) > 0.07 || share(holm) > 0.07 || maxT < holm || share(alone) < 0.08 {
			t.Errorf("%s: false rejections in %.3f by max-T, %.3f by Holm, %.3f uncorrected", c.name, share(maxT), share(holm), share(alone))
		}
	}
}

func below(p float64) int {
	if p <= Alpha+1e-12 {
		return 1
	}
	return 0
}

// Claim: a t-test finds a true difference of Detectable with probability 0.8.
func TestPower(t *testing.T) {
	const trials, n = 4000, 30
	rng := rand.New(rand.NewPCG(4, 4))
	unit := Pair{}
	plusMinus := make([]float64, n) // of standard deviation 1
	for q := range plusMinus {
		plusMinus[q] = math.Sqrt(float64(n-1)/n) * float64(1-2*(q%2))
	}
	unit.describe(plusMinus, spread{})
	found := 0
	for range trials {
		d := make([]float64, n)
		for q := range d {
			d[q] = unit.Detectable + rng.NormFloat64()
		}
		found += below(tTest(d, spread{}).P)
	}
	if power := float64(found) / trials; math.Abs(power-Power) > 0.025 {
		t.Errorf("a difference of %v is found with probability %v", unit.Detectable, power)
	}
}
