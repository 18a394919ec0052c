package tune

import (
	"context"
	"strings"
	"testing"
)

// Validation and test data in another order of features, by their names, give the same result;
// other names are refused before anything is trained.
func TestFoldsByNames(t *testing.T) {
	named := func(order []int) Config {
		c := newConfig(t)
		for k := range c.Folds {
			f := &c.Folds[k]
			f.Train.FeatureNames = []string{"a", "b", "c", "d", "e", "f"}
			f.Valid.FeatureNames, f.Test.FeatureNames = f.Train.FeatureNames, f.Train.FeatureNames
		}
		for k := range c.Folds {
			f := &c.Folds[k]
			if order != nil {
				f.Valid, f.Test = f.Valid.KeepFeatures(order), f.Test.KeepFeatures(order)
			}
		}
		return c
	}
	want := digest(run(t, named(nil)))
	if digest(run(t, named([]int{5, 0, 4, 1, 3, 2}))) != want {
		t.Error("another result")
	}
	untested := named([]int{5, 0, 4, 1, 3, 2})
	for k := range untested.Folds {
		untested.Folds[k].Test = nil
	}
	run(t, untested)
	for part, change := range map[string]func(f *Fold){
		"validation": func(f *Fold) { f.Valid = f.Valid.KeepFeatures([]int{0, 1}) },
		"test":       func(f *Fold) { f.Test = f.Test.KeepFeatures([]int{0, 1}) },
	} {
		c := named(nil)
		change(&c.Folds[1])
		_, err := Run(context.Background(), c)
		if want := "Fold2, " + part + " data, for models of the training data's features: found features other than the model's: without"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", part, err)
		}
	}
}
