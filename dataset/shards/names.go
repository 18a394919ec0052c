package shards

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
)

// Arrange returns the data of a shard with the feature names and the order of the manifest, if it has names.
// It is an error if d has a feature that the manifest does not name.
func (m *Manifest) Arrange(shard int, d *dataset.Dataset) (*dataset.Dataset, error) {
	switch {
	case m.Names == nil:
		return d, nil
	case d.FeatureNames == nil:
		if len(m.Names) == d.Features {
			d.FeatureNames = m.Names
		}
		return d, nil
	}
	order, err := m.Order(shard, d.FeatureNames)
	if err != nil {
		return nil, err
	}
	columns, err := dataset.MatchNames(order, d.FeatureNames, false)
	if err != nil || columns == nil {
		return d, err
	}
	return d.KeepFeatures(columns), nil
}

// Order returns the names of a shard's features in the order of the data set. It returns nil if the shard or
// the manifest has no names. names may lack features of the manifest. It is an error if names has a feature
// that the manifest does not name.
func (m *Manifest) Order(shard int, names []string) (order []string, err error) {
	if m.Names == nil || names == nil {
		return nil, nil
	}
	if name := m.unnamed(names); name != "" {
		return nil, fmt.Errorf("found the feature %q in shard %d, expected only features that %s names%s", name, shard, m.path, anew)
	}
	here := make(map[string]bool, len(names))
	for _, name := range names {
		here[name] = true
	}
	for _, name := range m.Names {
		if here[name] {
			order = append(order, name)
		}
	}
	return order, nil
}

// unnamed returns the first of names that the manifest lacks, or "".
func (m *Manifest) unnamed(names []string) string {
	known := make(map[string]bool, len(m.Names))
	for _, name := range m.Names {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			return name
		}
	}
	return ""
}
