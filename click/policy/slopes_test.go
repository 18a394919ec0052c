package policy

import (
	"math"
	"testing"
)

// Claim: the factors of a covariance matrix give it back, also if it is singular.
func TestFactors(t *testing.T) {
	for _, c := range [][][]float64{
		{{0}, {0, 4}, {0, 2, 5}},
		{{1}, {1, 1}, {2, 2, 5}},
		{{0}, {0, 0}},
	} {
		rows := factors(c)
		for i := range c {
			for j := range i + 1 {
				sum := 0.0
				for k := range c {
					sum += rows[i][k] * rows[j][k]
				}
				if math.Abs(sum-c[i][j]) > 1e-12 {
					t.Errorf("covariance %d, %d: found %v, expected %v", i, j, sum, c[i][j])
				}
			}
		}
	}
	if factors(nil) != nil {
		t.Error("found factors of no matrix")
	}
}
