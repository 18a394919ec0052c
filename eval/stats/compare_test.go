package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func sorted(x []float64) []float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x
}

// random values of systems of which the last differ from the first, on a grid so
// that sums tie.
func table(rng *rand.Rand, systems, queries int, step float64) [][]float64 {
	values := make([][]float64, systems)
	for i := range values {
		values[i] = make([]float64, queries)
	}
	for q := range queries {
		hard := rng.Float64()
		for i := range values {
			values[i][q] = math.Round((hard+0.3*rng.NormFloat64()+0.03*float64(i))/step) * step
		}
	}
	return values
}

// statistic is |t| by its definition.
func statistic(d []float64) float64 {
	m, s := mean(d), deviation(d)
	switch {
	case math.Abs(m) < 1e-9:
		return 0
	case s < 1e-9:
		return math.Inf(1)
	}
	return math.Abs(m) / (s / math.Sqrt(float64(len(d))))
}

// bruteForce returns every pair's exact p values by their definitions: every sign flip is
// applied to the differences and every |t| computed again; for max-T the pairs still
// standing, beginning with all, give the maximum (Westfall and Young's step-down as a
// sequence of tests).
func bruteForce(values [][]float64, pairs []Pair) (alone, largest []float64) {
	n := len(values[0])
	t := make([][]float64, 1<<n)
	for flip := range t {
		t[flip] = make([]float64, len(pairs))
		for k, p := range pairs {
			d := differences(values[p.A], values[p.B])
			for q := range d {
				if flip>>q&1 == 1 {
					d[q] = -d[q]
				}
			}
			t[flip][k] = statistic(d)
		}
	}
	const slack = 1 - 1e-9
	alone, largest = make([]float64, len(pairs)), make([]float64, len(pairs))
	standing := make([]int, len(pairs))
	for k := range standing {
		standing[k] = k
		for flip := range t {
			if t[flip][k] >= slack*t[0][k] {
				alone[k] += 1 / float64(len(t))
			}
		}
	}
	before := 0.0
	for len(standing) > 0 {
		top := 0
		for i, k := range standing {
			if t[0][k] > t[0][standing[top]]*(1+1e-9) {
				top = i
			}
		}
		k := standing[top]
		for flip := range t {
			reached := false
			for _, other := range standing {
				reached = reached || t[flip][other] >= slack*t[0][k]
			}
			if reached {
				largest[k] += 1 / float64(len(t))
			}
		}
		largest[k] = max(largest[k], before)
		before = largest[k]
		standing = slices.Delete(standing, top, top+1)
	}
	return alone, largest
}

// Claim: up to twelve queries the randomisation test is exact: its p values and those by
// max-T are those of all 2ⁿ sign flips, each applied to the differences, with |t| computed
// again.
func TestExactAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		systems, n := rapid.IntRange(2, 4).Draw(t, "systems"), rapid.IntRange(2, 9).Draw(t, "queries")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		values := table(rng, systems, n, rapid.SampledFrom([]float64{1e-6, 0.1, 0.5}).Draw(t, "step"))
		r, err := Compare(values, Config{Baseline: rapid.IntRange(-1, systems-1).Draw(t, "baseline"), Permutations: 1, Resamples: 1})
		if err != nil {
			t.Fatal(err)
		}
		alone, largest := bruteForce(values, r.Pairs)
		for k, p := range r.Pairs {
			if !r.Exact || !near(p.Randomization.P, alone[k], 1e-9) || !near(p.Randomization.MaxT, largest[k], 1e-9) {
				t.Fatalf("pair %d of %v has p %v and %v by max-T, want %v and %v", k, values, p.Randomization.P, p.Randomization.MaxT, alone[k], largest[k])
			}
		}
	})
	for _, n := range []int{11, 12} {
		values := table(rand.New(rand.NewPCG(3, uint64(n))), 3, n, 0.05)
		r := compare(t, values, Config{Baseline: -1, Permutations: 1, Resamples: 1})
		alone, largest := bruteForce(values, r.Pairs)
		for k, p := range r.Pairs {
			if !near(p.Randomization.P, alone[k], 1e-9) || !near(p.Randomization.MaxT, largest[k], 1e-9) {
				t.Errorf("%d queries: p %v and %v by max-T, want %v and %v", n, p.Randomization.P, p.Randomization.MaxT, alone[k], largest[k])
			}
		}
	}
}

// Claim: the sums of drawn sign flips are those of the queries' values with the signs that
// the random words say, for any number of queries.
func TestSignsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, systems := rapid.IntRange(0, 200).Draw(t, "queries"), rapid.IntRange(1, 5).Draw(t, "systems")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := make([][]float64, n)
		for q := range rows {
			rows[q] = make([]float64, systems)
			for i := range rows[q] {
				rows[q][i] = float64(rng.IntN(1000)) // adds exactly in any order
			}
		}
		s := newSigns(rows, systems, false, 1)
		got, want := make([]float64, systems), make([]float64, systems)
		for word := range s.words {
			bits := rng.Uint64()
			s.add(word, bits, got)
			for q := 64 * word; q < min(n, 64*word+64); q++ {
				for i, v := range rows[q] {
					want[i] += v * float64(1-2*int(bits>>(q%64)&1))
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("sums are %v, want %v", got, want)
		}
	})
}

