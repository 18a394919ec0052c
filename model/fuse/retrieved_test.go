package fuse

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// Claim: documents that a system did not retrieve get what each rule is said to give them,
// and its other votes are those it gives a shorter list.
func TestVotesForTheNotRetrieved(t *testing.T) {
	no := dataset.NotRetrieved
	for _, c := range []struct {
		rule         Rule
		scores, want []float64
	}{
		{Rule{Kind: RRF, K: 60}, []float64{no, 3, 1, no, 2}, []float64{0, 1. / 61, 1. / 63, 0, 1. / 62}},
		{Rule{Kind: CombSUM}, []float64{no, 3, 1, no, 2}, []float64{0, 1, 0, 0, 0.5}},
		{Rule{Kind: CombSUM, Scale: Sum}, []float64{no, 3, 1, no, 2}, []float64{0, 2. / 3, 0, 0, 1. / 3}},
		{Rule{Kind: CombSUM, Scale: ZScore}, []float64{no, 3, 1}, []float64{-1, 1, -1}},
		{Rule{Kind: CombMNZ}, []float64{no, 3, 1, no, 2}, []float64{0, 1, 0, 0, 0.5}},
		// Of five documents, the two not retrieved share the votes of ranks 4 and 5.
		{Rule{Kind: Borda}, []float64{no, 3, 1, no, 2}, []float64{0.125, 1, 0.5, 0.125, 0.75}},
		{Rule{Kind: RRF, K: 60}, []float64{no, no}, []float64{0, 0}},
		{Rule{Kind: CombSUM}, []float64{no, no}, []float64{0, 0}},
		{Rule{Kind: CombSUM, Scale: ZScore}, []float64{no, no}, []float64{0, 0}},
	} {
		votes := append([]float64(nil), c.scores...)
		c.rule.Votes([][]float64{votes})
		if d := cmp.Diff(c.want, votes, cmpopts.EquateApprox(0, 1e-15)); d != "" {
			t.Errorf("%+v: %s", c.rule, d)
		}
	}
}

// Claim: a fusion retrieves what any of its systems does, and nothing else.
func TestFusionRetrieves(t *testing.T) {
	no := dataset.NotRetrieved
	d := datatest.Queries(t, datatest.Query{Grades: []float64{1, 0, 0}, X: make([]float32, 3)})
	for _, name := range Kinds() {
		got := Rule{Kind: Kind(name), K: 60}.Scores(d, [][]float64{{2, no, no}, {no, 1, no}}, Equal(2))
		if got[2] != no || math.IsInf(got[0], 0) || math.IsInf(got[1], 0) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Claim: the one document that a system retrieved, or several of equal score, count more than
// those that it did not retrieve. By hand: under minmax they are 1, under sum equal shares.
func TestEqualScoresAboveAbsent(t *testing.T) {
	no := dataset.NotRetrieved
	for _, c := range []struct {
		kind  Kind
		scale Scale
		a, b  []float64
		want  []float64 // the sum of the votes
	}{
		{CombSUM, MinMax, []float64{5, no, no}, []float64{1, 3, 2}, []float64{1, 1, 0.5}},
		{CombSUM, MinMax, []float64{-5, -5, no}, []float64{no, 3, 2}, []float64{1, 2, 0}},
		{CombSUM, Sum, []float64{5, 5, no}, []float64{1, 3, 2}, []float64{0.5, 0.5 + 2/3., 1 / 3.}},
		{CombMNZ, MinMax, []float64{5, no, no}, []float64{2, 3, 1}, []float64{3, 1, 0}},
		{CombSUM, MinMax, []float64{5, 5, 5}, []float64{1, 3, 2}, []float64{0, 1, 0.5}}, // says nothing of the order
	} {
		votes := [][]float64{slices.Clone(c.a), slices.Clone(c.b)}
		Rule{Kind: c.kind, Scale: c.scale}.Votes(votes)
		for i, want := range c.want {
			if got := votes[0][i] + votes[1][i]; math.Abs(got-want) > 1e-15 {
				t.Errorf("%s, %s, %v and %v: document %d has %v, want %v", c.kind, c.scale, c.a, c.b, i+1, got, want)
			}
		}
	}
	one := dataset.FromBlocks(dataset.Blocks{IDs: []string{"1"}, Counts: []int{1}, Grades: []float64{1}})
	if got := (Rule{Kind: CombSUM}).Scores(one, [][]float64{{7}, {0}}, []float64{1, 2}); got[0] != 3 {
		t.Errorf("the only document of two runs has %v, want 3", got[0])
	}
}
