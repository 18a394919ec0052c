package model

import (
	"slices"

	"github.com/listwise/listwise/dataset"
)

// Summary returns the distribution of feature j in the training data: it is feature k of the summary s.
// Both numbers count from 0. For a fusion, s is the summary of the first member with this feature. The
// summary is nil if the distribution is unknown, as for imported models.
func (m *Model) Summary(j int) (s *dataset.Summary, k int) {
	f, ok := m.Scorer.(*Fusion)
	if !ok {
		if j < m.Training.Summary.NumFeatures() {
			return m.Training.Summary, j
		}
		return nil, 0
	}
	for i, member := range f.Members {
		at := j
		if columns := f.Columns(i); columns != nil {
			at = slices.Index(columns, j)
		}
		if at < 0 || at >= member.NumFeatures() {
			continue
		}
		if s, k := member.Summary(at); s != nil {
			return s, k
		}
	}
	return nil, 0
}
