package interchange

import (
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// unfused converts a fusion by a weighted sum of raw scores to a single model: the trees of all
// members, or a weighted sum of features. It also returns the notes on the members. It returns all
// other models unchanged. This includes fusions by rules that compare the documents of a query,
// which no format accepts.
func unfused(m *model.Model) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	f, ok := m.Scorer.(*model.Fusion)
	if !ok || f.Rule.Kind != fuse.CombSUM || f.Rule.Scale != fuse.Raw {
		return m, nil, nil
	}
	var sum fusedSum
	for k, member := range f.Members {
		if err := sum.add(f, k, member, m.Params[k]); err != nil {
			return nil, nil, fmt.Errorf("member %d of the fusion, %s: %w", k+1, member.Method, err)
		}
	}
	one := must(sum.model(m, f))
	return one, sum.linear.notes, nil
}

// fusedSum is the weighted sum of the members of a fusion, as a function of the fusion's features.
// Either trees or linear.weights is set.
type fusedSum struct {
	trees    []tree
	linear   linear
	policies []dataset.Missing // one per member
}

// add adds a member's scores, multiplied by a weight.
func (s *fusedSum) add(f *model.Fusion, k int, member *model.Model, weight float64) (err error) {
	defer catch(&err)
	member, notes := must2(unfused(member))
	s.linear.notes = append(s.linear.notes, notes...)
	s.policies = append(s.policies, member.Missing)
	feature := func(j int) int {
		if columns := f.Columns(k); columns != nil {
			return columns[j]
		}
		return j
	}
	switch member.Scorer.(type) {
	case *scorer.Trees, *scorer.Stumps:
		return s.addTrees(member, feature, weight)
	case scorer.Linear, *scorer.Layers:
		return s.addLinear(member, feature, weight, f.NumFeatures())
	}
	return fmt.Errorf("found the scorer %q, expected trees, stumps or linear: the others do not become one model", member.Scorer.Kind())
}

// addTrees adds trees or stumps, multiplied by a weight.
func (s *fusedSum) addTrees(member *model.Model, feature func(int) int, weight float64) error {
	e, err := treesOf(member)
	switch {
	case err != nil:
		return err
	case s.linear.weights != nil:
		return errMixedFusion
	}
	e.spreadConstant()
	for _, t := range e.trees {
		t = tree{slices.Clone(t.nodes), slices.Clone(t.values)}
		for i := range t.nodes {
			t.nodes[i].Feature = feature(t.nodes[i].Feature)
		}
		for i := range t.values {
			t.values[i] *= weight
		}
		s.trees = append(s.trees, t)
	}
	return nil
}

// addLinear adds a weighted sum of features, multiplied by a weight.
func (s *fusedSum) addLinear(member *model.Model, feature func(int) int, weight float64, features int) error {
	l, err := linearOf(member)
	switch {
	case err != nil:
		return err
	case s.trees != nil:
		return errMixedFusion
	}
	if s.linear.weights == nil {
		s.linear.weights = make([]float64, features)
	}
	for j, w := range l.weights {
		s.linear.weights[feature(j)] += float64(weight * w)
	}
	s.linear.constant += float64(weight * l.constant)
	s.linear.notes = append(s.linear.notes, l.notes...)
	return nil
}

var errMixedFusion = errors.New("found trees and weighted sums of features in one fusion, expected members of one kind: no format holds both")

// model returns the sum as a model with the fusion's name and features. The nodes of its trees already
// include the members' transforms and rules for missing values.
func (s *fusedSum) model(m *model.Model, f *model.Fusion) (one *model.Model, err error) {
	if s.linear.weights != nil {
		s.linear.names = m.FeatureNames
		one, err = s.linear.model(m.Method, m.Hyperparameters)
	} else {
		e := ensemble{features: f.NumFeatures(), names: m.FeatureNames, trees: s.trees}
		one, err = e.model(m.Method, m.Hyperparameters)
	}
	if err != nil {
		return nil, err
	}
	one.Categories = m.InputCategories()
	if !slices.Contains(s.policies, dataset.MissingKeep) {
		one.Missing = dataset.MissingZero
	}
	return one, nil
}
