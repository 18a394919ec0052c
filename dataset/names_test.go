package dataset_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
)

// The columns are where the names stand, for any order.
func TestMatchNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-d]{1,3}`), 1, 6, rapid.ID).Draw(t, "want")
		have := rapid.Permutation(want).Draw(t, "have")
		others := rapid.SliceOfNDistinct(rapid.StringMatching(`[e-h]{1,3}`), 0, 3, rapid.ID).Draw(t, "others")
		have = rapid.Permutation(slices.Concat(have, others)).Draw(t, "mixed")
		columns, err := dataset.MatchNames(want, have, true)
		if err != nil {
			t.Fatal(err)
		}
		if columns == nil != slices.Equal(want, have) {
			t.Fatalf("columns %v of %q for %q", columns, have, want)
		}
		for j, c := range columns {
			if have[c] != want[j] {
				t.Fatalf("%q is found in column %d of %q", want[j], c, have)
			}
		}
		var names *dataset.NamesError
		if _, err := dataset.MatchNames(want, have, false); errors.As(err, &names) != (len(others) > 0) || names != nil && (len(names.Unexpected) != len(others) || names.Missing != nil) {
			t.Fatalf("%q for %q: %v", have, want, err)
		}
	})
	for _, names := range [][2][]string{{nil, {"a"}}, {{"a"}, nil}, {{"a", "a"}, {"a", "a"}}} {
		if columns, err := dataset.MatchNames(names[0], names[1], false); columns != nil || err != nil {
			t.Errorf("%q: %v, %v", names, columns, err)
		}
	}
	for _, c := range []struct {
		want, have []string
		text       string
	}{
		{[]string{"price", "age"}, []string{"prise", "age"}, `found features other than the model's: without "price": did you mean "prise"?; with "prise", which it does not know`},
		{[]string{"a"}, []string{"a", "b", "c"}, `found features other than the model's: with "b", "c", which it does not know`},
		{[]string{"a", "b", "c", "d", "e", "f", "g"}, []string{"a"}, `found features other than the model's: without "b", "c", "d", "e", "f" and 1 more`},
		{[]string{"a", "b"}, []string{"b", "b"}, `found two features of the data named "b"`},
		{[]string{"a", "a"}, []string{"a", "b"}, `found two features of the model named "a"`},
	} {
		if _, err := dataset.MatchNames(c.want, c.have, false); err == nil || !strings.HasPrefix(err.Error(), c.text) {
			t.Errorf("%q for %q: %v, expected %s", c.have, c.want, err, c.text)
		}
	}
}

// named are two queries of three named features.
func named() *dataset.Dataset {
	return dataset.FromBlocks(dataset.Blocks{
		Features: 3, FeatureNames: []string{"x", "y", "z"}, X: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, Grades: []float64{0, 1, 2}, IDs: []string{"a", "b"}, Counts: []int{2, 1},
	})
}

// The same queries with their features in another order are the same queries, by the names.
func TestCommonQueriesByNames(t *testing.T) {
	d := named()
	turned := d.KeepFeatures([]int{2, 0, 1})
	if n := turned.CommonQueries(d); n != 2 {
		t.Errorf("%d queries in common, expected 2", n)
	}
	columns, _ := dataset.MatchNames(d.FeatureNames, turned.FeatureNames, false)
	if common, known := d.QuerySet().Common(turned, columns); common != 2 || known != 2 {
		t.Errorf("%d of %d queries in common, expected 2 of 2", common, known)
	}
	turned.FeatureNames = nil
	if n := turned.CommonQueries(d); n != 0 {
		t.Errorf("%d queries in common without names, expected none", n)
	}
}

func TestWiden(t *testing.T) {
	d := named()
	d.IgnoreOthers = true
	w := d.Widen(5)
	if want := []float32{1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 7, 8, 9, 0, 0}; !slices.Equal(w.X(), want) || w.FeatureNames != nil || w.Features != 5 {
		t.Errorf("%d features %q: %v", w.Features, w.FeatureNames, w.X())
	}
	if s := d.Subset([]int{1}); !s.IgnoreOthers || !slices.Equal(s.FeatureNames, d.FeatureNames) {
		t.Error("a subset forgot the names or what is done to others")
	}
	if d.FeatureText(1) != "2 (y)" || w.FeatureText(1) != "2" {
		t.Error("features are called", d.FeatureText(1), w.FeatureText(1))
	}
}
