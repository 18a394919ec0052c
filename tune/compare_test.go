package tune

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

// Claim: Compare tests the differences of the entries over the test queries of all folds. The same
// comparison results from the files queries.csv of the run.
func TestCompareOfFolds(t *testing.T) {
	c := newConfig(t)
	c.Dir = t.TempDir()
	r := run(t, c)
	if len(r.Rows) < 2 || len(r.Rows[0].Folds) < 2 {
		t.Fatalf("found %d rows with %d folds, expected several", len(r.Rows), len(r.Rows[0].Folds))
	}
	m := r.Rows[0].Measures[0].Measure
	config := stats.Config{Permutations: 200, Resamples: 200, Seed: 1}
	got, err := r.Compare(m, config)
	if err != nil {
		t.Fatal(err)
	}
	var values [][]float64
	var fromFiles []*measure.Result
	for _, row := range r.Rows {
		var own []float64
		var tests []*measure.Result
		for _, f := range row.Folds {
			for _, v := range f.Test.PerQuery(m) {
				if !math.IsNaN(v) {
					own = append(own, v)
				}
			}
			file, err := os.Open(filepath.Join(c.Dir, row.Entry.Name, f.Fold+".queries.csv"))
			if err != nil {
				t.Fatal(err)
			}
			test, err := measure.ReadCSV(file, f.Test.Measures(), f.Test.Ties())
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, test)
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
		values, fromFiles = append(values, own), append(fromFiles, measure.Pool(tests...))
	}
	want, err := stats.Compare(values, config)
	if err != nil {
		t.Fatal(err)
	}
	text := func(c *stats.Comparison) string { return fmt.Sprintf("%+v", c) } // NaN is not equal to NaN
	if text(got) != text(want) {
		t.Errorf("the comparison is %s, want %s", text(got), text(want))
	}
	if again, err := measure.Compare(m, config, fromFiles...); err != nil || text(again) != text(want) {
		t.Errorf("from files, the comparison is %s (%v), want %s", text(again), err, text(want))
	}
}

// Claim: a query in the test data of two folds is an error that names the query and the folds.
func TestCompareRefusesSharedQueries(t *testing.T) {
	c := newConfig(t)
	c.Folds[1].Test = c.Folds[0].Test
	id := c.Folds[0].Test.Queries[0].ID
	want := fmt.Sprintf("found query %s in the test data of %s and %s, expected each query once", id, c.Folds[0].Name, c.Folds[1].Name)
	if err := CheckTests(c.Folds); err == nil || err.Error() != want {
		t.Errorf("got the error %v, want %q", err, want)
	}
	r := run(t, c)
	if _, err := r.Compare(r.Rows[0].Measures[0].Measure, stats.Config{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want %q", err, want)
	}
}