// Claim: drawn sign flips approach the exact p values: 21 queries, just too many to
// enumerate, against all 2²⁰ flips of them in Gray code.
func TestDrawnAgainstExact(t *testing.T) {
	const n, draws = 21, 200_000
	values := table(rand.New(rand.NewPCG(5, 5)), 2, n, 0.1)
	d := differences(values[0], values[1])
	var observed float64
	for _, v := range d {
		observed += v
	}
	count, sum := 0, observed
	sign := make([]bool, n)
	for i := range 1 << (n - 1) {
		if i > 0 {
			k := 0
			for i>>k&1 == 0 {
				k++
			}
			if sign[k] = !sign[k]; sign[k] {
				sum -= 2 * d[k]
			} else {
				sum += 2 * d[k]
			}
		}
		if math.Abs(sum) >= math.Abs(observed)-1e-9 {
			count++
		}
	}
	exact := float64(count) / (1 << (n - 1))
	r := compare(t, values, Config{Baseline: -1, Permutations: draws, Resamples: 1, Seed: 1})
	got := r.Pairs[0].Randomization.P
	if r.Exact || r.Permutations != draws || math.Abs(got-exact) > 4*math.Sqrt(exact*(1-exact)/draws) {
		t.Errorf("p is %v, the exact one %v; %+v", got, exact, r)
	}
}

// Claim: the result has the same bits for any number of workers and cores, and depends on
// the seed.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	values := table(rand.New(rand.NewPCG(1, 1)), 4, 70, 0.001)
	c := Config{Baseline: 1, Permutations: 5000, Resamples: 500, Seed: 3}
	want := clean(compare(t, values, c))
	for _, procs := range []int{1, 3} {
		runtime.GOMAXPROCS(procs)
		for _, workers := range []int{0, 1, 4} {
			c.Workers = workers
			if got := clean(compare(t, values, c)); !reflect.DeepEqual(got, want) {
				t.Errorf("GOMAXPROCS %d, %d workers: %+v, want %+v", procs, workers, got, want)
			}
		}
	}
	c.Seed++
	if got := clean(compare(t, values, c)); reflect.DeepEqual(got, want) {
		t.Error("another seed gives the same")
	}
}

// clean takes away the NaNs, which are not equal to themselves.
func clean(r *Comparison) *Comparison {
	for i := range r.Pairs {
		r.Pairs[i].Bootstrap.MaxT = 0
	}
	return r
}

// Claim: swapping two systems turns the signs and nothing else; scaling all values by
// a power of two changes no p value (an effect size over equal differences is NaN); corrected p values are at least their own, and the
// interval holds the difference.
func TestSymmetries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		values := table(rng, 3, rapid.OneOf(rapid.IntRange(2, 10), rapid.IntRange(21, 40)).Draw(t, "queries"), 0.01)
		c := Config{Baseline: -1, Permutations: 300, Resamples: 100}
		r, err := Compare(values, c)
		if err != nil {
			t.Fatal(err)
		}
		swapped, _ := Compare([][]float64{values[1], values[0], values[2]}, c)
		p, s := r.Pairs[0], swapped.Pairs[0]
		if s.Difference != -p.Difference || s.T.T != -p.T.T || s.T.P != p.T.P || s.Randomization != p.Randomization || s.Wins != p.Losses || s.CohenD != -p.CohenD && !(math.IsNaN(s.CohenD) && math.IsNaN(p.CohenD)) {
			t.Fatalf("pair is %+v, swapped %+v", p, s)
		}
		for i := range values {
			for q := range values[i] {
				values[i][q] *= 8
			}
		}
		scaled, _ := Compare(values, c)
		for k, p := range r.Pairs {
			s := scaled.Pairs[k]
			if s.Randomization != p.Randomization || s.Bootstrap.P != p.Bootstrap.P || s.T.P != p.T.P {
				t.Fatalf("pair is %+v, scaled %+v", p, s)
			}
			for _, test := range []Test{p.Randomization, {p.T.P, p.T.Holm, 1}, {p.Bootstrap.P, p.Bootstrap.Holm, 1}} {
				if test.P < 0 || test.Holm < test.P || test.MaxT < test.P || test.Holm > 1 || test.MaxT > 1 {
					t.Fatalf("p values %+v", test)
				}
			}
			if p.Interval.Low > p.Difference || p.Interval.High < p.Difference {
				t.Fatalf("interval %v of %v", p.Interval, p.Difference)
			}
		}
	})
}

