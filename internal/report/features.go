package report

import (
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
)

// featureTable are the features of all models that the page shows, one a name: models and data
// that have names may have them in any order. Without names, places are positions.
type featureTable struct {
	names []string // "" for one without
	at    map[string]int
	size  int // places, at least len(names)
}

// newFeatureTable begins with the features of data.
func newFeatureTable(d *dataset.Dataset) *featureTable {
	t := &featureTable{names: slices.Clone(d.FeatureNames), at: make(map[string]int), size: d.Features}
	for j, name := range t.names {
		if _, twice := t.at[name]; !twice {
			t.at[name] = j
		}
	}
	return t
}

// places returns the place of each feature of a model that scored data; nil if that is its
// number, from 0.
func (t *featureTable) places(m *model.Model, d *dataset.Dataset) []int {
	width := m.Scorer.NumFeatures()
	names := m.FeatureNames
	if names == nil {
		names = d.FeatureNames
	}
	if names == nil {
		t.size = max(t.size, width)
		return nil
	}
	places := make([]int, width)
	for j := range places {
		places[j] = j
		if j < len(names) && names[j] != "" {
			places[j] = t.place(names[j], j)
		}
		t.size = max(t.size, places[j]+1)
	}
	return places
}

// place returns the place of a name, a new one if it is not known: that of its position, if
// nothing is known of this.
func (t *featureTable) place(name string, position int) int {
	if at, ok := t.at[name]; ok {
		return at
	}
	for len(t.names) <= position {
		t.names = append(t.names, "")
	}
	if t.names[position] != "" {
		position = max(t.size, len(t.names))
		for len(t.names) <= position {
			t.names = append(t.names, "")
		}
	}
	t.names[position], t.at[name] = name, position
	return position
}

// placeOf returns the place of a model's feature.
func placeOf(places []int, feature int) int {
	if places == nil {
		return feature
	}
	return places[feature]
}

// list returns the names as the page has them, nil if there are none.
func (t *featureTable) list() []string {
	if slices.ContainsFunc(t.names, func(name string) bool { return name != "" }) {
		return t.names
	}
	return nil
}
