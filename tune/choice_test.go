package tune

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// Claim: with Average a fold's model scores by the mean of the scores of the settings best on
// validation data, and its validation value and test results are those of these means.
func TestAverageAgainstItsDefinition(t *testing.T) {
	c := newConfig(t)
	c.KeepModels = true
	for _, n := range []int{2, math.MaxInt} {
		c.Average = n
		r := run(t, c)
		for i, e := range c.Entries {
			for k, f := range c.Folds {
				got := r.Rows[i].Folds[k]
				want := min(n, len(e.Settings))
				if want == 1 {
					want = 0 // one setting is no average
				}
				if len(got.Averaged) != want {
					t.Fatalf("%s, %s: averages %d settings, want %d", e.Name, f.Name, len(got.Averaged), want)
				}
				if want == 0 {
					continue
				}
				order := make([]int, len(e.Settings))
				for s := range order {
					order[s] = s
				}
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(got.Tried[b], got.Tried[a]) })
				mean := make([]float64, f.Test.Docs())
				for _, s := range order[:want] {
					scores, err := got.Models[s].Score(f.Test)
					if err != nil {
						t.Fatal(err)
					}
					for d, v := range scores {
						mean[d] += v / float64(want)
					}
				}
				if got.Averaged[0].String() != got.Chosen.String() || got.Chosen.String() != e.Settings[order[0]].String() {
					t.Errorf("%s, %s: chose %s, averages %s first, want %s", e.Name, f.Name, got.Chosen, got.Averaged[0], e.Settings[order[0]])
				}
				scores, err := got.Model.Score(f.Test)
				if err != nil {
					t.Fatal(err)
				}
				for d := range mean {
					if math.Abs(scores[d]-mean[d]) > 1e-12*math.Max(1, math.Abs(mean[d])) {
						t.Fatalf("%s, %s: document %d scores %v, want %v", e.Name, f.Name, d, scores[d], mean[d])
					}
				}
				valid, err := got.Model.Score(f.Valid)
				if err != nil {
					t.Fatal(err)
				}
				on, err := measure.Evaluate(f.Valid, valid, []measure.Measure{c.Select}, measure.TiesInput)
				if err != nil {
					t.Fatal(err)
				}
				if v := on.TieNeutral(c.Select); v != got.Validation {
					t.Errorf("%s, %s: validation value is %v, want %v", e.Name, f.Name, got.Validation, v)
				}
			}
		}
	}
}
