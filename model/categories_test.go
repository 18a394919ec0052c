package model

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// coded returns a model of two features, the first with categories: codes 0 and 2 score 1, others 2.
func coded(t *testing.T, c *dataset.Categories, err error) *Model {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scorer.NewTrees(2, [][]scorer.TreeNode{{{Categories: []float32{0, 2}, Left: -1, Right: -2}}})
	if err != nil {
		t.Fatal(err)
	}
	return &Model{Scorer: s, Params: []float64{1, 2}, Missing: dataset.MissingKeep, FeatureNames: []string{"c", "x"}, Categories: []*dataset.Categories{c}}
}

func codedBy(t *testing.T, values ...float64) *Model {
	t.Helper()
	c, err := dataset.NewNumberCategories(values)
	return coded(t, c, err)
}

// Claim: every way to score maps values of categories to codes, in data of any column order and in
// fusions, and refuses values that are none, with the document and the feature.
func TestCategoriesScored(t *testing.T) {
	m := codedBy(t, 30, 10, 20)
	fused, err := NewFused(fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}, []*Model{m, codedBy(t, 30, 10, 20)}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for k, model := range []*Model{m, fused} {
		scale := float64(k + 1)
		d, err := dataset.FromRows(dataset.Rows{Features: 2, FeatureNames: []string{"x", "c"}, X: []float32{10, 30, 10, 10, 10, 20}, Grades: make([]float64, 3), Queries: []dataset.Run{{ID: "q", Docs: 3}}}, dataset.MissingKeep)
		if err != nil {
			t.Fatal(err)
		}
		got, err := model.Score(d)
		if err != nil || got[0] != scale || got[1] != 2*scale || got[2] != scale {
			t.Errorf("model %d: the scores are %v, %v", k, got, err)
		}
		d.FeatureNames = []string{"c", "x"} // so that c is 10 everywhere
		if got, err = model.Score(d); err != nil || got[0] != 2*scale {
			t.Errorf("model %d: the scores are %v, %v", k, got, err)
		}
		d.X()[2] = 11
		const want = `found the value 11 of feature 1 (c) for document 2 of query "q", expected one of the model's categories: 30, 10, 20`
		if _, err = model.Score(d); err == nil || err.Error() != want {
			t.Errorf("model %d: the error is %v, expected %s", k, err, want)
		}
		if err := model.ScoreWhole(make([]float64, 1), []float32{11, 0}); err == nil || !strings.Contains(err.Error(), "found the value 11 of feature 1 (c) for document 1") {
			t.Errorf("model %d: the error is %v", k, err)
		}
	}
}

// Claim: a feature that documents lack is 0, also where it has categories.
func TestCategoriesOfAbsentFeatures(t *testing.T) {
	swapped := func(values ...float64) *Model {
		m := codedBy(t, values...)
		s, err := scorer.NewTrees(2, [][]scorer.TreeNode{{{Feature: 1, Categories: []float32{0, 2}, Left: -1, Right: -2}}})
		if err != nil {
			t.Fatal(err)
		}
		m.Scorer, m.FeatureNames, m.Categories = s, nil, append([]*dataset.Categories{nil}, m.Categories...)
		return m
	}
	got := make([]float64, 1)
	if err := swapped(7, 0, 5).ScoreWhole(got, []float32{1}); err != nil || got[0] != 2 { // the code of 0 is 1
		t.Errorf("the score is %v, %v, expected 2", got, err)
	}
	if err := swapped(7, 3, 5).ScoreWhole(got, []float32{1}); err == nil || !strings.Contains(err.Error(), "found the value 0 of feature 2") {
		t.Errorf("the error is %v", err)
	}
}

// Claim: members of a fusion that put a feature's categories in another order are refused: data have
// one code for a text.
func TestFusedCategoriesDiffer(t *testing.T) {
	texts := func(values ...string) *Model {
		c, err := dataset.NewTextCategories(values)
		return coded(t, c, err)
	}
	_, err := NewFused(fuse.Rule{Kind: fuse.CombSUM}, []*Model{texts("a", "b"), texts("b", "a")}, []float64{1, 1})
	if err == nil || !strings.Contains(err.Error(), `member 2: found other categories of feature 1 (c)`) {
		t.Errorf("the error is %v", err)
	}
	unused := coded(t, dataset.NewUnusedCategories(), nil)
	if _, err := NewFused(fuse.Rule{Kind: fuse.CombSUM}, []*Model{unused, texts("b", "a"), unused}, []float64{1, 1, 1}); err != nil {
		t.Errorf("a member that does not use the feature: %v", err)
	}
}

// Claim: categories in a file are read as they were written, and what cannot be categories is an
// error with its place.
func TestCategoriesFile(t *testing.T) {
	for _, m := range []*Model{codedBy(t, 30, -0.1, 7e20), coded(t, dataset.NewUnusedCategories(), nil)} {
		var text strings.Builder
		if err := m.Write(&text); err != nil {
			t.Fatal(err)
		}
		back, err := Read(strings.NewReader(text.String()))
		if err != nil || !strings.Contains(text.String(), `"version": 3`) || !back.Categories[0].Equal(m.Categories[0]) || back.Categories[0].Unused() != m.Categories[0].Unused() {
			t.Errorf("%v, %v; the file is\n%s", back, err, &text)
		}
	}
	const file = `{"format":"listwise-model","version":3,"missing":"keep","normalization":"none","features":{"count":2,"categories":LIST},"scorer":{"type":"trees","features":2,"trees":[{"feature":[],"threshold":[],"left":[],"right":[],"values":[1]}]}}`
	for list, want := range map[string]string{
		`[{"feature":3,"values":[1]}]`:                "found feature 3, expected one from 1 to 2",
		`[{"feature":2},{"feature":1}]`:               "found feature 1 after feature 2, expected ascending ones",
		`[{"feature":1,"values":[]}]`:                 "feature 1: found no categories, expected at least one",
		`[{"feature":1,"values":["a",1]}]`:            "found 1 as a category, expected texts alone or numbers alone",
		`[{"feature":1,"values":[1,null]}]`:           "found null as a category",
		`[{"feature":1,"values":["a","a"]}]`:          `found the category "a" twice`,
		`[{"feature":1,"values":[0.1,0.1000000001]}]`: "found the categories 0.1 and 0.1000000001, expected numbers that float32 tells apart",
		`[{"feature":1,"values":{}}]`:                 "found {} as the categories' values, expected a list",
	} {
		if _, err := Read(strings.NewReader(strings.Replace(file, "LIST", list, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, expected %q", list, err, want)
		}
	}
	text := strings.Replace(strings.Replace(file, "LIST", `[{"feature":1,"values":[1]}]`, 1), `"missing":"keep",`, "", 1)
	if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "found categories of features that are changed before scoring") {
		t.Errorf("missing values that become 0: %v", err)
	}
}
