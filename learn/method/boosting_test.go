package method

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

var boostingMethods = []string{"rankboost", "adarank", "frank"}

// With validation data boosting keeps the first round that is best on them, reports each
// to the observer, and the value in the model is what scoring with it measures; without,
// it keeps the last.
func TestBestRoundIsKept(t *testing.T) {
	for _, name := range boostingMethods {
		m := lookup(t, name)
		p := newProblem(t, m, "rounds", "40")
		p.Valid = p.Data.KeepDocs(func(_, i int) bool { return i%2 == 0 })
		p.Select = measure.MustParse("ndcg@3", measure.LETOR3)
		var values, objectives []float64
		p.Observe = func(it Iteration) {
			if it.Number != len(values)+1 || !it.Epoch || !it.Validated || it.Best != (len(values) == 0 || it.Validation > slices.Max(values)) {
				t.Errorf("%s: observed %+v", name, it)
			}
			values, objectives = append(values, it.Validation), append(objectives, it.Objective)
		}
		trained := mustTrain(t, m, p)
		tr := trained.Training
		best := slices.Index(values, slices.Max(values)) + 1
		if tr.BestEpoch != best || tr.Iterations != len(values) || tr.Objective != objectives[best-1] {
			t.Errorf("%s: kept round %d of %d at %v, want %d of %d at %v", name, tr.BestEpoch, tr.Iterations, tr.Objective, best, len(values), objectives[best-1])
		}
		scores, err := trained.Score(p.Valid)
		if err != nil {
			t.Fatal(err)
		}
		if want := mean(p.Valid, scores, p.Select); tr.Validation == nil || *tr.Validation != want || want < values[best-1]-1e-12 {
			t.Errorf("%s: validation is %v, the model has %v, round %d had %v", name, tr.Validation, want, best, values[best-1])
		}

		p.Valid, p.Observe = nil, nil
		if tr := mustTrain(t, m, p).Training; tr.BestEpoch != tr.Iterations || tr.Validation != nil {
			t.Errorf("%s without validation data: %+v", name, tr)
		}
	}
}

// Validation data may lack the last features, which then count as 0.
func TestBoostingWithNarrowValidationData(t *testing.T) {
	for _, name := range boostingMethods {
		m := lookup(t, name)
		p := newProblem(t, m, "rounds", "30")
		var narrow, wide dataset.Builder
		for i := range p.Data.Queries {
			q := &p.Data.Queries[i]
			var x, padded []float32
			for j := range q.Len() {
				x = append(x, q.Row(j)[:3]...)
				padded = append(append(padded, q.Row(j)[:3]...), make([]float32, p.Data.Features-3)...)
			}
			if err := errors.Join(narrow.Add(q.ID, q.Grades, x, nil), wide.Add(q.ID, q.Grades, padded, nil)); err != nil {
				t.Fatal(err)
			}
		}
		p.Valid = narrow.Dataset()
		a := mustTrain(t, m, p)
		p.Valid = wide.Dataset()
		if b := mustTrain(t, m, p); bytesOf(t, a) != bytesOf(t, b) {
			t.Errorf("%s: data without the last features give another model than zeros", name)
		}
	}
}

// What boosting cannot learn from, it refuses as the problem's fault.
func TestBoostingErrors(t *testing.T) {
	for _, name := range boostingMethods {
		m := lookup(t, name)
		flat := newProblem(t, m)
		flat.Data = flat.Data.KeepDocs(func(q, i int) bool { return flat.Data.Queries[q].Grades[i] == 0 })
		uncounted := newProblem(t, m)
		uncounted.Valid = flat.Data
		skip, err := measure.ParseConvention("letor3-skip")
		if err != nil {
			t.Fatal(err)
		}
		if uncounted.Select, err = measure.Parse("map", skip, measure.Options{}); err != nil {
			t.Fatal(err)
		}
		leftover := newProblem(t, m)
		leftover.Checkpoint = filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(leftover.Checkpoint, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		for want, p := range map[string]*Problem{
			"training data: found no query with documents of different grades":  flat,
			"validation data: found no query on which map depends on the order": uncounted,
			"found a file, expected none: ":                                     leftover,
		} {
			_, err := m.Train(context.Background(), p)
			var problem *ProblemError
			if !errors.As(err, &problem) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error is %v, want %s", name, err, want)
			}
		}
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := m.Train(cancelled, newProblem(t, m)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error is %v after cancelling", name, err)
		}
	}
	m := lookup(t, "adarank")
	p := newProblem(t, m)
	p.Measure = measure.MustParse("dcg@10", measure.LETOR3)
	if _, err := m.Train(context.Background(), p); err == nil || !strings.Contains(err.Error(), "expected a measure between -1 and 1") {
		t.Errorf("error is %v", err)
	}
}

// Every value of every choice trains, and none is without effect: it changes the
// model of some other setting.
func TestBoostingChoices(t *testing.T) {
	for _, c := range []struct {
		method string
		base   []string
		other  []string
	}{
		{"rankboost", nil, []string{"cuts", "3"}},
		{"rankboost", nil, []string{"direction", "both"}},
		{"rankboost", nil, []string{"pairs", "uniform"}},
		{"rankboost", nil, []string{"alpha", "exact"}},
		{"frank", nil, []string{"cuts", "3"}},
		{"frank", nil, []string{"direction", "both"}},
		{"frank", nil, []string{"pairs", "uniform"}},
		{"frank", nil, []string{"alpha", "minimum"}},
		{"frank", nil, []string{"search", "features"}},
		{"frank", []string{"search", "features"}, []string{"search", "loss"}},
		{"adarank", nil, []string{"stop", "paper"}},
		{"adarank", []string{"stop", "paper", "reweight", "cumulative"}, []string{"stop", "ranklib", "reweight", "cumulative"}},
		{"adarank", []string{"stop", "ranklib"}, []string{"stop", "ranklib", "tolerance", "0.05"}},
		{"adarank", nil, []string{"reweight", "cumulative"}},
		{"adarank", []string{"reweight", "cumulative"}, []string{"reweight", "cumulative", "rate", "2"}},
		{"adarank", []string{"reweight", "cumulative", "rate", "1e-6", "repeats", "1"}, []string{"reweight", "cumulative", "rate", "1e-6", "repeats", "0"}},
		{"adarank", nil, []string{"enqueue", "true"}},
	} {
		m := lookup(t, c.method)
		rounds := []string{"rounds", "60"}
		one, other := newProblem(t, m, slices.Concat(rounds, c.base)...), newProblem(t, m, slices.Concat(rounds, c.other)...)
		one.Measure, other.Measure = measure.MustParse("ndcg@1", measure.LETOR3), measure.MustParse("ndcg@1", measure.LETOR3) // which often stays as it was
		if a, b := mustTrain(t, m, one), mustTrain(t, m, other); slices.Equal(a.Params, b.Params) {
			t.Errorf("%s: %v and %v give the same model", c.method, c.base, c.other)
		}
	}
}
