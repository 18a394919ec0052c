package report

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

var sixNames = []string{"bm25", "clicks", "age", "price", "length", "inlinks"}

// nameAll gives the data and the models of a scenario names.
func nameAll(s *scenario, data, models []string) {
	for k := range s.divisions {
		s.divisions[k].Test.FeatureNames = data
		for i := range s.divisions[k].Systems {
			s.divisions[k].Systems[i].Model.FeatureNames = models
		}
	}
}

// Claim: what the page says of features is said of the same names, in whatever order a fold's
// data have them, and the names are those of the data or, without, of the models.
func TestFeaturesAreThoseOfTheirNames(t *testing.T) {
	plain, _ := withTrees(t).build(t)
	if plain.data.Features != nil {
		t.Errorf("features without names are called %q", plain.data.Features)
	}
	named := withTrees(t)
	nameAll(named, sixNames, sixNames)
	models := withTrees(t)
	nameAll(models, nil, sixNames)
	turned := withTrees(t)
	nameAll(turned, sixNames, sixNames)
	test := &turned.divisions[1].Test
	*test = (*test).KeepFeatures([]int{4, 1, 5, 0, 2, 3})
	for what, s := range map[string]*scenario{"names": named, "names of models alone": models, "another order": turned} {
		r, _ := s.build(t)
		if !slices.Equal(r.data.Features, sixNames) {
			t.Errorf("%s: the features are %q", what, r.data.Features)
		}
		if diff := cmp.Diff(plain.data.Weights, r.data.Weights); diff != "" {
			t.Errorf("%s: other weights: %s", what, diff)
		}
		if diff := cmp.Diff(plain.data.Trees, r.data.Trees); diff != "" {
			t.Errorf("%s: other trees: %s", what, diff)
		}
		for i := range plain.pieces {
			if diff := cmp.Diff(plain.pieces[i].Explained, r.pieces[i].Explained); diff != "" {
				t.Errorf("%s: query %d is explained otherwise: %s", what, i, diff)
			}
		}
	}
	// A model of its own order, beside others: its weights are shown at the names.
	s := withTrees(t)
	nameAll(s, sixNames, sixNames)
	for k := range s.divisions {
		m := s.divisions[k].Systems[1].Model
		order := []int{5, 4, 3, 2, 1, 0}
		own := *m
		own.FeatureNames, own.Params = nil, nil
		for _, j := range order {
			own.FeatureNames, own.Params = append(own.FeatureNames, sixNames[j]), append(own.Params, m.Params[j])
		}
		s.divisions[k].Systems[1].Model = &own
	}
	r, _ := s.build(t)
	if diff := cmp.Diff(plain.data.Weights, r.data.Weights); diff != "" {
		t.Errorf("a model of another order: other weights: %s", diff)
	}
}

// Claim: models without a common order of features have a place for each name, and a place has
// one name.
func TestPlacesOfFeatures(t *testing.T) {
	linear := func(names ...string) *model.Model {
		return &model.Model{Scorer: scorer.Linear{Features: len(names)}, FeatureNames: names}
	}
	bare := dataset.FromBlocks(dataset.Blocks{Features: 2, X: make([]float32, 2), Grades: make([]float64, 1), IDs: []string{"q"}, Counts: []int{1}})
	table := newFeatureTable(bare)
	for _, c := range []struct {
		m    *model.Model
		want []int
	}{
		{linear("a", "b", "c"), []int{0, 1, 2}},
		{linear("b", "d", "a", "e"), []int{1, 3, 0, 4}},
		{linear("a", "b", "c"), []int{0, 1, 2}},
	} {
		if got := table.places(c.m, bare); !slices.Equal(got, c.want) {
			t.Errorf("%q stand at %v, expected %v", c.m.FeatureNames, got, c.want)
		}
	}
	if want := []string{"a", "b", "c", "d", "e"}; !slices.Equal(table.list(), want) || table.size != 5 {
		t.Errorf("the page has %d features %q, expected %q", table.size, table.list(), want)
	}
	if got := table.places(&model.Model{Scorer: scorer.Linear{Features: 9}}, bare); got != nil || table.size != 9 {
		t.Errorf("a model without names stands at %v of %d", got, table.size)
	}
}
