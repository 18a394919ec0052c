package stats

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/internal/testing/long"
)

// crossed draws the runs of a method: hard[q] + effects[q] + seeds + interaction, with the standard
// deviations of the last two.
func crossed(rng *rand.Rand, runs int, hard []float64, effect, run, both float64) [][]float64 {
	own := make([]float64, len(hard))
	for q, h := range hard {
		own[q] = h + effect*rng.NormFloat64()
	}
	all := make([][]float64, runs)
	for r := range all {
		off := run * rng.NormFloat64()
		for _, v := range own {
			all[r] = append(all[r], v+off+both*rng.NormFloat64())
		}
	}
	return all
}

// Claim: of methods with several runs that are alike over queries and seeds, the t-test and the
// randomisation test find 3 to 7 % different at 0.05, however the variance divides between queries,
// seeds and both, and 2 to 13 % with two runs. Tests of the queries' means over runs, which leave the
// seeds out, find more.
func TestLevelOfMethods(t *testing.T) {
	long.Test(t)
	const queries = 80
	const trials = 2000
	for _, variances := range []struct {
		name              string
		effect, run, both float64
		seedsMatter       bool // a test of queries alone is wrong more often than not
	}{
		{"one method, seeds act query by query", 0, 0, 1, false},
		{"one method, seeds also move the mean", 0, 0.07, 1, false},
		{"two methods, seeds add as much as queries", 1, 0.25, 0.5, false},
		{"seeds matter most", 0.2, 0.5, 0.5, true},
	} {
		for _, n := range [][2]int{{2, 2}, {2, 10}, {3, 3}, {5, 9}} {
			low, high := 0.03, 0.07
			if n[0] == 2 { // two runs show little of the variance between seeds
				low, high = 0.02, 0.13
			}
			rng := rand.New(rand.NewPCG(11, uint64(n[0])))
			var student, randomized, alone int
			for trial := range trials {
				hard := make([]float64, queries)
				for q := range hard {
					hard[q] = rng.Float64()
				}
				runs := [][][]float64{
					crossed(rng, n[0], hard, variances.effect, variances.run, variances.both),
					crossed(rng, n[1], hard, variances.effect, variances.run, variances.both),
				}
				r, err := CompareRuns(runs, Config{Permutations: 399, Resamples: 1, Seed: uint64(trial)})
				if err != nil {
					t.Fatal(err)
				}
				p := &r.Pairs[0]
				if p.Claim != OfMethods {
					t.Fatalf("the claim is about %s", p.Claim)
				}
				student += below(p.T.P)
				randomized += below(p.Randomization.P)
				alone += below(tTest(differences(perQuery(runs[0]), perQuery(runs[1])), spread{}).P)
			}
			share := func(k int) float64 { return float64(k) / float64(trials) }
			t.Logf("%s, %d and %d runs: t %.1f %%, randomisation %.1f %%, queries alone %.1f %%", variances.name, n[0], n[1], 100*share(student), 100*share(randomized), 100*share(alone))
			for name, k := range map[string]int{"t": student, "randomisation": randomized} {
				if share(k) < low || share(k) > high {
					t.Errorf("%s, %d and %d runs: %s finds %.1f %% different", variances.name, n[0], n[1], name, 100*share(k))
				}
			}
			if variances.seedsMatter && share(alone) < 0.5 {
				t.Errorf("%s, %d and %d runs: queries alone find %.1f %%, expected too many", variances.name, n[0], n[1], 100*share(alone))
			}
		}
	}
}

// The components of variance, worked by hand: the runs' means are 2 and 3, so s²/R = 0.5/2; of the
// interaction six remainders 0, ∓½, ±½ have squares of sum 1, so s² = 1/2, over 3·2.
func TestSeedsByHand(t *testing.T) {
	s := seedsOf([][]float64{{1, 2, 3}, {2, 4, 3}})
	if s.df != 1 || !near(s.runs, 0.25, 1e-12) || !near(s.both, 1./12, 1e-12) {
		t.Errorf("components are %+v", s)
	}
	if s := seedsOf([][]float64{{1, 2}}); s != (seeds{}) {
		t.Errorf("of one run they are %+v", s)
	}
	// Two methods: Welch's degrees of freedom (Σv)²/Σ(v²/df).
	if s := spreadOf(seeds{df: 2, runs: 3, both: 1}, seeds{df: 4, runs: 1, both: 0.5}); s.runs != 4 || s.both != 1.5 || !near(s.df, 16/(9./2+1./4), 1e-12) {
		t.Errorf("the spread is %+v", s)
	}
}

