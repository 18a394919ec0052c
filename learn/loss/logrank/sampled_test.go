package logrank

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/internal/testing/numtest"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"pgregory.net/rapid"
)

// additive returns the measure of that name, NDCG being LETOR 3.0's, which is
// LogRank's.
func additive(t testing.TB, name string) measure.Additive {
	t.Helper()
	a, ok := measure.MustParse(name, measure.LETOR3).(measure.Additive)
	if !ok {
		t.Fatalf("%s is not additive", name)
	}
	return a
}

var (
	near        = numtest.Near
	checkVector = numtest.CheckVector
	plainLSE    = numtest.LogSumExp
)

func sampledOptions(change func(*sample.Options)) sample.Options {
	o := sample.DefaultOptions()
	o.Unique = false
	o.Samples, o.Steps, o.Unique = 120, 14, false
	change(&o)
	return o
}

// sampledCases cover both kinds of restarts, thinning, unique rankings, the
// ideal ranking added, all gains and both scales.
func sampledCases(t testing.TB) map[string]*sampledCase {
	both := sampledOptions(func(o *sample.Options) { o.Mix = 0.5 })
	levels := sampledOptions(func(o *sample.Options) { o.Levels, o.Skew = 11, -1 })
	thin := sampledOptions(func(o *sample.Options) { o.Thin, o.Steps, o.Mix = 5, 43, 0.3 })
	thinWorst := sampledOptions(func(o *sample.Options) { o.Thin, o.Mix = 2, 0 })
	unique := sampledOptions(func(o *sample.Options) { o.Unique, o.Steps = true, 6 })
	worst := sampledOptions(func(o *sample.Options) { o.Mix = 0 })
	still := sampledOptions(func(o *sample.Options) { o.Steps, o.Mix = 0, 0.5 })
	return map[string]*sampledCase{
		"default":            newSampledCase(t, mixedQuery(4, 9), additive(t, "map"), 1, sample.DefaultOptions()),
		"both ends":          newSampledCase(t, mixedQuery(4, 9), additive(t, "ndcg@3"), 1, both),
		"levels":             newSampledCase(t, mixedQuery(3, 20), additive(t, "map"), 1.0/60, levels),
		"thinned":            newSampledCase(t, mixedQuery(4, 9), additive(t, "auc"), 1, thin),
		"thinned from worst": newSampledCase(t, mixedQuery(2, 7), additive(t, "mrr"), 1, thinWorst),
		"unique":             newSampledCase(t, mixedQuery(2, 3), additive(t, "map"), 1, unique),
		"one good":           newSampledCase(t, mixedQuery(1, 30), additive(t, "ndcg@10"), 1, both),
		"one bad":            newSampledCase(t, mixedQuery(5, 1), additive(t, "mrr"), 0.2, both),
		"worst only":         newSampledCase(t, mixedQuery(4, 30), additive(t, "ndcg@10"), 1, worst),
		"restarts only":      newSampledCase(t, mixedQuery(3, 5), additive(t, "map"), 1, still),
	}
}

// scoreVectors are random scores of several sizes, ties and extremes.
func scoreVectors(n int) map[string][]float64 {
	rng := rand.New(rand.NewPCG(11, uint64(n)))
	random := func(scale float64) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = scale * rng.NormFloat64()
		}
		return s
	}
	tied := random(1)
	for i := range tied {
		tied[i] = math.Round(tied[i])
	}
	huge := random(1)
	for i := range huge {
		huge[i] = math.Copysign(700, huge[i])
	}
	return map[string][]float64{
		"small": random(0.05), "unit": random(1), "large": random(20),
		"tied": tied, "zero": make([]float64, n), "±700": huge,
	}
}

