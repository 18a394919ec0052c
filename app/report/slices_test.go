package report

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/tune/ensemble"
)

// Claim: the page has a table for every key and measure, with the means, intervals and corrected p values of
// slicing.Compare, with and without a system to compare with; a name of a slice is no markup.
func TestSlices(t *testing.T) {
	d := generated(t, 30, 12, 4, 5)
	good := trained(t, d, "mle", nil)
	scores, err := good.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	reversed := make([]float64, len(scores))
	for i, s := range scores {
		reversed[i] = -s
	}
	var own, relevant slicing.Division
	own.By, own.Note, relevant.By = hostile, "as the test says", "relevant"
	own.Slices = []slicing.Slice{{Name: hostile}, {Name: "alone", Queries: []int{7}}}
	for q := range d.Queries {
		if q != 7 {
			own.Slices[0].Queries = append(own.Slices[0].Queries, q)
		}
	}
	keys, err := slicing.Parse("relevant")
	if err != nil {
		t.Fatal(err)
	}
	counted, err := keys[0].Divide([]*dataset.Dataset{d}, 1)
	if err != nil {
		t.Fatal(err)
	}
	measures, err := measure.ParseList("map,ndcg@5", measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := []ensemble.System{{Name: "good", Test: scores, Model: good}, {Name: "reversed", Test: reversed}}
	for _, systems := range [][]ensemble.System{all, all[:1]} {
		c := Config{Title: "t", Measures: measures, Permutations: 200, Resamples: 100, Slices: []*slicing.Division{&own, counted}}
		r, err := Build(context.Background(), c, []ensemble.Division{{Test: d, Systems: systems}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := r.Write(&page); err != nil {
			t.Fatal(err)
		}
		text := page.String()
		if n := strings.Count(text, `class="summary slices"`); n != 4 || strings.Contains(text, "<h3>By "+hostile) || !strings.Contains(text, "as the test says") || !strings.Contains(text, `<a href="#slices">`) {
			t.Errorf("%d systems: %d tables of slices on the page, expected 4", len(systems), n)
		}
		for m, by := range measures {
			var values [][][]float64
			for _, s := range systems {
				result, err := measure.Evaluate(d, s.Test, measures, measure.TiesInput)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, [][]float64{result.PerQuery(measure.ForAll([]measure.Measure{by}, d)[0])})
			}
			want, err := slicing.Compare(values, nil, c.Slices, stats.Config{Permutations: 200, Resamples: 100})
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for _, table := range r.view.Slices {
				for _, row := range table.Measures[m].Rows {
					w := want[at]
					at++
					for s, mean := range w.Means {
						cell := row.Cells[s]
						if row.Name != w.Slice || row.Queries != w.Queries || cell.Mean != decimal(mean.Mean) || (cell.Interval != "") != mean.Known {
							t.Errorf("%s, %s: cell %+v, want %+v", by.Name(), w.Slice, cell, mean)
						}
					}
					if p := row.Cells[len(systems)-1].P; w.Comparison != nil && p != probability(w.Pairs[0].Randomization.Holm) || w.Comparison == nil && p != "" {
						t.Errorf("%s, %s: p is %s of %+v", by.Name(), w.Slice, p, w.Comparison)
					}
				}
			}
		}
		if tests := fmt.Sprintf("%d comparisons", len(counted.Slices)+1); len(systems) > 1 != strings.Contains(r.view.SliceTests, tests) {
			t.Errorf("%d systems: tests are %q", len(systems), r.view.SliceTests)
		}
	}
}
