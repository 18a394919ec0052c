package letor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: features that lines leave out, in the midst or at the end, are 0 and counted, or, where
// options say so, missing like nan, and then what the policy says.
func TestAbsentFeatures(t *testing.T) {
	const text = "1 qid:1 1:5 4:7\n0 qid:1 2:nan 3:-2 # c\n0 qid:2 1:1 2:2 3:3 4:4\n0 qid:1 1:0\n"
	nan := math.NaN()
	for _, test := range []struct {
		opts            dataset.Options
		want            []float64
		absent, missing int
		filled          int
	}{
		{dataset.Options{Missing: dataset.MissingKeep}, []float64{5, 0, 0, 7, 0, nan, -2, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 7, 1, 0},
		{dataset.Options{Missing: dataset.MissingKeep, AbsentMissing: true}, []float64{5, nan, nan, 7, nan, nan, -2, nan, 0, nan, nan, nan, 1, 2, 3, 4}, 0, 8, 0},
		{dataset.Options{Missing: dataset.MissingMin, AbsentMissing: true}, []float64{5, 0, -2, 7, 0, 0, -2, 7, 0, 0, -2, 7, 1, 2, 3, 4}, 0, 0, 8},
		{dataset.Options{Missing: dataset.MissingZero, AbsentMissing: true, MinFeatures: 5}, []float64{5, 0, 0, 7, 0, 0, 0, -2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0}, 0, 0, 12},
	} {
		for _, chunk := range []int64{1, 30, 0} {
			d, err := readCut(strings.NewReader(text), "f", test.opts, chunk, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []float64
			for _, v := range d.X() {
				got = append(got, float64(v))
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) || d.Absent() != test.absent || d.Missing() != test.missing || d.Filled() != test.filled {
				t.Errorf("%+v: %v, %d absent, %d missing, %d filled; expected %+v", test.opts, got, d.Absent(), d.Missing(), d.Filled(), test)
			}
		}
	}
	for text, want := range map[string]string{
		"1 qid:1 1:5\n0 qid:1 2:1\n":     "f:1: found no feature 2, expected all features, as those left out are missing (or an option that says what missing ones become)",
		"1 qid:1 1:5 2:1\n0 qid:1 2:1\n": "f:2: found no feature 1, expected all features, as those left out are missing (or an option that says what missing ones become)",
	} {
		if _, err := readFrom(strings.NewReader(text), "f", dataset.Options{AbsentMissing: true}); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, expected %s", text, err, want)
		}
	}
}
