package boost

import (
	"math"
	"testing"

	"github.com/listwise/listwise/dataset/datatest"
)

// A query, and a document, of weight w counts as w alike: rounds of RankBoost with both of its weights
// of weak rankers, and of FRank, are those of copies; one of weight 0 counts as none.
func TestWeightsCountCopies(t *testing.T) {
	for seed := range uint64(5) {
		d := random(6, 9, 3, seed)
		queries, documents := make([]float64, len(d.Queries)), make([]float64, d.Docs())
		for i := range queries {
			queries[i] = float64((i + 1) % 4)
		}
		for i := range documents {
			documents[i] = float64((i*7 + i/5) % 4)
		}
		ones := make([]float64, d.Docs())
		for i := range ones {
			ones[i] = 1
		}
		for _, o := range []Options{{}, {PerQuery: true}, {Cuts: 4, Up: true}} {
			for _, exact := range []bool{false, true} {
				both := newRankBoost(t, datatest.Weighed(t, d, queries, documents), o, exact)
				likeCopies(t, both, newRankBoost(t, datatest.Copies(t, d, queries, documents), o, exact))
			}
			f := FRankOptions{Options: o, Search: ByFeature}
			likeCopies(t, newFRank(t, datatest.Weighed(t, d, queries, nil), f), newFRank(t, datatest.Copies(t, d, queries, ones), f))
		}
	}
}

func likeCopies(t *testing.T, weighted, copied interface{ Next() (Round, bool) }) {
	t.Helper()
	for k := range 6 {
		got, ok := weighted.Next()
		want, wantOK := copied.Next()
		if ok != wantOK || got.Stump != want.Stump || math.Abs(got.Weight-want.Weight) > 1e-9 || math.Abs(got.Loss-want.Loss) > 1e-12 {
			t.Fatalf("round %d is %+v, of copies %+v", k+1, got, want)
		}
	}
}
