package fuse

import (
	"slices"
	"testing"
)

// Claim: the zero Rule votes by the reciprocals of ranks, 1/(0 + rank).
func TestZeroRule(t *testing.T) {
	if err := (Rule{}).Check(); err != nil {
		t.Fatal(err)
	}
	votes := [][]float64{{0.1, 3, 2, -1}}
	Rule{}.Votes(votes)
	if want := []float64{1.0 / 3, 1, 1.0 / 2, 1.0 / 4}; !slices.Equal(votes[0], want) {
		t.Errorf("votes are %v, want %v", votes[0], want)
	}
	if got := (Rule{}).Kind.String(); got != RRF.String() {
		t.Errorf("the zero rule is %q", got)
	}
}