// The parts of a variance, worked by hand. The differences 1, 2, 3 have the variance 1 and their mean 1/3,
// of which the interaction is a part. If the interaction is 1/2, the queries have no part of their own and
// the seeds' part is smaller by the deficit of 1/6, or by the same ratio if it is below the interaction.
func TestPartsByHand(t *testing.T) {
	values := []float64{1, 2, 3}
	for _, c := range []struct {
		s              spread
		queries, seeds float64
	}{
		{spread{}, 1. / 3, 0},
		{spread{runs: 0.7, both: 0.25, df: 2}, 1. / 12, 0.7},
		{spread{runs: 0.7, both: 0.5, df: 2}, 0, 0.7 - 1./6},
		{spread{runs: 0.3, both: 0.5, df: 2}, 0, 0.2},
	} {
		queries, seeds := c.s.parts(values)
		if !near(queries, c.queries, 1e-12) || !near(seeds, c.seeds, 1e-12) {
			t.Errorf("%+v: the parts are %v and %v, expected %v and %v", c.s, queries, seeds, c.queries, c.seeds)
		}
		if c.s.runs > 0 {
			v := queries + seeds
			se, df := c.s.standardError(values)
			if !near(se*se, v, 1e-12) || !near(df, v*v/(queries*queries/2+seeds*seeds/2), 1e-9) {
				t.Errorf("%+v: the standard error is %v with %v degrees of freedom", c.s, se, df)
			}
		}
	}
}

// Claim: the noise of seeds is Student's t, times its standard error: as many draws are beyond
// t's quantiles.
func TestNoiseIsStudents(t *testing.T) {
	a, b := seeds{df: 2, runs: 3, both: 1}, seeds{df: 2, runs: 1, both: 0.5}
	values := []float64{1, 1}
	s, e := spreadOf(a, b), newNoise(a, b, values)
	_, variance := s.parts(values)
	const n = 200_000
	z := draws(rand.New(rand.NewPCG(1, 1)), n, 2)
	for _, level := range []float64{0.5, 0.1, 0.05, 0.01} {
		edge := studentQuantile(1-level/2, s.df) * math.Sqrt(variance)
		beyond := 0
		for k := range n {
			if math.Abs(e.of(z[2*k], z[2*k+1])) > edge {
				beyond++
			}
		}
		if got := float64(beyond) / n; math.Abs(got-level) > 4*math.Sqrt(level*(1-level)/n) {
			t.Errorf("%v of the draws are beyond the quantile of %v", got, level)
		}
	}
}

// Claim: the interval of a pair excludes 0 exactly where the randomisation test rejects at 0.05:
// of single runs and several, with and without weights, enumerated and drawn, with ties.
func TestIntervalAgreesWithTest(t *testing.T) {
	seen := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.OneOf(rapid.IntRange(2, 10), rapid.IntRange(21, 40)).Draw(t, "queries")
		step := rapid.SampledFrom([]float64{1e-6, 0.1, 0.5, 2}).Draw(t, "step")
		runs := make([][][]float64, 3)
		for i := range runs {
			for range rapid.IntRange(1, 3).Draw(t, "runs") {
				v := table(rng, 1, n, step)[0]
				for q := range v {
					v[q] += 0.15 * float64(i)
				}
				runs[i] = append(runs[i], v)
			}
		}
		for q := 12; q < n && step == 2; q++ { // alike for all systems
			for _, own := range runs {
				for _, v := range own {
					v[q] = 1
				}
			}
		}
		c := Config{Baseline: -1, Permutations: 400, Resamples: 1}
		if rapid.Bool().Draw(t, "weighted") {
			for range n {
				c.Weights = append(c.Weights, 0.2+rng.Float64())
			}
		}
		r, err := CompareRuns(runs, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Pairs {
			excluded := p.Interval.Low > 0 || p.Interval.High < 0
			if excluded != Significant(p.Randomization.P) || !(p.Interval.Low <= p.Difference && p.Difference <= p.Interval.High) {
				t.Fatalf("p is %v, the interval %v of %v", p.Randomization.P, p.Interval, p.Difference)
			}
			seen[strconv.FormatBool(excluded)]++
		}
	})
	if len(seen) < 2 && !testing.Short() { // a few draws may have one kind alone
		t.Errorf("intervals exclude 0 and include it: %v", seen)
	}
}

