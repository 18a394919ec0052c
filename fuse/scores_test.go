package fuse

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// judged returns data and the scores of three systems: one that agrees with the grades
// well, one a little, and one that is opposed to them.
func judged(t testing.TB, queries int) (*dataset.Dataset, [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b dataset.Builder
	systems := make([][]float64, 3)
	for q := range queries {
		grades, x := make([]float64, 12), make([]float32, 12)
		for i := range grades {
			grades[i] = float64(rng.IntN(3))
			for s, knowledge := range []float64{1, 0.4, -1} {
				systems[s] = append(systems[s], knowledge*grades[i]+rng.NormFloat64())
			}
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset(), systems
}

// Fused scores are the weighted sum of the votes, query by query.
func TestScores(t *testing.T) {
	d, systems := judged(t, 5)
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
