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
		stored := permutation{long: order}
		if rapid.Bool().Draw(t, "two bytes") {
			stored = permutation{short: make([]uint16, n)}
			for i, d := range order {
				stored.short[i] = uint16(d)
			}
		}
		r := rankByScore(s, stored, depth, new(Scratch))
		byRank, back := make([]float64, n), make([]float64, n)
		r.gather(byRank, s)
		r.scatter(back, byRank)
		if !slices.Equal(byRank, r.scores) || !slices.Equal(back, s) {
			t.Fatalf("scores by rank %v and back %v, want %v and %v", byRank, back, r.scores, s)
		}
		want := slices.Clone(order)
		slices.SortStableFunc(want, func(a, b int32) int { return int(s[b] - s[a]) })
		seen := make([]bool, n)
		for rank, p := range r.places {
			d := order[int(p)]
			if r.document(rank) != int(d) {
				t.Fatalf("document %d at rank %d, want %d", r.document(rank), rank, d)
			}
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

// TestNewPermutation: every document once, whatever the memory of one takes; as they stand
// without a source of random numbers.
func TestNewPermutation(t *testing.T) {
	for _, n := range []int{0, 1, shortest, shortest + 1} {
		asTheyStand := newPermutation(n, nil)
		mixed := newPermutation(n, rand.New(rand.NewPCG(1, 2)))
		for i := range n {
			if asTheyStand.document(i) != i {
				t.Fatalf("%d documents: %d at place %d", n, asTheyStand.document(i), i)
			}
		}
		seen := make([]bool, n)
		for i := range n {
			seen[mixed.document(i)] = true
		}
		if slices.Contains(seen, false) {
			t.Errorf("%d documents: one is nowhere", n)
		}
	}
}
