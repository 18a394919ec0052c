package stats

import (
	"fmt"
	"math"
	"sync/atomic"
)

// MeanInterval returns the mean of values and its bootstrap interval, as in [System], from
// the given number of samples. The values must be finite, two of them at least.
func MeanInterval(values []float64, resamples int, seed uint64) (System, error) {
	return MeanOf(values, Config{Resamples: resamples, Seed: seed, Workers: 1})
}

// MeanOf returns the mean of values, by the Weights of the queries, and its bootstrap interval: what
// [Compare] with the same Config says of a system with these values. The values must be finite, two of them
// at least.
func MeanOf(values []float64, c Config) (System, error) {
	if c.Permutations = 1; c.Resamples == 0 {
		c.Resamples = DefaultResamples
	}
	c.Baseline, c.done = 0, new(atomic.Int64)
	if err := c.check([][]float64{values, values}); err != nil {
		return System{}, err
	}
	_, linear := weighted([][]float64{values}, c.Weights)
	s := System{Mean: mean(linear[0])}
	s.Interval = interval(linear[0], s.Mean, spread{}, resample(linear, &c)[0])
	return s, nil
}

// Prediction returns the interval that one more value, drawn like the others from
// a normal distribution, falls into with probability [Level]:
//
//	mean ± t·s·√(1 + 1/n)
//
// with Student's t of n − 1 degrees of freedom and the standard deviation s. There
// must be two values at least.
func Prediction(values []float64) (System, error) {
	n := float64(len(values))
	if n < 2 {
		return System{}, fmt.Errorf("found %d values, expected at least two", len(values))
	}
	m := mean(values)
	half := float64(studentQuantile(1-Alpha/2, n-1) * deviation(values) * math.Sqrt(1+1/n))
	return System{Mean: m, Interval: Interval{m - half, m + half}}, nil
}
