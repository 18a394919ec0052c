package report

import (
	"fmt"
	"math"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/tune/ensemble"
)

// Claim: with several runs of a system, the page has the mean over runs and queries, the standard
// deviation of the runs' means, and the p value of the comparison over runs. The test recomputes them
// from the runs alone.
func TestSeveralRuns(t *testing.T) {
	d := generated(t, 30, 20, 4, 2)
	scores := func(run int) []float64 {
		s := make([]float64, d.Docs())
		for i, g := range d.Grades() {
			s[i] = g + 3*math.Sin(float64((run+1)*(i+7)))
		}
		return s
	}
	systems := make([]ensemble.System, 4) // runs 0, 2 and 3 are of the first system
	for i := range systems {
		systems[i] = ensemble.System{Name: fmt.Sprint("system ", i), Test: scores(i)}
	}
	s := &scenario{
		config:    Config{Title: "t", Measures: mustMeasures(t, "map", "letor3"), Baseline: 1, Permutations: 500, Resamples: 200, Runs: [][]int{{0, 2, 3}, {1}}},
		divisions: []ensemble.Division{{Test: d, Systems: systems}},
	}
	r, _ := s.build(t)
	var runs [][]float64
	var means []float64
	for i := range systems {
		result, err := measure.Evaluate(d, systems[i].Test, s.config.Measures, s.config.Ties)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, result.PerQuery(s.config.Measures[0]))
		means = append(means, result.Mean(s.config.Measures[0]))
	}
	mean := (means[0] + means[2] + means[3]) / 3
	squares := 0.0
	for _, i := range []int{0, 2, 3} {
		squares += (means[i] - mean) * (means[i] - mean)
	}
	if len(r.view.Rows) != 2 {
		t.Fatalf("found %d systems, expected 2", len(r.view.Rows))
	}
	cell := r.view.Rows[0].Cells[0]
	if cell.Mean != decimal(mean) || cell.Deviation != decimal(math.Sqrt(squares/2)) || r.view.Rows[1].Cells[0].Deviation != "" {
		t.Errorf("cells are %+v and %+v, expected the mean %v with the deviation %v", cell, r.view.Rows[1].Cells[0], mean, math.Sqrt(squares/2))
	}
	c, err := stats.CompareRuns([][][]float64{{runs[0], runs[2], runs[3]}, {runs[1]}}, stats.Config{Baseline: 1, Permutations: 500, Resamples: 200})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.data.Forest[0]; f.P != c.Pairs[0].Randomization.P || f.Difference != rounded(c.Pairs[0].Difference, 5) {
		t.Errorf("the difference is %+v, expected %+v", f, c.Pairs[0])
	}
	if row := r.view.ByRun[0].Rows[0]; row.Means[1] != decimal(means[2]) || len(row.Means) != 3 || r.view.ByRun[0].Rows[1].Means[1] != "" {
		t.Errorf("runs are %+v", r.view.ByRun[0].Rows)
	}
	if len(r.view.Single) != 1 || r.view.Single[0] != "system 1" {
		t.Errorf("systems with one run are %v", r.view.Single)
	}
}
