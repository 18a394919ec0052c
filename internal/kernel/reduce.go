package kernel

import "math"

// Max returns the largest element, or −Inf for an empty slice. It returns NaN if an element is NaN,
// and +0 for either zero.
func Max(x []float64) float64 { return maximum(x) }

func maxGo(x []float64) float64 {
	m, nan := math.Inf(-1), false
	for _, v := range x {
		if v > m {
			m = v
		}
		nan = nan || v != v
	}
	if nan {
		return math.NaN()
	}
	return m + 0
}

// Sum returns Σ x[i].
func Sum(x []float64) float64 { return sum(x) }

func sumGo(x []float64) float64 {
	var s lanes
	s.add(x)
	return s.sum()
}