// Claim: what is said of a pair, corrections apart, does not depend on what other
// systems are compared, even where queries are alike for the pair and not for others.
func TestPairsStandAlone(t *testing.T) {
	values := table(rand.New(rand.NewPCG(8, 8)), 3, 50, 0.4)
	two := compare(t, values[:2], Config{Baseline: -1, Permutations: 2000, Resamples: 200}).Pairs[0]
	three := compare(t, values, Config{Baseline: -1, Permutations: 2000, Resamples: 200}).Pairs[0]
	if two.Ties < 3 {
		t.Errorf("%d ties, expected some", two.Ties)
	}
	if two.Randomization.P != three.Randomization.P || two.Bootstrap.P != three.Bootstrap.P || two.T.P != three.T.P || math.Abs(two.Interval.Low-three.Interval.Low) > 1e-12 || math.Abs(two.Interval.High-three.Interval.High) > 1e-12 {
		t.Errorf("pair is %+v, among others %+v", two, three)
	}
}

// Claim: systems that are equal, everywhere better by the same amount, or equal up to
// rounding give p values that say so and no NaN where a number is promised.
func TestDegenerate(t *testing.T) {
	a := []float64{.1, .5, .3, .7}
	b, c := slices.Clone(a), slices.Clone(a)
	for q := range a {
		b[q] += 1e-16
		c[q] -= .05
	}
	r := compare(t, [][]float64{a, b, c}, Config{Baseline: 0, Permutations: 1, Resamples: 1000})
	same, worse := r.Pairs[0], r.Pairs[1]
	if same.T.P != 1 || same.T.T != 0 || same.Randomization.P != 1 || same.Bootstrap.P != 1 || same.Ties != 4 || same.Interval != Unbounded || !math.IsNaN(same.CohenD) {
		t.Errorf("equal systems give %+v", same)
	}
	if worse.T.P != 0 || !math.IsInf(worse.T.T, -1) || worse.Randomization.P != 2./16 || worse.Losses != 4 || worse.Interval != Unbounded {
		t.Errorf("a system that is worse everywhere gives %+v", worse)
	}
	if r := compare(t, [][]float64{a, a}, Config{Baseline: -1, Permutations: 1, Resamples: 1}); r.Pairs[0].Randomization.MaxT != 1 {
		t.Errorf("the same twice gives %+v", r.Pairs[0])
	}
}

func TestCompareErrors(t *testing.T) {
	ok := []float64{1, 2}
	good := Config{Baseline: -1, Permutations: 1, Resamples: 1}
	for _, c := range []struct {
		values [][]float64
		config Config
		want   string
	}{
		{[][]float64{ok}, good, "found 1 systems, expected at least two"},
		{[][]float64{ok, ok}, Config{Baseline: 2, Permutations: 1, Resamples: 1}, "baseline 2 of 2 systems"},
		{[][]float64{ok, ok}, Config{Baseline: -1, Permutations: -1}, "-1 permutations and 10000 bootstrap samples"},
		{[][]float64{ok, {1}}, good, "system 2 has 1 values, the first 2"},
		{[][]float64{ok, {1, math.NaN()}}, good, "system 2, query 2: found NaN, expected a finite number"},
		{[][]float64{{1}, {2}}, good, "found 1 queries, expected at least two"},
	} {
		if _, err := Compare(c.values, c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
	}
}

// BenchmarkCompare is six methods on OHSUMED's 106 queries with 100,000 sign flips
// and 10,000 bootstrap samples; the flips and the samples alone; and a hundredth
// of it on as many queries as WEB30K has.
//
// The least work for the flips is 27 additions of six numbers a flip, from tables of 20 KB
// that stay in the first cache, and 15 comparisons with two counts each; that of the
// samples 106 random numbers and additions of six.
func BenchmarkCompare(b *testing.B) {
	for _, c := range []struct {
		name             string
		queries          int
		flips, resamples int
	}{
		{"all", 106, 100_000, 10_000},
		{"flips", 106, 100_000, 1},
		{"bootstrap", 106, 1, 10_000},
		{"web30k", 31_531, 1_000, 100},
	} {
		b.Run(c.name, func(b *testing.B) {
			values := table(rand.New(rand.NewPCG(1, 1)), 6, c.queries, 1e-9)
			for b.Loop() {
				if _, err := Compare(values, Config{Baseline: -1, Permutations: c.flips, Resamples: c.resamples}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Claim: the zero Config compares with the first system, by the default numbers of draws.
func TestZeroConfig(t *testing.T) {
	values := table(rand.New(rand.NewPCG(7, 8)), 3, 25, 0.01)
	got, want := compare(t, values, Config{}), compare(t, values, Config{Permutations: DefaultPermutations, Resamples: DefaultResamples})
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || got.Permutations != DefaultPermutations || len(got.Pairs) != 2 || got.Pairs[0].B != 0 {
		t.Errorf("the zero configuration gives %+v, want %+v", got, want)
	}
}