// Values equal the sums over the sample's rankings, each energy a sum over
// inverted pairs, each gain the measure of the order.
func TestSampledLawAgainstExplicitSums(t *testing.T) {
	var scratch loss.Scratch
	for name, c := range sampledCases(t) {
		for which, s := range scoreVectors(c.pairs.Docs()) {
			for _, beta := range []float64{0, 1, 30} {
				scratch.Reset()
				got, want := c.law.logPartition(beta, s, nil, &scratch), c.partition(beta, s)
				if !near(got, want, 1e-12) {
					t.Errorf("%s, %s scores: A(%v) = %v, expected %v", name, which, beta, got, want)
				}
			}
			scratch.Reset()
			// A difference of two sums has the rounding of the larger.
			tolerance := 1e-12 * max(1, math.Abs(c.partition(0, s)))
			if got, want := c.law.logGain(s, nil, &scratch), c.logGain(s); math.Abs(got-want) > tolerance {
				t.Errorf("%s, %s scores: log E[G] = %v, expected %v", name, which, got, want)
			}
		}
	}
}

// Single energies equal the sums over inverted pairs.
func TestSampledEnergies(t *testing.T) {
	for name, c := range sampledCases(t) {
		for which, s := range scoreVectors(c.pairs.Docs()) {
			var scratch loss.Scratch
			e, shift := c.law.exponents(0, s, &scratch)
			for y := range c.delta {
				want := c.exponent(y, s) + math.Log(c.law.set.Total)
				if !near(e[y], want-shift, 1e-12) && e[y] != want-shift {
					t.Fatalf("%s, %s scores: energy %v of state %d, expected %v", name, which, e[y]+shift, y, want)
				}
			}
		}
	}
}

// Gradients equal central differences of the explicit sums.
func TestSampledGradients(t *testing.T) {
	var scratch loss.Scratch
	for name, c := range sampledCases(t) {
		for which, s := range scoreVectors(c.pairs.Docs()) {
			grad := make([]float64, len(s))
			for i := range grad {
				grad[i] = math.NaN() // must be overwritten
			}
			for _, beta := range []float64{0, 1, 30} {
				scratch.Reset()
				c.law.logPartition(beta, s, grad, &scratch)
				checkGradient(t, name+", "+which+", partition", s, grad, func(s []float64) float64 { return c.partition(beta, s) })
			}
			scratch.Reset()
			c.law.logGain(s, grad, &scratch)
			checkGradient(t, name+", "+which+", gain", s, grad, c.logGain)
		}
	}
}

func checkGradient(t *testing.T, what string, s, grad []float64, f func([]float64) float64) {
	t.Helper()
	for i := range s {
		h := 1e-5 * max(1, math.Abs(s[i])/100)
		x := append([]float64(nil), s...)
		x[i] = s[i] + h
		upper := f(x)
		x[i] = s[i] - h
		want := (upper - f(x)) / (2 * h)
		// The differences lose what the value's size leaves of 16 digits.
		tolerance := 1e-6*max(1, math.Abs(want)) + 1e-15*math.Abs(upper)/h
		if math.Abs(grad[i]-want) > tolerance {
			t.Errorf("%s: ∂/∂s_%d = %v, central difference %v", what, i, grad[i], want)
			return
		}
	}
}

// Values and gradients are the same sums whether exponentials need the largest
// exponent taken out or not: scores from where none does to where all exponentials
// over- or underflow, and almost to the largest float64.
func TestSampledLawAtScoresOfAllSizes(t *testing.T) {
	var scratch loss.Scratch
	for name, c := range sampledCases(t) {
		grad := make([]float64, c.pairs.Docs())
		for _, size := range []float64{0.1, 1, 5, 10, 15, 20, 25, 30, 40, 60, 100, 700, 1e5, 1e300} {
			for _, sign := range []float64{1, -1} {
				s := make([]float64, len(grad))
				for i := range s {
					s[i] = sign * size * math.Cos(float64(i))
				}
				for _, g := range c.pairs.Good {
					s[g] += sign * size
				}
				scratch.Reset()
				got, want := c.law.logPartition(2, s, grad, &scratch), c.partition(2, s)
				// An energy has the rounding of the largest on its walk.
				rounding := 1e-15 * size * c.kappa * float64(c.pairs.Pairs())
				if !near(got, want, 1e-12) && math.Abs(got-want) > rounding {
					t.Errorf("%s, scores of %v: A(2) = %v, expected %v", name, sign*size, got, want)
				}
				// With 1e300, that may decide which ranking has all the probability.
				if want := c.partitionGradient(2, s); !allClose(grad, want, 1e-12+rounding) && size < 1e300 {
					t.Errorf("%s, scores of %v: gradient %v, expected %v", name, sign*size, grad, want)
				}
			}
		}
	}
}

