package stats

import (
	"fmt"
	"math"
)

// Suppose that n queries have weights w with the sum W. The mean of a system's values v is then M =
// Σ w·v/W. The package replaces v by values whose unweighted mean is M, so that methods for
// unweighted means apply. It uses two kinds of such values.
//
// The scaled values are n·w·v/W. Flipping the sign of a query's difference D also flips the sign of
// w·D, so the randomisation test of the scaled values is exact. This test treats the weights as
// fixed.
//
// The linearised values are M + n·w·(v − M)/W. The variance of their mean is approximately the
// variance of the ratio Σ w·v/Σ w over samples of queries, in which the weights vary, too (Cochran,
// Sampling Techniques, 1977, section 6.3). The t-test, the bootstrap and the effect sizes, which
// generalise to other queries, use the linearised values.
//
// With equal weights, the scaled and the linearised values are v.

// weighted returns the scaled and the linearised values of every system. If weights is nil, it
// returns the argument values twice.
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

// shares returns the share of every query, which is n·w/W, or nil for nil weights.
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
