package interchange

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// named adapts the features of an imported model to the data that the model will score, as the
// options describe them. Files with numbered features do not show features after the last feature
// that the model uses, so named may add features.
func named(m *model.Model, o ReadOptions) (_ *model.Model, err error) {
	defer catch(&err)
	for _, name := range slices.Concat(m.FeatureNames, o.Names) {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("found the feature name %q, which is not UTF-8, expected text in UTF-8", name)
		}
	}
	n := o.Features
	if o.Names != nil {
		n = len(o.Names)
	}
	if n == 0 {
		return m, nil
	}
	if have := m.Scorer.NumFeatures(); n < have || n > mostFeatures {
		return nil, fmt.Errorf("found %d features to be given, expected the model's %d or more, at most %d", n, have, mostFeatures)
	}
	wide := must(widen(m, n))
	switch {
	case o.Names != nil:
		wide.FeatureNames = o.Names
	case len(m.FeatureNames) != n:
		wide.FeatureNames = nil
	}
	return wide, nil
}

// widen returns a model with n features. The added features have no influence.
func widen(m *model.Model, n int) (_ *model.Model, err error) {
	defer catch(&err)
	wide, have := *m, m.Scorer.NumFeatures()
	if n == have {
		return &wide, nil
	}
	switch s := m.Scorer.(type) {
	case scorer.Linear:
		wide.Scorer, wide.Params = scorer.Linear{Features: n}, slices.Concat(m.Params, make([]float64, n-have))
	case *scorer.Stumps:
		wide.Scorer, err = scorer.NewStumps(n, s.Stumps())
	case *scorer.Trees:
		wide.Scorer, err = scorer.NewTrees(n, s.Trees())
	case *scorer.Layers:
		layers := s.Layers()
		wide.Scorer = must(scorer.NewLayers(n, layers))
		units := layers[0].Units
		var params []float64
		for u := range units {
			params = append(append(params, m.Params[u*have:(u+1)*have]...), make([]float64, n-have)...)
		}
		wide.Params = slices.Concat(params, m.Params[units*have:])
	default:
		return nil, fmt.Errorf("found the scorer %q, expected one that can be given more features", m.Scorer.Kind())
	}
	return &wide, err
}

// number decides whether column 0 or column 1 of a file is feature 1, and removes column 0 in the
// second case. If o.FirstFeature is set, it decides. Otherwise column 1 is feature 1 if the columns
// have no names (unnamed) and column 0 was never used in training (unused). A note states the
// assumption.
func (e *ensemble) number(o ReadOptions, unnamed, unused bool) (notes []string, err error) {
	fromOne := o.FirstFeature == ColumnsFromOne
	if o.FirstFeature == AutoNumbering && unnamed {
		switch fromOne = unused; {
		case fromOne:
			notes = append(notes, "column 0 was never used, so column 1 is taken as feature 1, as in svmlight text (listwise import --first-feature 0: column 0 is feature 1)")
		case e.features > 1 && !e.uses(0):
			notes = append(notes, "column 0, which no tree uses, is taken as feature 1; if the model learned from svmlight text, column 1 is feature 1 (listwise import --first-feature 1)")
		default:
			notes = append(notes, "column 0 is taken as feature 1 (listwise import --first-feature 1: column 1 is feature 1)")
		}
	}
	if !fromOne {
		return notes, nil
	}
	if e.uses(0) || e.features < 2 {
		return nil, errors.New("found column 0 in use, expected that feature 1 is column 1")
	}
	e.dropFirst()
	return notes, nil
}

// uses reports whether a tree has a node that tests the feature.
func (e *ensemble) uses(feature int) bool {
	for _, t := range e.trees {
		if slices.ContainsFunc(t.nodes, func(n scorer.TreeNode) bool { return n.Feature == feature }) {
			return true
		}
	}
	return false
}

// dropFirst removes the first feature, which no tree uses.
func (e *ensemble) dropFirst() {
	e.features--
	if e.names != nil {
		e.names = e.names[1:]
	}
	if e.categories != nil {
		e.categories = e.categories[1:]
	}
	for _, t := range e.trees {
		for i := range t.nodes {
			t.nodes[i].Feature--
		}
	}
}
