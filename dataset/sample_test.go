package dataset

import (
	"math"
	"strconv"
	"testing"
)

// Claim: samples have about their share of the queries, smaller ones are parts of larger ones, and
// those of two seeds have no more in common than chance would.
func TestSampleQueries(t *testing.T) {
	const n = 100_000
	shares := []float64{0.001, 0.01, 0.1, 0.5, 0.9, 1}
	other := SampleQueries(0.5, 2)
	counts := make([]int, len(shares))
	both := 0
	for q := range n {
		id, in := strconv.Itoa(q), false
		for k, share := range shares {
			keeps := SampleQueries(share, 1)(id)
			if in && !keeps {
				t.Fatalf("query %s is in a sample but not in that of the share %v", id, share)
			}
			if in = keeps; keeps {
				counts[k]++
			}
			if share == 0.5 && keeps && other(id) {
				both++
			}
		}
	}
	for k, share := range shares {
		if off := math.Abs(float64(counts[k]) - n*share); off > 4*math.Sqrt(n*share*(1-share)) {
			t.Errorf("a sample of the share %v has %d of %d queries", share, counts[k], n)
		}
	}
	if off := math.Abs(float64(both) - n/4); off > 4*math.Sqrt(n*3/16) {
		t.Errorf("samples of two seeds have %d queries in common, want about %d", both, n/4)
	}
}
