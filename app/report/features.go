package report

import (
	"cmp"
	"slices"
	"strconv"

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

// places returns the place of each feature that the scorer of a model sees, which scored data; nil
// if that is its number, from 0. Views other than raw are features of their own.
func (t *featureTable) places(m *model.Model, d *dataset.Dataset) []int {
	width := m.NumFeatures()
	names := m.FeatureNames
	if names == nil {
		names = d.FeatureNames
	}
	if names == nil && m.Views.Raw() {
		t.size = max(t.size, width)
		return nil
	}
	places := make([]int, m.Scorer.NumFeatures())
	for j := range places {
		feature, view := m.Views.Source(j, width)
		name := ""
		if feature < len(names) {
			name = names[feature]
		}
		switch {
		case view != dataset.RawView:
			places[j] = t.place(view.Name(cmp.Or(name, strconv.Itoa(feature+1))), max(t.size, width))
		case name != "":
			places[j] = t.place(name, feature)
		default:
			places[j] = feature
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
