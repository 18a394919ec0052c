package fuse

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset/datatest"
)

// Fused scores are the weighted sum of the votes, query by query.
func TestScores(t *testing.T) {
	d, systems := datatest.Systems(t, 5)
	for _, r := range rules() {
		got := r.Scores(d, systems, []float64{1, 2, 3})
		for i := range d.Queries {
			q := &d.Queries[i]
			votes := make([][]float64, 3)
			for s := range votes {
				votes[s] = slices.Clone(systems[s][q.Start : q.Start+q.Len()])
			}
			r.Votes(votes)
			for k := range q.Len() {
				if want := votes[0][k] + 2*votes[1][k] + 3*votes[2][k]; math.Abs(got[q.Start+k]-want) > 1e-12 {
					t.Fatalf("%+v: score is %v, want %v", r, got[q.Start+k], want)
				}
			}
		}
	}
}
