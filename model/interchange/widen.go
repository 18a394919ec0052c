package interchange

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// named gives a model that was read the features of the data it is for: formats that number
// features do not tell those behind the last one that has a weight.
func named(m *model.Model, o ReadOptions) (*model.Model, error) {
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
	wide, err := widen(m, n)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Names != nil:
		wide.FeatureNames = o.Names
	case len(m.FeatureNames) != n:
		wide.FeatureNames = nil
	}
	return wide, nil
}

// widen returns a model of more features, of which the further ones have no influence.
func widen(m *model.Model, n int) (*model.Model, error) {
	wide, have := *m, m.Scorer.NumFeatures()
	if n == have {
		return &wide, nil
	}
	var err error
	switch s := m.Scorer.(type) {
	case scorer.Linear:
		wide.Scorer, wide.Params = scorer.Linear{Features: n}, slices.Concat(m.Params, make([]float64, n-have))
	case *scorer.Stumps:
		wide.Scorer, err = scorer.NewStumps(n, s.Stumps())
	case *scorer.Trees:
		wide.Scorer, err = scorer.NewTrees(n, s.Trees())
	case *scorer.Layers:
		layers := s.Layers()
		if wide.Scorer, err = scorer.NewLayers(n, layers); err != nil {
			return nil, err
		}
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
