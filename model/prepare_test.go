package model

import (
	"errors"
	"slices"
	"testing"

	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// chain returns trees that divide n documents with one feature by their numbers.
func chain(t testing.TB, n int) *Model {
	t.Helper()
	trees := make([][]scorer.TreeNode, n)
	params := make([]float64, 0, 2*n)
	for i := range trees {
		trees[i] = []scorer.TreeNode{{Threshold: float32(i), Left: -1, Right: -2}}
		params = append(params, float64(i), -1)
	}
	s, err := scorer.NewTrees(1, trees)
	if err != nil {
		t.Fatal(err)
	}
	return &Model{Scorer: s, Params: params}
}

// Claim: after Prepare no call of ScoreQuery allocates more than later ones, of trees nothing;
// the scores are those without it. So it is of trees that are members of a fusion, too.
func TestPrepare(t *testing.T) {
	prepared, plain := chain(t, 200), chain(t, 200)
	fused, err := NewFused(fuse.Rule{}, []*Model{chain(t, 200)}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	x, want, got := make([]float32, 8), make([]float64, 8), make([]float64, 8)
	for i := range x {
		x[i] = float32(20*i + 3)
	}
	if err := plain.ScoreQuery(want, x); err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*Model{"trees": prepared, "a fusion": fused} {
		m.Prepare()
		score := func() {
			if err := m.ScoreQuery(got, x); err != nil {
				t.Fatal(err)
			}
		}
		first, later := testing.AllocsPerRun(40, score), testing.AllocsPerRun(40, score)
		if !raceDetector && (first != later || name == "trees" && later != 0) {
			t.Errorf("%s: a call allocates %v times, later %v times", name, first, later)
		}
		if name == "trees" && !slices.Equal(got, want) {
			t.Errorf("the scores are %v, want %v", got, want)
		}
	}
	(&Model{}).Prepare()
	(*Model)(nil).Prepare()
}

// Claim: a model that was neither trained nor loaded has no features and an error for scores,
// and so has no model; a place for no scores is an error where there are documents.
func TestScoreNothing(t *testing.T) {
	for _, m := range []*Model{nil, {}} {
		if n := m.NumFeatures(); n != 0 {
			t.Errorf("%d features", n)
		}
		if err := m.ScoreQuery(make([]float64, 1), []float32{1}); !errors.Is(err, errNoScorer) {
			t.Errorf("error is %v", err)
		}
		if _, err := m.Score(nil); !errors.Is(err, errNoScorer) {
			t.Errorf("error is %v", err)
		}
	}
	m := chain(t, 2)
	if err := m.ScoreQuery(nil, []float32{1, 2}); err == nil || err.Error() != "found an empty dst for 2 feature values, expected an element for each document" {
		t.Errorf("error is %v", err)
	}
	if err := m.ScoreQuery(nil, nil); err != nil {
		t.Errorf("no documents: %v", err)
	}
}
