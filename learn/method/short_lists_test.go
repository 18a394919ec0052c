package method

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// The letor4 and mslr conventions count NDCG@k of a list shorter than k as 0 whatever its
// order. That is a rule for evaluations: a training for NDCG@30 of lists of 20 documents
// learns what it learns under letor3, which has no such rule.
func TestShortListsAreTrainedOn(t *testing.T) {
	for _, m := range List() {
		if !m.UsesMeasure {
			continue
		}
		if m.CheckMeasure(measure.MustParse("ndcg@30", measure.LETOR3)) != nil {
			continue // it is trained for other measures
		}
		t.Run(m.Name, func(t *testing.T) {
			trained := func(convention measure.Convention) []float64 {
				p := newProblem(t, m)
				var err error
				if p.Measure, err = measure.Parse("ndcg@30", convention, measure.Options{}); err != nil {
					t.Fatal(err)
				}
				model := mustTrain(t, m, p)
				if got := model.Convention; got != convention.Name() {
					t.Errorf("the model says %s, trained under %s", got, convention.Name())
				}
				return model.Params
			}
			want, got := trained(measure.LETOR3), trained(measure.LETOR4)
			if len(got) != len(want) {
				t.Fatalf("%d parameters, expected %d", len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("parameter %d is %v, expected %v", i, got[i], want[i])
				}
			}
		})
	}
}

// A query whose sampled rankings have no gain is left out by ExpGain alone, and the model
// says how many were used.
func TestQueriesWithoutGainAreCounted(t *testing.T) {
	for name, left := range map[string]bool{"mle": false, "convexloss": false, "l3": false, "expgain": true} {
		m := lookup(t, name)
		settings := strings.Fields("form sampled mix 0 steps 3 samples 20 ideal false iterations 3")
		p := newProblem(t, m, settings...)
		if m.UsesMeasure {
			p.Measure = measure.MustParse("ndcg@1", measure.LETOR3)
		}
		used := mustTrain(t, m, p).Training.Used
		all := len(p.Data.Queries)
		if left && (used == 0 || used >= all) || !left && used != all {
			t.Errorf("%s: used %d of %d queries", name, used, all)
		}
	}
}
