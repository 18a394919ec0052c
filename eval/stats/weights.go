package stats

import (
	"fmt"
	"math"
)

// Let queries have weights w with the sum W. The mean of a system's values v on n queries is then M =
// Σ w·v/W. Two other sets of values have the plain mean M, so methods for plain means apply to them.
//
// The scaled values are n·w·v/W. Flipping the sign of a query's difference D flips w·D, so the
// randomisation test of the scaled values is exact. It treats the weights as fixed.
//
// The linearised values are M + n·w·(v − M)/W. Their deviation is that of the ratio Σ w·v/Σ w over
// samples of queries, in which the weights vary, too (Cochran, Sampling Techniques, 1977, section 6.3).
// Methods that generalise to other queries use them: t-test, bootstrap and effect sizes.
//
// With equal weights, the scaled and the linearised values are v.

// weighted returns the scaled and the linearised values of every system. For nil weights, both are
// values.
func weighted(values [][]float64, weights []float64) (scaled, linear [][]float64) {
	if weights == nil {
		return values, values
	}
	share := shares(weights)
	scaled, linear = make([][]float64, len(values)), make([][]float64, len(values))
	for i, v := range values {
		scaled[i], linear[i] = make([]float64, len(v)), make([]float64, len(v))
		for q, x := range v {
			scaled[i][q] = share[q] * x
		}
		m := mean(scaled[i])
		for q, x := range v {
			linear[i][q] = m + float64(share[q]*(x-m))
		}
	}
	return scaled, linear
}

// shares returns n·w/W for every query, or nil for nil weights.
func shares(weights []float64) []float64 {
	if weights == nil {
		return nil
	}
	share, n := make([]float64, len(weights)), float64(len(weights))
	total := mean(weights) * n
	for q, w := range weights {
		share[q] = n * w / total
	}
	return share
}

// checkWeights returns an error unless weights is nil or has n positive and finite elements.
func checkWeights(weights []float64, n int) error {
	if weights != nil && len(weights) != n {
		return fmt.Errorf("found %d weights of queries, expected %d", len(weights), n)
	}
	for q, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("found the weight %v of query %d, expected a positive number", w, q+1)
		}
	}
	return nil
}
