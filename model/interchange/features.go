package interchange

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// named adapts the features of an imported model to the data that it will score. It adds features that
// the file does not list: numbered features end at the last one with a weight, and files for engines
// list only used features. Names place the model's features among the data's. Without common names,
// features are matched by order.
func named(m *model.Model, o ReadOptions) (_ *model.Model, err error) {
	defer catch(&err)
	for _, name := range slices.Concat(m.FeatureNames, o.Names) {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("found the feature name %q, which is not UTF-8, expected text in UTF-8", name)
		}
	}
	if at := numbersIn(m.FeatureNames); at != nil {
		m = must(spread(m, at, slices.Max(at)+1))
		m.FeatureNames = unnamed(m.Scorer.NumFeatures())
	}
	n := o.Features
	if o.Names != nil {
		n = len(o.Names)
	}
	if n == 0 {
		return m, nil
	}
	have := m.Scorer.NumFeatures()
	if n < have || n > mostFeatures {
		return nil, fmt.Errorf("found %d features to be given, expected the model's %d or more, at most %d", n, have, mostFeatures)
	}
	if o.Names == nil && m.FeatureNames != nil && numbersIn(m.FeatureNames) == nil && have < n {
		return nil, fmt.Errorf("found %d features by name, expected the names of all %d to be given, since the place of the others among them is unknown", have, n)
	}
	at := must(placesOf(m, o.Names))
	wide := must(spread(m, at, n))
	switch {
	case o.Names != nil:
		wide.FeatureNames = o.Names
	case len(m.FeatureNames) != n:
		wide.FeatureNames = nil
	}
	return wide, nil
}

// numbersIn returns the indices of features whose names are all of the form of unnamed, or nil. So a
// file that lists some features of a model without names has the columns of the model.
func numbersIn(names []string) []int {
	var at []int
	for _, name := range names {
		text, _ := strings.CutPrefix(name, unnamedPrefix)
		n, err := strconv.Atoi(text)
		if err != nil || numbered(n) != nil || name != unnamedPrefix+strconv.Itoa(n) || slices.Contains(at, n-1) {
			return nil
		}
		at = append(at, n-1)
	}
	return at
}

// placesOf returns the index of each of the model's features among names. Features are in order if the
// model has no names, or if they are no names of the data. That some are and others are not is an error
// if there are more names than features, because then their order is unknown.
func placesOf(m *model.Model, names []string) ([]int, error) {
	at, found, lacking := make([]int, m.Scorer.NumFeatures()), 0, ""
	for j, name := range m.FeatureNames {
		if at[j] = slices.Index(names, name); at[j] >= 0 {
			found++
		} else {
			lacking = name
		}
	}
	switch {
	case found == len(at):
		return at, nil
	case found > 0 && len(at) < len(names):
		return nil, fmt.Errorf("found no name %q among those given, expected all features of the model%s", lacking, suggest.Or(lacking, names, ""))
	}
	for j := range at {
		at[j] = j
	}
	return at, nil
}

// spread returns a model with n features, in which feature j of m has the index at[j]. Other features
// have no influence.
func spread(m *model.Model, at []int, n int) (_ *model.Model, err error) {
	defer catch(&err)
	wide, have := *m, m.Scorer.NumFeatures()
	row := func(weights []float64) []float64 {
		all := make([]float64, n)
		for j, w := range weights {
			all[at[j]] = w
		}
		return all
	}
	switch s := m.Scorer.(type) {
	case scorer.Linear:
		wide.Scorer, wide.Params = scorer.Linear{Features: n}, row(m.Params)
	case *scorer.Stumps:
		stumps := s.Stumps()
		for i := range stumps {
			stumps[i].Feature = at[stumps[i].Feature]
		}
		stumps, wide.Params = scorer.MergeStumps(stumps, m.Params)
		wide.Scorer, err = scorer.NewStumps(n, stumps)
	case *scorer.Trees:
		trees := s.Trees()
		for _, nodes := range trees {
			for i := range nodes {
				nodes[i].Feature = at[nodes[i].Feature]
			}
		}
		wide.Scorer, err = scorer.NewTrees(n, trees)
	case *scorer.Layers:
		units := s.Layers()[0].Units
		if size := float64(n) * float64(units); size > float64(64*float64(len(m.Params)))+2*mostFeatures { // a short file may name feature_4000000
			return nil, fmt.Errorf("found a network of %.0f weights, expected one whose weights are in the file", size)
		}
		wide.Scorer = must(scorer.NewLayers(n, s.Layers()))
		wide.Params = nil
		for weights := range slices.Chunk(m.Params[:units*have], have) {
			wide.Params = append(wide.Params, row(weights)...)
		}
		wide.Params = append(wide.Params, m.Params[units*have:]...)
	default:
		return nil, fmt.Errorf("found the scorer %q, expected one that can be given more features", m.Scorer.Kind())
	}
	if m.Categories != nil {
		wide.Categories = make([]*dataset.Categories, n)
		for j, c := range m.Categories {
			wide.Categories[at[j]] = c
		}
	}
	if m.Transforms != nil {
		chains := map[int]transform.Chain{}
		for _, j := range m.Transforms.Features() {
			chains[at[j]] = m.Transforms.Chain(j)
		}
		wide.Transforms = must(transform.New(chains))
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

// used reports for each feature whether a node tests it.
func (e *ensemble) used() []bool {
	used := make([]bool, e.features)
	for _, t := range e.trees {
		for _, n := range t.nodes {
			used[n.Feature] = true
		}
	}
	return used
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
