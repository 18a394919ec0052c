package explain

import (
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// usedFeatures reports for each feature whether a model's score can depend on it. For scorers of
// unknown kinds, it reports all features.
func usedFeatures(m *model.Model) []bool {
	inputs := make([]bool, m.Scorer.NumFeatures())
	markInputs(inputs, m)
	used := make([]bool, m.NumFeatures())
	for j, is := range inputs {
		feature, _ := m.Views.Source(j, len(used))
		used[feature] = used[feature] || is
	}
	return used
}

// markInputs sets the elements of used for the scorer's inputs on which a model's score can depend.
func markInputs(used []bool, m *model.Model) {
	switch s := m.Scorer.(type) {
	case scorer.Random:
	case scorer.Linear:
		for j, w := range m.Params {
			used[j] = w != 0
		}
	case *scorer.Stumps:
		for t, stump := range s.Stumps() {
			used[stump.Feature] = used[stump.Feature] || m.Params[t] != 0
		}
	case *scorer.Trees:
		markSplits(used, s)
	case *scorer.TreeClasses:
		for _, f := range s.Functions() {
			markSplits(used, f)
		}
	case *model.Fusion:
		for k, member := range s.Members {
			columns := s.Columns(k)
			for j, is := range usedFeatures(member) {
				if columns != nil {
					j = columns[j]
				}
				used[j] = used[j] || is && (m.Params[k] != 0 || s.Rule.Kind == fuse.CombMNZ) // CombMNZ counts voters of any weight
			}
		}
	default:
		for j := range used {
			used[j] = true
		}
	}
}

func markSplits(used []bool, t *scorer.Trees) {
	for _, nodes := range t.Trees() {
		for i := range nodes {
			used[nodes[i].Feature] = true
		}
	}
}
