package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
)

// Claim: an interval of a mean ends at the range, and an interval of a difference at the range's length.
func TestWithinRange(t *testing.T) {
	values := [][]float64{{1, 1, 1, 1, 1, 1, 0.2}, {0, 0, 0, 0, 0, 0, 0.7}}
	runs := [][][]float64{{values[0], {0.5, 0.6, 0.4, 0.5, 0.6, 0.5, 0.1}}, {values[1]}}
	free, err := CompareRuns(runs, Config{Permutations: 100, Resamples: 100})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := CompareRuns(runs, Config{Permutations: 100, Resamples: 100, Range: Interval{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	of := func(c *Comparison) []Interval {
		return []Interval{c.Systems[0].Interval, c.Systems[1].Interval, c.Pairs[0].Interval}
	}
	a, b := of(free), of(cut)
	if a[0].High <= 1 || a[1].Low >= 0 || a[2].Low >= -1 && a[2].High <= 1 {
		t.Fatalf("without a range, found %v, expected intervals beyond it", a)
	}
	want := []Interval{{max(0, a[0].Low), 1}, {0, a[1].High}, {max(-1, a[2].Low), min(1, a[2].High)}}
	if !slices.Equal(b, want) {
		t.Errorf("found %v, expected %v", b, want)
	}
	one, err := MeanOf(values[0], Config{Resamples: 100, Range: Interval{0, 1}})
	if err != nil || one.Interval.High != 1 {
		t.Errorf("MeanOf gives %v and the error %v, expected an interval that ends at 1", one.Interval, err)
	}
	if got := Unbounded.Within(Interval{0, 1}); got != Unbounded {
		t.Errorf("the unbounded interval becomes %v", got)
	}
}

// The interval of one system is the one that Compare finds for it from the same
// samples.
func TestMeanIntervalIsComparesInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 60)
	other := make([]float64, 60)
	for i := range values {
		values[i], other[i] = rng.ExpFloat64(), rng.Float64()
	}
	want, err := Compare([][]float64{values, other}, Config{Permutations: 10, Resamples: 2000, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	got, err := MeanInterval(values, 2000, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got != want.Systems[0] {
		t.Errorf("found %v, Compare has %v", got, want.Systems[0])
	}
	for _, bad := range [][]float64{nil, {1}, {1, math.NaN()}} {
		if _, err := MeanInterval(bad, 100, 1); err == nil {
			t.Errorf("%v: found no error", bad)
		}
	}
}

// A further normal value falls into the prediction interval as often as it says,
// however few values there are.
func TestPredictionCovers(t *testing.T) {
	long.Test(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{2, 3, 20} {
		const trials = 20_000
		hits := 0
		values := make([]float64, n)
		for range trials {
			for i := range values {
				values[i] = 3 + 2*rng.NormFloat64()
			}
			s, err := Prediction(values)
			if err != nil {
				t.Fatal(err)
			}
			if x := 3 + 2*rng.NormFloat64(); s.Interval.Low <= x && x <= s.Interval.High {
				hits++
			}
		}
		if share := float64(hits) / trials; math.Abs(share-Level) > 0.01 {
			t.Errorf("%d values: %.3f of further values are in the interval, expected %v", n, share, Level)
		}
	}
	if _, err := Prediction([]float64{1}); err == nil {
		t.Error("a single value: found no error")
	}
}

// Compare reports its progress, up to all flips and samples, whether the flips are drawn
// or enumerated.
func TestCompareIsObserved(t *testing.T) {
	for _, n := range []int{8, 60} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		values := [][]float64{make([]float64, n), make([]float64, n)}
		for i := range n {
			values[0][i], values[1][i] = rng.Float64(), rng.Float64()
		}
		var mu sync.Mutex
		most := 0
		_, err := Compare(values, Config{Permutations: 3000, Resamples: 500, Observe: func(done, total int) {
			mu.Lock()
			defer mu.Unlock()
			if total != 3500 || done > total {
				t.Errorf("%d queries: %d of %d", n, done, total)
			}
			most = max(most, done)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if most != 3500 {
			t.Errorf("%d queries: told of %d, expected 3500", n, most)
		}
	}
}
