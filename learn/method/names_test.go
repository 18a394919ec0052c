package method

import (
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
)

var eightNames = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

// Validation data whose features stand in another order choose the same model, to the byte.
func TestValidationDataByNames(t *testing.T) {
	for name, kind := range map[string]string{"lambdamart": "trees", "rankboost": "", "ranknet": "net"} {
		m := lookup(t, name)
		train := func(order []int) *model.Model {
			p := quick(t, m, kind)
			all := p.Data
			all.FeatureNames = eightNames
			p.Data, p.Valid = all.Subset([]int{0, 1, 2, 3, 4, 5, 6}), all.Subset([]int{7, 8, 9, 10, 11})
			if order != nil {
				p.Valid = p.Valid.KeepFeatures(order)
			}
			p.Transforms, p.Normalization = steps(t, "log1p:b,g"), dataset.MinMax
			return mustTrain(t, m, p)
		}
		want := bytesOf(t, train(nil))
		if !strings.Contains(want, `"names": [`) {
			t.Fatal("the model has no names")
		}
		if bytesOf(t, train([]int{3, 2, 7, 0, 1, 6, 4, 5})) != want {
			t.Errorf("%s: another model", name)
		}
	}
	m := lookup(t, "lambdamart")
	p := quick(t, m, "")
	p.Data.FeatureNames = eightNames
	p.Valid = p.Data.KeepFeatures([]int{0, 1, 2, 3, 4, 5, 6})
	checkRefused(t, m, p, `lambdamart: validation data, for a model of the training data's features: found features other than the model's: without "h"`)
}

// Data that a model is continued on are taken by the model's names, whose order is kept; without
// names, they get the model's.
func TestContinuedByNames(t *testing.T) {
	m := lookup(t, "lambdamart")
	p := quick(t, m, "")
	p.Data.FeatureNames = eightNames
	first := mustTrain(t, m, p)
	longer := func(change func(d *dataset.Dataset) *dataset.Dataset) *model.Model {
		p := quick(t, m, "")
		p.Data.FeatureNames = eightNames
		p.Data, p.Initial = change(p.Data), first
		return mustTrain(t, m, p)
	}
	want := longer(func(d *dataset.Dataset) *dataset.Dataset { return d })
	for what, change := range map[string]func(d *dataset.Dataset) *dataset.Dataset{
		"another order": func(d *dataset.Dataset) *dataset.Dataset { return d.KeepFeatures([]int{7, 6, 5, 4, 3, 2, 1, 0}) },
		"no names":      func(d *dataset.Dataset) *dataset.Dataset { d.FeatureNames = nil; return d },
	} {
		got := longer(change)
		if !slices.Equal(got.FeatureNames, eightNames) || bytesOf(t, got) != bytesOf(t, want) {
			t.Errorf("%s: another model, of the features %q", what, got.FeatureNames)
		}
	}
	p = quick(t, m, "")
	p.Initial = first
	p.Data.FeatureNames = []string{"a", "b", "c", "d", "e", "f", "g", "hh"}
	checkRefused(t, m, p, `lambdamart: model to continue: found features other than the model's: without "h"`)
}
