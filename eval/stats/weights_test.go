package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func drawValues(rng *rand.Rand, systems, queries int) (values [][]float64, weights []float64) {
	values, weights = make([][]float64, systems), make([]float64, queries)
	for i := range values {
		values[i] = make([]float64, queries)
		for q := range values[i] {
			values[i][q] = rng.Float64() + 0.1*float64(i)
		}
	}
	for q := range weights {
		weights[q] = 0.1 + 5*rng.Float64()*rng.Float64()
	}
	return values, weights
}

// With equal weights, whatever they are, everything is as without.
func TestEqualWeightsAreNone(t *testing.T) {
	values, weights := drawValues(rand.New(rand.NewPCG(1, 1)), 3, 30)
	for q := range weights {
		weights[q] = 4 // a power of two, so that no bit is lost
	}
	c := Config{Baseline: -1, Permutations: 500, Resamples: 300}
	want, err := Compare(values, c)
	if err != nil {
		t.Fatal(err)
	}
	c.Weights = weights
	got, err := Compare(values, c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Pairs {
		a, b := &want.Pairs[i], &got.Pairs[i]
		if math.Abs(a.Difference-b.Difference) > 1e-15 || math.Abs(a.T.P-b.T.P) > 1e-12 || a.Wins != b.Wins ||
			a.Randomization != b.Randomization || math.Abs(a.Interval.Low-b.Interval.Low) > 1e-12 || math.Abs(a.CohenD-b.CohenD) > 1e-12 {
			t.Errorf("pair is %+v, without weights %+v", b, a)
		}
	}
}

// The p value of the randomisation test is the share of all flips of signs of the differences
// whose weighted mean is as far from 0, here counted one by one; means are weighted.
func TestWeightedRandomization(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 20 {
		values, weights := drawValues(rng, 2, 9)
		r, err := Compare(values, Config{Weights: weights, Resamples: 1})
		if err != nil {
			t.Fatal(err)
		}
		weightedMean := func(of func(q int) float64) float64 {
			var sum, total float64
			for q, w := range weights {
				sum, total = sum+w*of(q), total+w
			}
			return sum / total
		}
		d := func(q int) float64 { return values[1][q] - values[0][q] }
		reached := 0
		for flips := range 1 << 9 {
			flipped := weightedMean(func(q int) float64 { return d(q) * float64(1-2*(flips>>q&1)) })
			if math.Abs(flipped) >= math.Abs(weightedMean(d))-1e-12 {
				reached++
			}
		}
		p := &r.Pairs[0]
		if want := float64(reached) / 512; math.Abs(p.Randomization.P-want) > 1e-15 || !r.Exact {
			t.Errorf("p is %v, expected %v", p.Randomization.P, want)
		}
		if math.Abs(p.Difference-weightedMean(d)) > 1e-14 || math.Abs(r.Systems[0].Mean-weightedMean(func(q int) float64 { return values[0][q] })) > 1e-14 {
			t.Errorf("difference is %v, mean %v", p.Difference, r.Systems[0].Mean)
		}
	}
}

// The t-test divides by the error of a ratio as by Cochran's formula, and the interval is that
// of weighted means of samples of the queries with their weights, up to what linearising leaves.
func TestWeightedErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	values, weights := drawValues(rng, 2, 400)
	r, err := Compare(values, Config{Weights: weights, Permutations: 20000, Resamples: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, n := &r.Pairs[0], float64(len(weights))
	var total, squares float64
	for q, w := range weights {
		off := w * (values[1][q] - values[0][q] - p.Difference)
		total, squares = total+w, squares+off*off
	}
	if want := p.Difference / math.Sqrt(n/(n-1)*squares/(total*total)); math.Abs(p.T.T-want) > 1e-9*math.Abs(want) {
		t.Errorf("t is %v, expected %v", p.T.T, want)
	}
	ratios := make([]float64, 20000)
	for k := range ratios {
		var sum, total float64
		for range weights {
			q := rng.IntN(len(weights))
			sum, total = sum+weights[q]*(values[1][q]-values[0][q]), total+weights[q]
		}
		ratios[k] = sum / total
	}
	slices.Sort(ratios)
	low, high := ratios[500], ratios[19500]
	if width := high - low; math.Abs(p.Interval.Low-low) > 0.06*width || math.Abs(p.Interval.High-high) > 0.06*width {
		t.Errorf("interval is %v, of sampled ratios %v to %v", p.Interval, low, high)
	}
}

// Weights that do not fit are refused.
func TestWrongWeights(t *testing.T) {
	values, _ := drawValues(rand.New(rand.NewPCG(4, 1)), 2, 3)
	for want, weights := range map[string][]float64{
		"found 2 weights of queries, expected 3":                      {1, 1},
		"found the weight 0 of query 2, expected a positive number":   {1, 0, 1},
		"found the weight NaN of query 3, expected a positive number": {1, 1, math.NaN()},
	} {
		if _, err := Compare(values, Config{Weights: weights}); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	if a, b := weighted(values, nil); !reflect.DeepEqual(a, values) || !reflect.DeepEqual(b, values) {
		t.Error("without weights values change")
	}
}
