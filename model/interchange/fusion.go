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

// unfused returns a fusion by a weighted sum of scores as one model: the trees of all members, or
// one weighted sum of features. It returns any other model as it is. That includes fusions by rules
// that see all documents of a query, which every format refuses. It also returns the members'
// notes.
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

// fusedSum is the sum of some members of a fusion, as features of the fusion. Either trees or
// weights are there.
type fusedSum struct {
	trees    []tree
	linear   linear
	policies []dataset.Missing // of the members
}

// add adds a member's scores times a weight.
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

// addTrees is add for trees and stumps.
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

// addLinear is add for weighted sums of features.
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

// model returns the sum as a model with the fusion's name and features. Thresholds of trees
// have the members' transforms in them and know where missing values go.
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
