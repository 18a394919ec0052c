package loss

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRankByScore: the first ranks are those of a stable sort, for any depth, and every
// document has a rank.
func TestRankByScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "documents")
		depth := rapid.IntRange(1, n).Draw(t, "depth")
		values := rapid.IntRange(1, 200).Draw(t, "values")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		s, order := make([]float64, n), make([]int32, n)
		for i, d := range rng.Perm(n) {
			order[i] = int32(d)
			s[i] = float64(rng.IntN(values))
		}
		r := rankByScore(s, order, depth, new(Scratch))
		want := slices.Clone(order)
		slices.SortStableFunc(want, func(a, b int32) int { return int(s[b] - s[a]) })
		seen := make([]bool, n)
		for rank, p := range r.places {
			d := order[int(p)]
			if rank < depth && d != want[rank] {
				t.Fatalf("document %d at rank %d, want %d", d, rank, want[rank])
			}
			if r.scores[rank] != s[d] || seen[d] {
				t.Fatalf("document %d at rank %d with score %v, seen before: %v", d, rank, r.scores[rank], seen[d])
			}
			seen[d] = true
		}
	})
}
