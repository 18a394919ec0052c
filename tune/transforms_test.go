package tune

import (
	"math"
	"testing"

	"github.com/listwise/listwise/dataset/transform"
)

// Every fold's model has the numbers of its own training data, which are applied to its test
// data; records of other transforms are not taken for it.
func TestTransformsOfEachFold(t *testing.T) {
	standard, err := transform.ParseSpec("standard")
	if err != nil {
		t.Fatal(err)
	}
	c := newConfig(t)
	c.Dir = t.TempDir()
	plain := run(t, c)
	c.Transforms = []transform.Spec{standard}
	r := run(t, c)
	for k, f := range c.Folds {
		got := r.Rows[0].Folds[k]
		mean, n := 0.0, float64(f.Train.Docs())
		for i := 0; i < len(f.Train.X()); i += f.Train.Features {
			mean += float64(f.Train.X()[i]) / n
		}
		if s := got.Model.Transforms.Chain(0)[0].(transform.Standard); math.Abs(s.Mean-mean) > 1e-9*(1+math.Abs(mean)) {
			t.Errorf("%s: the mean of feature 1 is %v, expected %v", f.Name, s.Mean, mean)
		}
		if plain.Rows[0].Folds[k].Model.Transforms != nil {
			t.Errorf("%s: transforms that were not asked for", f.Name)
		}
	}
	if again := run(t, c); digest(again) != digest(r) {
		t.Error("records give another result")
	}
}
