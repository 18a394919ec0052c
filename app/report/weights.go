package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// weights contains the features with the largest effect on a system's scores, by descending Share.
type weights struct {
	System   int         `json:"system"`
	Linear   bool        `json:"linear"`
	Features []int       `json:"f"`           // from 1
	Share    []float64   `json:"share"`       // share of the sum of all contributions' magnitudes
	Weight   [][]float64 `json:"w,omitempty"` // weight of each feature in each division; for linear scorers only
	Others   int         `json:"others,omitempty"`
}

const (
	shownFeatures  = 50  // largest number of features for a system
	weighedQueries = 200 // largest number of queries in a division
	firstDocs      = 10  // number of explained documents at the top of each system's ranking
)

// weigh computes the effect of every feature on the scores of the documents that a system ranks
// first.
func (r *Report) weigh(in *input) error {
	for s := range in.names {
		in.explained = append(in.explained, make(map[int]*explainer))
		var sums []float64
		linear := true
		for k := range in.divisions {
			d := &in.divisions[k]
			e := newExplainer(in.model(s, k), d.Test)
			if e == nil {
				continue
			}
			e.places = in.features.places(e.model, d.Test)
			in.explained[s][k] = e
			r.data.FeatureDigits = max(r.data.FeatureDigits, width(in.features.size))
			_, ok := e.model.Scorer.(scorer.Linear)
			linear = linear && ok
			for len(sums) < in.features.size {
				sums = append(sums, 0)
			}
			if err := in.addMagnitudes(sums, s, k, e); err != nil {
				return err
			}
		}
		if len(in.explained[s]) == len(in.divisions) {
			r.data.Weights = append(r.data.Weights, in.weightsOf(s, sums, linear))
		}
	}
	r.data.Features = in.features.list()
	return nil
}

func (in *input) addMagnitudes(sums []float64, s, k int, e *explainer) error {
	all := in.divisions[k].Test.Queries
	step := max(1, len(all)/weighedQueries)
	for i := 0; i < len(all); i += step {
		if err := e.query(&all[i]); err != nil {
			return err
		}
		order := in.order(s, query{k, i})
		for _, doc := range order[:min(firstDocs, len(order))] {
			for _, c := range e.document(doc) {
				sums[placeOf(e.places, c.feature)] += math.Abs(c.value)
			}
		}
	}
	return nil
}

func (in *input) weightsOf(s int, sums []float64, linear bool) weights {
	w := weights{System: s, Linear: linear, Features: []int{}, Share: []float64{}} // not null
	total := 0.0
	order := make([]int, 0, len(sums))
	for f, v := range sums {
		total += v
		if v > 0 {
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	w.Others = max(0, len(order)-shownFeatures)
	for _, f := range order[:min(len(order), shownFeatures)] {
		w.Features = append(w.Features, f+1)
		w.Share = append(w.Share, rounded(sums[f]/total, 3))
		if !linear {
			continue
		}
		each := make([]float64, len(in.divisions))
		for k := range in.divisions {
			for j, weight := range in.model(s, k).Params {
				if placeOf(in.explained[s][k].places, j) == f {
					each[k] = rounded(weight, 3)
				}
			}
		}
		w.Weight = append(w.Weight, each)
	}
	return w
}

// featureTable contains the features of all models on the page, by name. Models and data with names
// may list features in any order. Without names, a feature's index is its position.
type featureTable struct {
	names []string // "" for a feature without a name
	at    map[string]int
	size  int // number of indices, at least len(names)
}

func newFeatureTable(d *dataset.Dataset) *featureTable {
	t := &featureTable{names: slices.Clone(d.FeatureNames), at: make(map[string]int), size: d.Features}
	for j, name := range t.names {
		if _, twice := t.at[name]; !twice {
			t.at[name] = j
		}
	}
	return t
}

// places returns the index on the page of each feature that the model's scorer uses. It returns nil
// if these are the features' numbers. Views other than raw are separate features.
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

// place returns the index of a name. A new name gets its position if that is free, and otherwise a
// new index.
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

func placeOf(places []int, feature int) int {
	if places == nil {
		return feature
	}
	return places[feature]
}

// list returns the names for the page, or nil if there are none.
func (t *featureTable) list() []string {
	if slices.ContainsFunc(t.names, func(name string) bool { return name != "" }) {
		return t.names
	}
	return nil
}
