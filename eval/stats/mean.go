package stats

import (
	"fmt"
	"math"
	"sync/atomic"
)

// MeanInterval returns the mean of values and its bootstrap interval. resamples is the number of
// bootstrap samples. There must be at least two values, all finite.
func MeanInterval(values []float64, resamples int, seed uint64) (System, error) {
	return MeanOf(values, Config{Resamples: resamples, Seed: seed, Workers: 1})
}

// MeanOf returns the weighted mean of values and its bootstrap interval. Both are the same as the
// results of [Compare] with the same Config for a system with these values. There must be at least
// two values, all finite.
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
	s.Interval = interval(linear[0], s.Mean, spread{}, resample(linear, &c)[0]).Within(c.Range)
	return s, nil
}

// Prediction returns an interval that contains one more value with probability [Level], if all values
// are drawn from the same normal distribution:
//
//	mean ± t·s·√(1 + 1/n)
//
// t is the quantile of Student's t with n − 1 degrees of freedom, and s is the standard deviation.
// There must be at least two values.
func Prediction(values []float64) (System, error) {
	n := float64(len(values))
	if n < 2 {
		return System{}, fmt.Errorf("found %d values, expected at least two", len(values))
	}
	m := mean(values)
	half := float64(studentQuantile(1-Alpha/2, n-1) * deviation(values) * math.Sqrt(1+1/n))
	return System{Mean: m, Interval: Interval{m - half, m + half}}, nil
}