// Where only rankings of vanishing probability have any gain, log E[G] and its
// gradient are those of the log domain, also where the probabilities are
// subnormal numbers: a good document ever further below all bads.
func TestSampledGainOfImprobableRankings(t *testing.T) {
	pairs := mixedQuery(1, 30)
	c := newSampledCase(t, pairs, additive(t, "ndcg@3"), 1, sampledOptions(func(o *sample.Options) { o.Mix = 0.5 }))
	s := make([]float64, pairs.Docs())
	for i := range s {
		s[i] = float64(i) * 0.01
	}
	grad := make([]float64, len(s))
	for _, below := range []float64{8, 10, 11.5, 12, 12.2, 12.4, 12.6, 12.8, 13, 15, 2000} {
		s[pairs.Good[0]] = -below
		got, want := c.law.logGain(s, grad, new(loss.Scratch)), c.logGain(s)
		if !near(got, want, 1e-12) || got > -400 {
			t.Errorf("%v below: log E[G] = %v, expected %v", below, got, want)
		}
		checkGradient(t, "improbable", s, grad, c.logGain)
	}
}

// No finite scores give a value or gradient that is not a number.
func TestSampledLawAtTheLargestScores(t *testing.T) {
	var scratch loss.Scratch
	for name, c := range sampledCases(t) {
		n := c.pairs.Docs()
		for pattern := range 4 {
			s := make([]float64, n)
			for i := range s {
				s[i] = math.MaxFloat64 * float64(1-2*((i>>(pattern%2)^pattern>>1)&1))
			}
			grad := make([]float64, n)
			check := func(what string, v float64) {
				t.Helper()
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s, pattern %d: %s = %v", name, pattern, what, v)
				}
				for i, g := range grad {
					if math.IsNaN(g) || math.IsInf(g, 0) {
						t.Fatalf("%s, pattern %d: gradient %d of %s = %v", name, pattern, i, what, g)
					}
				}
			}
			scratch.Reset()
			check("A(1)", c.law.logPartition(1, s, grad, &scratch))
			scratch.Reset()
			check("log E[G]", c.law.logGain(s, grad, &scratch))
		}
	}
}

// A sample of draws equals the sample of its distinct rankings weighted by how
// often each was drawn.
func TestSampledMultiplicityEqualsWeights(t *testing.T) {
	c := newSampledCase(t, mixedQuery(2, 3), additive(t, "map"), 1, sampledOptions(func(o *sample.Options) { o.Mix = 0.7 }))
	merged := *c.set
	merged.LogWeight = make([]float64, merged.Len())
	times := map[string]float64{}
	first := map[string]int{}
	keys := make([]string, len(c.delta))
	for y, d := range c.delta {
		keys[y] = fmt.Sprint(d)
		if times[keys[y]]++; times[keys[y]] == 1 {
			first[keys[y]] = y
		}
	}
	for y, k := range keys {
		merged.LogWeight[y] = math.Inf(-1)
		if first[k] == y {
			merged.LogWeight[y] = math.Log(times[k])
		}
	}
	if len(first) > merged.Len()/2 {
		t.Fatalf("%d of %d rankings differ: nothing to merge", len(first), merged.Len())
	}
	l := newLawOf(&merged, c.pairs, c.kappa)
	var scratch loss.Scratch
	for which, s := range scoreVectors(c.pairs.Docs()) {
		a, b := make([]float64, len(s)), make([]float64, len(s))
		va, vb := c.law.logPartition(1, s, a, &scratch), l.logPartition(1, s, b, &scratch)
		if !near(va, vb, 1e-13) || !allClose(a, b, 1e-12) {
			t.Errorf("%s scores: A = %v and %v, gradients %v and %v", which, va, vb, a, b)
		}
		va, vb = c.law.logGain(s, a, &scratch), l.logGain(s, b, &scratch)
		if !near(va, vb, 1e-13) || !allClose(a, b, 1e-12) {
			t.Errorf("%s scores: log E[G] = %v and %v, gradients %v and %v", which, va, vb, a, b)
		}
	}
}

