// Package numtest holds what the tests of numerical code share: comparisons up to rounding,
// a log-sum-exp from its definition, and times of functions for benchmarks that report
// ratios. Start reading at [Near]. The package must not know what the numbers are.
package numtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Near reports whether a and b agree to the tolerance, relative for large numbers.
func Near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// CheckVector ends the test unless the elements of got and want are [Near] each other.
func CheckVector(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !Near(got[i], want[i], tolerance) {
			t.Fatalf("%s: element %d is %v, want %v\n%v\n%v", what, i, got[i], want[i], got, want)
		}
	}
}

// LogSumExp returns log Σ exp(x[i]), −Inf for no elements.
func LogSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, v)
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// Timed returns f's time in nanoseconds, as the mean of several runs.
func Timed(f func()) float64 {
	const times = 8
	start := time.Now()
	for range times {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / times
}

// Median returns the median of x, the upper one of an even number, and sorts x.
func Median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// Spread returns n numbers between low and high, evenly but for a random part.
func Spread(n int, low, high float64) []float64 {
	r := rand.New(rand.NewPCG(7, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*(float64(i)+r.Float64())/float64(n)
	}
	return x
}
