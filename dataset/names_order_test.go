package dataset

import (
	"fmt"
	"testing"
)

// Claim: data sets whose features stand in another order are put together by their names; other
// names, and names in another number, are errors; without names features go by position.
func TestConcatByNames(t *testing.T) {
	made := func(id string, names []string, x ...float32) *Dataset {
		var b Builder
		if err := b.Add(id, []float64{1}, x, nil); err != nil {
			t.Fatal(err)
		}
		d := b.Dataset()
		d.FeatureNames = names
		return d
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"c", "a", "b"}, "[1 2 3 5 6 4] [a b c]"},
		{[]string{"a", "b", "c"}, "[1 2 3 4 5 6] [a b c]"},
		{nil, "[1 2 3 4 5 6] [a b c]"},
		{[]string{"c", "a", "x"}, `data set 2: feature 1 is named "c", expected "a"`},
	} {
		d, err := Concat(made("q", []string{"a", "b", "c"}, 1, 2, 3), made("r", c.names, 4, 5, 6))
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(d.X(), d.FeatureNames)
		}
		if got != c.want {
			t.Errorf("%q: %s, expected %s", c.names, got, c.want)
		}
	}
}
