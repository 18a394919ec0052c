package stats

import (
	"fmt"
	"math"
)

// Where queries have weights w, of sum W, the mean of a system's values v on n queries is M = Σ
// w·v/W. Two other sets of values have M as their plain mean, so methods for plain means apply to
// it:
//
//	n·w·v/W             what is added up: flipping the sign of a query's difference flips w·D,
//	                    so that the randomisation test of these is exact under the same
//	                    hypothesis as without weights, which are fixed
//	M + n·w·(v − M)/W   linearised: their deviation is that of the ratio Σ w·v/Σ w over samples
//	                    of the queries, in which the weights vary, too (Cochran, Sampling
//	                    Techniques, 1977, section 6.3), so that they are for everything that
//	                    speaks of other queries: t-test, bootstrap, effect sizes
//
// With equal weights both are the values themselves.

// weighted returns both for every system: the values as they are where weights is nil.
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

// shares returns n·w/W of every query; nil where weights is nil.
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

// checkWeights returns an error unless there are n positive weights, or none.
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
