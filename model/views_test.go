package model

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model/scorer"
)

var rankRaw = dataset.Views{dataset.RankView, dataset.RawView}

// viewKinds are models of two features that see both views of rankRaw, of every way in which
// documents are scored.
func viewKinds(t *testing.T) map[string]*Model {
	trees, err := scorer.NewTrees(4, [][]scorer.TreeNode{{{Feature: 1, Threshold: 0.3, Left: -1, Right: 1}, {Feature: 2, Threshold: -0.2, Left: -2, Right: -3}}})
	if err != nil {
		t.Fatal(err)
	}
	pairs := scorer.PairNetwork{Features: 4, Hidden: 2, PairHidden: 2, Activation: scorer.Tanh}
	weights := make([]float64, pairs.NumParams())
	pairs.Init(weights, rand.New(rand.NewPCG(3, 4)))
	return map[string]*Model{
		"linear": linear(1, 0.5, -2, 3), "trees": {Scorer: trees, Params: []float64{1, 2, 4}}, "pairs": {Scorer: pairs, Params: weights},
	}
}

// A model with views scores as one without scores data whose features were viewed before, to the
// bit, after transforms and normalization, alone and in a fusion, and so does what its file holds;
// data of fewer features are those with zeros.
func TestViewsAreTakenLast(t *testing.T) {
	steps := pipeline(t, map[int]transform.Chain{0: {transform.Log1p{}}, 1: {transform.Standard{Mean: 0.5, Deviation: 0.25}}})
	for name, plain := range viewKinds(t) {
		for _, features := range []int{2, 1} {
			for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax} {
				m := *plain
				m.Transforms, m.Normalization, m.Views = steps, n, rankRaw
				d := randomQueries(features)
				before := slices.Clone(d.X())
				whole := dataset.FromBlocks(dataset.Blocks{Features: 2, X: widened(d, 2), Grades: d.Grades(), IDs: ids(d), Counts: counts(d)})
				whole.Change(func(x []float32) {
					steps.Apply(x, 2)
					n.Apply(x, 2)
				})
				want, err := plain.Score(whole.View(rankRaw))
				if err != nil {
					t.Fatal(err)
				}
				checkScoring(t, &m, d, before, want, fmt.Sprintf("%s, %d features, %s", name, features, n))
				checkFileScores(t, &m, d, want)
				checkFused(t, &m, d, want)
			}
		}
	}
}

// checkFileScores compares the scores of the model that a model's file holds.
func checkFileScores(t *testing.T, m *Model, d *dataset.Dataset, want []float64) {
	t.Helper()
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), `"version": 2`) {
		t.Error("a file with views is not of version 2")
	}
	back, err := Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := back.Score(d); err != nil || !slices.Equal(got, want) || !slices.Equal(back.Views, m.Views) {
		t.Errorf("read back with the views %v: %v (%v), expected %v", back.Views, got, err, want)
	}
}

// checkFused compares the scores of a fusion of a model with one of other views.
func checkFused(t *testing.T, m *Model, d *dataset.Dataset, want []float64) {
	t.Helper()
	other := linear(-1, 2)
	weights := []float64{1, 2}
	for _, r := range fusionRules() {
		fused, err := NewFused(r, []*Model{m, other}, weights)
		if err != nil {
			t.Fatal(err)
		}
		b, err := other.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := fused.Score(d); err != nil || !slices.Equal(got, r.Scores(d, [][]float64{want, b}, weights)) {
			t.Fatalf("%s: %v (%v)", r.Kind, got, err)
		}
	}
}

// Names are those of features, not of what the scorer sees: data in another order score the same.
func TestViewsFindFeaturesByName(t *testing.T) {
	m := linear(1, 0.5, -2, 3)
	m.Views, m.FeatureNames = rankRaw, []string{"bm25", "age"}
	d := randomQueries(2)
	d.FeatureNames = m.FeatureNames
	want, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Score(d.KeepFeatures([]int{1, 0})); err != nil || !slices.Equal(got, want) {
		t.Errorf("in another order: %v (%v), expected %v", got, err, want)
	}
	if names := m.InputNames(); !slices.Equal(names, []string{"rank(bm25)", "rank(age)", "bm25", "age"}) || m.NumFeatures() != 2 {
		t.Errorf("the scorer sees %v of %d features", names, m.NumFeatures())
	}
	checkFileScores(t, m, d, want)
	if _, err := m.Score(randomQueries(3)); err == nil || !strings.Contains(err.Error(), "expected at most the model's 2") {
		t.Errorf("data of three features: %v", err)
	}
}

// One document has no rank among others, so its views are refused as its normalization is.
func TestViewsOfASingleDocument(t *testing.T) {
	m := linear(1, 2)
	m.Views = dataset.Views{dataset.RankView}
	fused, err := NewFused(fusionRules()[0], []*Model{linear(1, 1), m}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Model{m, fused} {
		if err := m.ScoreQuery(make([]float64, 1), []float32{1, 2}); !errors.Is(err, ErrSingleDocument) || !strings.Contains(err.Error(), "(views rank)") {
			t.Errorf("a single document: %v", err)
		}
	}
}

func TestHostileViews(t *testing.T) {
	for _, c := range []struct{ count, views, want string }{
		{"2", `{}`, "expected a list"},
		{"2", `["ranks"]`, `found the view "ranks"`},
		{"2", `["rank","rank"]`, "found the view rank twice"},
		{"4", `["rank","raw"]`, `found "features": {"count": 4}, expected the scorer's 2, whose 4 inputs are the views rank,raw of each`},
		{"2", `["raw"]`, `found "features": {"count": 2}, expected the scorer's 4`},
		{"1", `["raw","rank","zscore"]`, "expected the scorer's 1, whose 4 inputs"},
		{"-2", `["rank","raw"]`, "expected the scorer's 2"},
		{"9223372036854775807", `["rank","raw"]`, "expected the scorer's 2"},
	} {
		text := `{"format":"listwise-model","version":2,"scorer":{"type":"linear","weights":[1,2,3,4]},"features":{"count":` + c.count + `,"views":` + c.views + `},"normalization":"none"}`
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", c.views, err, c.want)
		}
	}
	m := linear(1, 2, 3)
	m.Views = rankRaw
	if err := m.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "expected a multiple of 2") {
		t.Errorf("three weights of two views: %v", err)
	}
	fused, err := NewFused(fusionRules()[0], []*Model{linear(1, 1)}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	fused.Views = dataset.Views{dataset.RankView}
	if err := fused.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "its members have their own") {
		t.Errorf("a fusion with views: %v", err)
	}
}

// After some calls, ranking with views allocates nothing.
func TestViewsOfQueriesAllocateNothing(t *testing.T) {
	m := linear(1, 0.5, -2, 3)
	m.Views = rankRaw
	d := randomQueries(2)
	q := &d.Queries[0]
	for i := range d.Queries {
		if d.Queries[i].Len() > q.Len() {
			q = &d.Queries[i]
		}
	}
	dst := make([]float64, q.Len())
	if n := testing.AllocsPerRun(100, func() {
		if err := m.ScoreQuery(dst, q.X); err != nil {
			t.Fatal(err)
		}
	}); n > 0.1 && !raceDetector {
		t.Errorf("%v allocations a call, expected none", n)
	}
}
