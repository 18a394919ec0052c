package measure

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: zero values are standard, the options by default and ties in the order of the input;
// what is left out altogether is an error, not a panic.
func TestZeroValues(t *testing.T) {
	d := threeQueries(t)
	scores := []float64{1, 1, 0, 5, 4, 2, 2, 2, 1}
	for _, e := range registry {
		name := e.name
		if e.parameter == requiredCutoff {
			name += "@2"
		}
		zero, err := Parse(name, Convention{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		full, err := Parse(name, Standard, Options{MaxGrade: 4})
		if err != nil {
			t.Fatal(err)
		}
		if zero != full {
			t.Errorf("%s under the zero convention and options is %+v, want %+v", name, zero, full)
		}
		var ranker Ranker
		got, _ := ranker.Mean(d, scores, zero)
		ranker.Ties = TiesInput
		if want, _ := ranker.Mean(d, scores, full); got != want {
			t.Errorf("%s by the zero Ranker is %v, want %v", name, got, want)
		}
	}
	if _, err := Evaluate(d, scores, []Measure{nil}, TiesInput); err == nil || !strings.Contains(err.Error(), "measure 1 of 1 is nil") {
		t.Errorf("a nil measure: %v", err)
	}
	r, err := Evaluate(new(dataset.Dataset), nil, measuresOf(t, "map", "letor3"), TiesInput)
	if err != nil || len(r.Queries()) != 0 || r.Counted(r.Measures()[0]) != 0 {
		t.Errorf("no queries: %+v, %v", r, err)
	}
	if r := Pool(); len(r.Measures()) != 0 || len(r.Queries()) != 0 || r.TieStats() != (TieStats{}) {
		t.Errorf("no folds: %+v", r)
	}
}
