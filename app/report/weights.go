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

// weights has the features with the largest effect on a system's scores, in descending order of
// Share.
type weights struct {
	System   int         `json:"system"`
	Linear   bool        `json:"linear"`
	Features []int       `json:"f"`           // from 1
	Share    []float64   `json:"share"`       // of all contributions' magnitudes
	Weight   [][]float64 `json:"w,omitempty"` // of linear scorers: each division's
	Others   int         `json:"others,omitempty"`
}

const (
	shownFeatures  = 50  // of a system
	weighedQueries = 200 // of a division, at most
	firstDocs      = 10  // of each system's ranking are explained
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

// featureTable has the features of all models on the page, by name. Models and data with names may
// have them in any order. Without names, places are positions.
type featureTable struct {
	names []string // "" for one without
	at    map[string]int
	size  int // places, at least len(names)
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

// places returns the place of each feature that the model's scorer sees, or nil if places are the
// features' numbers. Views other than raw are features of their own.
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

// place returns the place of a name. A new name gets its position, if that is free, or a new place.
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
