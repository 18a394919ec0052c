package stats

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// SplitCheck tests whether units were divided in the proportion of shares, by Pearson's χ² test. counts
// and shares have an element per group. It returns an error unless there are two shares or more, all
// positive and finite, and a unit.
func SplitCheck(counts []int, shares []float64) (chiSquare, p float64, err error) {
	if len(counts) != len(shares) || len(shares) < 2 {
		return 0, 0, fmt.Errorf("found %d groups and %d shares, expected two or more of each", len(counts), len(shares))
	}
	total, all := 0.0, 0
	for i, s := range shares {
		if !(s > 0) || math.IsInf(s, 0) {
			return 0, 0, fmt.Errorf("found the share %v, expected a positive number", s)
		}
		total += s
		all += counts[i]
	}
	if all == 0 {
		return 0, 0, fmt.Errorf("found no units, expected at least one")
	}
	for i, n := range counts {
		expected := float64(float64(all) * (shares[i] / total))
		d := float64(n) - expected
		chiSquare += float64(d*d) / expected
	}
	return chiSquare, ChiSquareTail(chiSquare, len(counts)-1), nil
}

// ChiSquareTail returns the probability that a chi-squared variable with df ≥ 1 degrees of freedom is
// at least x ≥ 0. For whole df it is a finite sum (Abramowitz and Stegun 1964, 26.4.4 and 26.4.5).
func ChiSquareTail(x float64, df int) float64 {
	sum, term, k := 0.0, elementary.Exp(-x/2), 2
	if df%2 == 1 {
		sum = elementary.Erfc(math.Sqrt(x / 2))
		term *= math.Sqrt(2 * x / math.Pi)
		k = 3
	}
	for ; k <= df; k += 2 { // term is x^(k/2−1) e^(−x/2) / (2^(k/2−1) Γ(k/2))
		sum += term
		term *= x / float64(k)
	}
	return min(1, sum)
}
