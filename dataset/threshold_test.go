package dataset_test

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

func graded(t *testing.T, grades string) *dataset.Dataset {
	t.Helper()
	var text strings.Builder
	for g := range strings.FieldsSeq(grades) {
		text.WriteString(g + " qid:1 1:1\n")
	}
	d, err := datafile.Read(strings.NewReader(text.String()), "f", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Claim: whole grades keep the threshold of whole grades, also where none is positive
// or none reaches it; one fraction in any of the sets makes it the smallest positive
// grade of all of them.
func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want float64
	}{
		{[]string{"0 1 2"}, 1},
		{[]string{"0 0"}, 1},
		{[]string{"2 4"}, 1},
		{[]string{"0 0.07 0.41"}, 0.07},
		{[]string{"0 1 1.5"}, 1},
		{[]string{"0 2 2.5"}, 2},
		{[]string{"0 1", "0 0.25"}, 0.25},
		{[]string{"0.5", "0 1e-300"}, 1e-300},
		{nil, 1},
	} {
		var sets [][]float64
		for _, s := range c.sets {
			sets = append(sets, graded(t, s).Grades())
		}
		if got := dataset.Threshold(1, sets...); got != c.want {
			t.Errorf("%v: threshold is %v, want %v", c.sets, got, c.want)
		}
	}
	if got := dataset.Threshold(2, graded(t, "0 1 2").Grades()); got != 2 {
		t.Errorf("threshold of whole grades is %v, want the given 2", got)
	}
	if got := graded(t, "0 3.5 1").HighestGrade(); got != 3.5 {
		t.Errorf("highest grade is %v", got)
	}
}
