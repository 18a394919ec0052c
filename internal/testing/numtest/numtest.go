// Package numtest contains shared helpers for tests of numerical code: comparisons up to rounding,
// a direct log-sum-exp, and timing of functions. Start reading at [Near]. The package must not
// import other packages of the module.
package numtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Near reports whether a and b agree to the tolerance. The tolerance is relative if a or b is above
// 1 in magnitude.
func Near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// CheckVector fails the test at once unless every element of got is [Near] that of want.
func CheckVector(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !Near(got[i], want[i], tolerance) {
			t.Fatalf("%s: element %d is %v, want %v\n%v\n%v", what, i, got[i], want[i], got, want)
		}
	}
}

// LogSumExp returns log Σ exp(x[i]), or −Inf for an empty slice.
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

// Timed returns the time of f in nanoseconds, the mean of eight runs.
func Timed(f func()) float64 {
	const times = 8
	start := time.Now()
	for range times {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / times
}

// Median sorts x and returns its median. If len(x) is even, that is the upper of the two middle
// elements.
func Median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// Spread returns n random numbers, one from each of n equal intervals between low and high.
func Spread(n int, low, high float64) []float64 {
	r := rand.New(rand.NewPCG(7, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*(float64(i)+r.Float64())/float64(n)
	}
	return x
}
