package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
)

// KolmogorovSmirnov compares the distributions of two independent samples. distance is the largest
// difference of their distribution functions. p is the probability of a distance at least as large
// if both samples have the same distribution. It is Kolmogorov's limit with Stephens's correction
// for small samples (1970, JRSS B 32), which is accurate from about five values per sample on. If
// values tie, p is too small. Each sample needs at least one value, and no value may be NaN. The
// values of a sample must be independent, unlike the values of documents of the same query.
func KolmogorovSmirnov(a, b []float64) (distance, p float64, err error) {
	if len(a) == 0 || len(b) == 0 {
		return 0, 0, fmt.Errorf("found samples of %d and %d values, expected at least one in each", len(a), len(b))
	}
	if slices.ContainsFunc(a, math.IsNaN) || slices.ContainsFunc(b, math.IsNaN) {
		return 0, 0, fmt.Errorf("found a value that is not a number")
	}
	distance = Distance(a, b)
	n := float64(len(a)) * float64(len(b)) / float64(len(a)+len(b))
	return distance, kolmogorovTail((math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * distance), nil
}

// Distance returns the largest difference of the distribution functions of two samples. Each needs at
// least one value.
func Distance(a, b []float64) float64 {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	var i, j int
	var largest float64
	for i < len(a) && j < len(b) {
		v := min(a[i], b[j])
		for i < len(a) && a[i] == v {
			i++
		}
		for j < len(b) && b[j] == v {
			j++
		}
		largest = max(largest, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return largest
}

// kolmogorovTail returns the probability that a variable with Kolmogorov's distribution exceeds x,
// 2·Σ (−1)^(k−1)·exp(−2k²x²). For small x this sum converges slowly, and kolmogorovTail uses the
// equal sum 1 − √(2π)/x·Σ exp(−(2k−1)²π²/(8x²)).
func kolmogorovTail(x float64) float64 {
	switch {
	case x <= 0:
		return 1
	case x < 1.18:
		y, total := math.Pi*math.Pi/(8*x*x), 0.0
		for k := 1.0; k < 20; k++ {
			total += elementary.Exp(-(2*k - 1) * (2*k - 1) * y)
		}
		return max(0, 1-float64(math.Sqrt(2*math.Pi)/x*total))
	}
	total, sign := 0.0, 1.0
	for k := 1.0; k < 20; k++ {
		total += float64(sign * elementary.Exp(-2*k*k*x*x))
		sign = -sign
	}
	return min(1, 2*total)
}