// Claim: the ends of an interval are where the exact test of a shift, by all sign flips one by
// one, begins to reject. Below six queries nothing is rejected, so that there are none.
func TestIntervalAgainstEnumeration(t *testing.T) {
	for _, n := range []int{5, 6, 8, 11} {
		values := table(rand.New(rand.NewPCG(4, uint64(n))), 2, n, 1e-6)
		r := compare(t, values, Config{Permutations: 1, Resamples: 1})
		p := &r.Pairs[0]
		d := differences(values[p.A], values[p.B])
		rejects := func(shift float64) bool {
			reached := 0
			for flip := range 1 << n {
				var sum, flipped float64
				for q, v := range d {
					sum += v - shift
					flipped += (v - shift) * float64(1-2*(flip>>q&1))
				}
				if math.Abs(flipped) >= math.Abs(sum)-1e-12 {
					reached++
				}
			}
			return float64(reached)/float64(int(1)<<n) <= Alpha
		}
		if n < 6 {
			if p.Interval != Unbounded || rejects(100) || rejects(-100) {
				t.Errorf("%d queries: the interval is %v", n, p.Interval)
			}
			continue
		}
		const e = 1e-7
		for _, c := range []struct {
			shift float64
			want  bool
		}{{p.Interval.Low - e, true}, {p.Interval.Low + e, false}, {p.Interval.High - e, false}, {p.Interval.High + e, true}, {100, true}} {
			if rejects(c.shift) != c.want {
				t.Errorf("%d queries, interval %v: the test rejects %v: %v", n, p.Interval, c.shift, !c.want)
			}
		}
	}
}

// Claim: the interval of a difference holds the true one in 93 to 97 % of samples, for
// differences far from normal, also where most queries do not differ.
func TestPairCoverage(t *testing.T) {
	long.Test(t)
	for _, c := range []struct {
		name    string
		queries int
		differ  float64 // share of the queries
	}{{"all differ", 8, 1}, {"all differ", 25, 1}, {"few differ", 60, 0.2}} {
		trials := 500
		if long.Enabled() {
			trials = 1500
		}
		rng := rand.New(rand.NewPCG(9, uint64(c.queries)))
		held := 0
		for trial := range trials {
			values := [][]float64{make([]float64, c.queries), make([]float64, c.queries)}
			for q := range c.queries {
				if rng.Float64() < c.differ {
					values[0][q], values[1][q] = math.Pow(rng.Float64(), 4), math.Pow(rng.Float64(), 4)
				}
			}
			r := compare(t, values, Config{Baseline: 1, Permutations: 399, Resamples: 1, Seed: uint64(trial)})
			if i := r.Pairs[0].Interval; i.Low <= 0 && 0 <= i.High {
				held++
			}
		}
		coverage := float64(held) / float64(trials)
		t.Logf("%s of %d: %.1f %%", c.name, c.queries, 100*coverage)
		if coverage < 0.93 || coverage > 0.98 {
			t.Errorf("%s of %d: the interval holds the difference in %.1f %% of samples", c.name, c.queries, 100*coverage)
		}
	}
}

// Claim: of few queries the interval of a mean, where there is one, holds the true mean in 91 % of
// samples at least; bootstrap intervals, which cannot leave the values seen, do so in 50 % of two
// queries and 75 % of three. Equal values give none.
func TestFewQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	for name, v := range map[string]struct {
		draw func(*rand.Rand) float64
		mean float64
	}{
		"triangular, as average precision":              {func(r *rand.Rand) float64 { return 1 - math.Sqrt(r.Float64()) }, 1. / 3},
		"zero or one, as the precision of one document": {func(r *rand.Rand) float64 { return float64(r.IntN(3) / 2) }, 1. / 3},
	} {
		for _, n := range []int{2, 3, 5, 9, 10} {
			const trials = 4000
			rng := rand.New(rand.NewPCG(6, uint64(n)))
			held, known := 0, 0
			for trial := range trials {
				x := make([]float64, n)
				for q := range x {
					x[q] = v.draw(rng)
				}
				s, err := MeanInterval(x, 300, uint64(trial))
				if err != nil {
					t.Fatal(err)
				}
				switch i := s.Interval; {
				case i == Unbounded && !alike(x):
					t.Fatalf("no interval of %v", x)
				case i != Unbounded:
					if known++; i.Low <= v.mean && v.mean <= i.High {
						held++
					}
				}
			}
			if coverage := float64(held) / float64(known); coverage < 0.91 {
				t.Errorf("%s, %d queries: the interval holds the mean in %.1f %% of samples", name, n, 100*coverage)
			}
		}
	}
}
