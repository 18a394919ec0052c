package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

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