func allClose(a, b []float64, tolerance float64) bool {
	for i := range a {
		if !near(a[i], b[i], tolerance) {
			return false
		}
	}
	return true
}

// With every valid ranking in the sample once, A is the sum over all valid
// rankings of the query: for a query with one good document the factored law's,
// whose value at s is Σ_b log(1 + exp(−2κ(s_g − s_b))).
func TestSampleOfAllRankingsIsExact(t *testing.T) {
	pairs := mixedQuery(1, 3)
	opts := sample.Options{Samples: 4000, Steps: 40, Thin: 1, Mix: 0.5, Unique: true, IncludeIdeal: true}
	c := newSampledCase(t, pairs, additive(t, "map"), 1, opts)
	if c.law.set.Total != 8 {
		t.Fatalf("%v of 8 rankings found", c.law.set.Total)
	}
	for which, s := range scoreVectors(4) {
		var want float64
		for _, b := range pairs.Bad {
			want += logspace.Softplus(-2 * (s[pairs.Good[0]] - s[b]))
		}
		got := c.law.logPartition(0, s, nil, new(loss.Scratch)) + math.Log(8)
		if !near(got, want, 1e-13) {
			t.Errorf("%s scores: A(0) = %v, expected %v", which, got, want)
		}
	}
}

// Evaluation allocates nothing once the scratch has grown.
func TestSampledLawDoesNotAllocate(t *testing.T) {
	for name, c := range sampledCases(t) {
		var scratch loss.Scratch
		s, grad := make([]float64, c.pairs.Docs()), make([]float64, c.pairs.Docs())
		eval := func() {
			scratch.Reset()
			c.law.logPartition(1, s, grad, &scratch)
			c.law.logGain(s, grad, &scratch)
		}
		eval()
		eval()
		if n := testing.AllocsPerRun(10, eval); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestNewSampledLawRefuses(t *testing.T) {
	pairs, rng := mixedQuery(4, 30), rand.New(rand.NewPCG(1, 1))
	gain := additive(t, "ndcg@10")
	for what, err := range map[string]error{
		"kappa":   second(newSampledLaw(pairs, gain, 0, sample.DefaultOptions(), rng)),
		"samples": second(newSampledLaw(pairs, gain, 1, sample.Options{Thin: 1}, rng)),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func second(_ *sampledLaw, err error) error { return err }

// A(β) is convex in the scores, and neither quantity changes when all scores
// move together.
func TestSampledLawIsConvexAndShiftInvariant(t *testing.T) {
	cases := sampledCases(t)
	names := slices.Sorted(maps.Keys(cases))
	rapid.Check(t, func(t *rapid.T) {
		c := cases[rapid.SampledFrom(names).Draw(t, "case")]
		n := c.pairs.Docs()
		score := rapid.SliceOfN(rapid.Float64Range(-30, 30), n, n)
		a, b := score.Draw(t, "a"), score.Draw(t, "b")
		beta := rapid.Float64Range(0, 50).Draw(t, "beta")
		part := rapid.Float64Range(0, 1).Draw(t, "part")
		shift := rapid.Float64Range(-100, 100).Draw(t, "shift")
		between, shifted := make([]float64, n), make([]float64, n)
		for i := range between {
			between[i] = part*a[i] + (1-part)*b[i]
			shifted[i] = a[i] + shift
		}
		f := func(s []float64) float64 { return c.law.logPartition(beta, s, nil, new(loss.Scratch)) }
		chord := part*f(a) + (1-part)*f(b)
		if f(between) > chord+1e-11*max(1, math.Abs(f(a)), math.Abs(f(b))) {
			t.Fatalf("A = %v above the chord %v", f(between), chord)
		}
		if !near(f(shifted), f(a), 1e-10) {
			t.Fatalf("A = %v, shifted %v", f(a), f(shifted))
		}
		g, h := c.law.logGain(a, nil, new(loss.Scratch)), c.law.logGain(shifted, nil, new(loss.Scratch))
		if math.Abs(g-h) > 1e-10*max(1, math.Abs(f(a))) {
			t.Fatalf("log E[G] = %v, shifted %v", g, h)
		}
	})
}
