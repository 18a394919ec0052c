package listwise_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
)

// drawn returns LETOR text of queries with values missing, and the same with those values
// as the rule has them.
func drawn(t *testing.T, rng *rand.Rand, rule dataset.Missing) (holes, filled string) {
	t.Helper()
	var queries []datatest.Query
	for range 12 {
		q := datatest.Query{X: make([]float32, 6*3)}
		for range 6 {
			q.Grades = append(q.Grades, float64(rng.IntN(3)))
		}
		for k := range q.X {
			q.X[k] = rng.Float32()
		}
		queries = append(queries, q)
	}
	d := datatest.Queries(t, queries...)
	x := d.X()
	for k := range x {
		if rng.IntN(4) == 0 {
			x[k] = float32(math.NaN())
		}
	}
	holes = text(t, d)
	for i := range d.Queries {
		rule.Apply(d.Queries[i].X, d.Features)
	}
	return holes, text(t, d)
}

func text(t *testing.T, d *dataset.Dataset) string {
	t.Helper()
	var b strings.Builder
	if err := datafile.WriteText(&b, d, datafile.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t *testing.T, text string, o dataset.Options) *dataset.Dataset {
	t.Helper()
	d, err := datafile.Read(strings.NewReader(text), "text", o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func rows(q *dataset.Query) [][]float32 {
	var all [][]float32
	for i := range q.Len() {
		all = append(all, q.Row(i))
	}
	return all
}

// Claim: a model trained on data with missing values under a rule, saved and loaded, ranks
// documents with missing values as it ranks those that have what the rule makes of them,
// whether the data were filled on opening or in training; without a rule it refuses them.
func TestMissingValuesAreRankedAsTrained(t *testing.T) {
	for _, rule := range []dataset.Missing{dataset.MissingZero, dataset.MissingMin} {
		holes, filled := drawn(t, rand.New(rand.NewPCG(1, uint64(rule))), rule)
		open, whole := read(t, holes, dataset.Options{Missing: dataset.MissingKeep}), read(t, filled, dataset.Options{})
		for name, data := range map[string]*dataset.Dataset{"opened with the rule": read(t, holes, dataset.Options{Missing: rule}), "opened with missing values": open} {
			for _, normalize := range []dataset.Normalization{dataset.NoNormalization, dataset.ZScore} {
				path := filepath.Join(t.TempDir(), "model.json")
				m, err := listwise.Train(context.Background(), data, listwise.Options{Method: "mle", Missing: rule, Normalization: normalize})
				if err == nil {
					err = m.Save(path)
				}
				if err != nil {
					t.Fatal(err)
				}
				loaded, err := listwise.Load(path)
				if err != nil {
					t.Fatal(err)
				}
				for i := range open.Queries {
					got, err := listwise.Rank(loaded, rows(&open.Queries[i]))
					if err != nil {
						t.Fatalf("%v, %s: %v", rule, name, err)
					}
					if want, err := listwise.Rank(loaded, rows(&whole.Queries[i])); err != nil || !slices.Equal(got, want) {
						t.Errorf("%v, %s, %v: query %d with missing values is ranked %v, filled in %v (%v)", rule, name, normalize, i, got, want, err)
					}
				}
			}
		}
		m, err := listwise.Train(context.Background(), whole, listwise.Options{Method: "mle"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := listwise.Rank(m, [][]float32{{1, 2, float32(math.NaN())}, {1, 2, 3}}); err == nil || !strings.Contains(err.Error(), "missing value") {
			t.Errorf("a model without a rule for missing values: %v", err)
		}
	}
}

// Claim: documents that cannot be ranked are an error that says which, counted from 1.
func TestRankErrors(t *testing.T) {
	holes, _ := drawn(t, rand.New(rand.NewPCG(3, 4)), dataset.MissingZero)
	data := read(t, holes, dataset.Options{Missing: dataset.MissingZero})
	for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax, dataset.ZScore} {
		m, err := listwise.Train(context.Background(), data, listwise.Options{Method: "mle", Normalization: n})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			documents [][]float32
			want      string
		}{
			{[][]float32{{1, 2}, {1, 2}, {1}}, "document 3: found 1 feature values, expected 2 as in document 1"},
			{[][]float32{{1, 2}, {1, float32(math.Inf(-1))}}, "found the value -Inf for feature 2 of document 2"},
			{[][]float32{{1, float32(math.Inf(1))}}, "found the value +Inf for feature 2 of document 1"},
			{[][]float32{{1, 2}, {float32(math.Inf(1)), 2}}, "found the value +Inf for feature 1 of document 2"},
		} {
			if order, err := listwise.Rank(m, c.documents); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v is ranked %v, error %v, want %q", n, c.documents, order, err, c.want)
			}
		}
	}
}

// Claim: what counts as relevant is the convention's where a method optimises no measure,
// too: in the model, and in the choice on validation data, which is by the measure named.
func TestConventionOfMethodsWithoutMeasure(t *testing.T) {
	holes, _ := drawn(t, rand.New(rand.NewPCG(3, 4)), dataset.MissingZero)
	data := read(t, holes, dataset.Options{Missing: dataset.MissingZero})
	for _, name := range []string{"", "map", "p@2"} {
		m, err := listwise.Train(context.Background(), data, listwise.Options{
			Method: "ranknet", Measure: name, Convention: measure.MSLR, Scorer: "net", Valid: data, Missing: dataset.MissingZero,
			Settings: map[string]string{"epochs": "3"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if m.Threshold != measure.MSLR.Threshold() {
			t.Errorf("under mslr documents are relevant from grade %v, want %v", m.Threshold, measure.MSLR.Threshold())
		}
		if name == "" {
			name = "map"
		}
		by := measure.MustParse(name, measure.MSLR)
		scores, err := m.Score(data)
		check(err)
		result, err := measure.Evaluate(data, scores, []measure.Measure{by}, measure.TiesAverage)
		check(err)
		if got := *m.Training.Validation; math.Abs(got-result.Mean(by)) > 1e-12 {
			t.Errorf("the epoch was kept for %v, its %s under mslr is %v", got, name, result.Mean(by))
		}
	}
}

// Claim: the zero Options are the default method with its own measure, hyperparameters and
// scorer.
func TestZeroOptions(t *testing.T) {
	holes, _ := drawn(t, rand.New(rand.NewPCG(5, 6)), dataset.MissingZero)
	data := read(t, holes, dataset.Options{Missing: dataset.MissingZero})
	zero, err := listwise.Train(context.Background(), data, listwise.Options{})
	if err != nil {
		t.Fatal(err)
	}
	full, err := listwise.Train(context.Background(), data, listwise.Options{
		Method: listwise.DefaultMethod, Measure: zero.Measure, Convention: measure.Standard, Scorer: "linear",
	})
	if err != nil || zero.Method != "convexloss" || !slices.Equal(zero.Params, full.Params) {
		t.Errorf("zero options learn %s for %s, %v; those written out %v (%v)", zero.Method, zero.Measure, zero.Params, full.Params, err)
	}
}

// Claim: what no model can be learned from is an error that says what to give, not a panic.
func TestTrainErrors(t *testing.T) {
	data := read(t, "1 qid:1 1:1\n0 qid:1 1:2\n", dataset.Options{})
	for _, c := range []struct {
		data *dataset.Dataset
		o    listwise.Options
		want string
	}{
		{nil, listwise.Options{}, "found no training data"},
		{&dataset.Dataset{}, listwise.Options{}, "found no training data"},
		{data, listwise.Options{Missing: dataset.MissingKeep}, `found missing values to be kept, expected zero or min to stand for them: only trees learn from what is missing`},
		{data, listwise.Options{Missing: -1}, `found "Missing(-1)", expected error, zero, min or keep`},
		{data, listwise.Options{Normalization: 9}, `found "Normalization(9)", expected none, minmax or zscore`},
		{data, listwise.Options{Transforms: []string{"log2"}}, `transform "log2": found the step "log2", expected clip, log1p, standard or fill`},
		{data, listwise.Options{Transforms: []string{"standard:99"}}, `transform standard:99: found feature "99"`},
		{data, listwise.Options{Method: "mle", Measure: "ndgc@10"}, `unknown measure "ndgc@10"`},
		{data, listwise.Options{Method: "mel"}, `method "mel": did you mean "mle"?`},
	} {
		if _, err := listwise.Train(context.Background(), c.data, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %s in it", err, c.want)
		}
	}
}

// Claim: every mistake in the options of Train is a *method.ProblemError, so that a server can
// answer with status 400.
func TestBadRequestsAreProblems(t *testing.T) {
	d := read(t, "1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n0 qid:2 1:3\n", dataset.Options{})
	for name, o := range map[string]listwise.Options{
		"method":              {Method: "xgboost"},
		"unknown method":      {Method: "nothing-like-it"},
		"scorer":              {Scorer: "forest"},
		"setting":             {Settings: map[string]string{"no": "1"}},
		"value of a setting":  {Settings: map[string]string{"C": "x"}},
		"measure":             {Measure: "no@3"},
		"measure of a method": {Method: "convexloss", Measure: "err"},
		"transform":           {Transforms: []string{"no"}},
		"views":               {Views: dataset.Views{9}},
	} {
		_, err := listwise.Train(t.Context(), d, o)
		if _, ok := errors.AsType[*method.ProblemError](err); !ok {
			t.Errorf("%s: error is %v (%T), want a *method.ProblemError", name, err, err)
		}
	}
	if _, err := listwise.Train(t.Context(), nil, listwise.Options{}); err == nil {
		t.Error("no error without data")
	}
}

// Rank has an error, and does not panic, without a model; no documents have one ranking.
func TestRankNothing(t *testing.T) {
	for _, m := range []*listwise.Model{nil, {}} {
		if _, err := listwise.Rank(m, [][]float32{{1}, {2}}); err == nil || !strings.Contains(err.Error(), "found a model without a scorer") {
			t.Errorf("error is %v", err)
		}
	}
	d := read(t, "1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n0 qid:2 1:3\n", dataset.Options{})
	m, err := listwise.Train(t.Context(), d, listwise.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if order, err := listwise.Rank(m, nil); err != nil || len(order) != 0 {
		t.Errorf("no documents: %v, %v", order, err)
	}
}
