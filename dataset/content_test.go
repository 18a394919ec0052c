package dataset

import (
	"math"
	"slices"
	"testing"
)

// Claim: the key of a query's content does not depend on names or on how a number is written,
// but on every grade, on every feature and on their order; streamed data have the same.
func TestContent(t *testing.T) {
	of := func(id string, grades []float64, x ...float32) string {
		return (&Query{ID: id, Grades: grades, X: x}).Content()
	}
	nan := float32(math.NaN())
	other := math.Float32frombits(math.Float32bits(nan) ^ 1)
	key := of("a", []float64{1, 0}, 0, 2, nan, 4)
	for name, same := range map[string]string{
		"another name": of("b", []float64{1, 0}, 0, 2, nan, 4),
		"minus zero":   of("a", []float64{1, Unjudged}, float32(math.Copysign(0, -1)), 2, nan, 4),
		"another NaN":  of("a", []float64{1, 0}, 0, 2, other, 4),
	} {
		if same != key {
			t.Errorf("%s: the key is %s, want %s", name, same, key)
		}
	}
	for name, differs := range map[string]string{
		"another grade":   of("a", []float64{2, 0}, 0, 2, nan, 4),
		"another order":   of("a", []float64{0, 1}, 0, 2, nan, 4),
		"another feature": of("a", []float64{1, 0}, 0, 2, nan, 5),
		"nothing missing": of("a", []float64{1, 0}, 0, 2, 0, 4),
		"fewer documents": of("a", []float64{1}, 0, 2, nan, 4),
	} {
		if differs == key {
			t.Errorf("%s: the key is the same", name)
		}
	}

	whole := numbered(t, 1, 0, 500)
	streamed, _ := counted(whole)
	contents := streamed.Contents()
	var all []string
	for i := range whole.Queries {
		want := whole.Queries[i].Content()
		if got := contents(i); got != want {
			t.Errorf("query %d: the key is %s streamed, %s in memory", i, got, want)
		}
		all = append(all, want)
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 500 {
		t.Errorf("500 queries have %d keys", n)
	}
}
