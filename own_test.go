package listwise_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/listwise/listwise"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune"
)

// gradeOfFirst is a measure of one's own: the grade of the first document.
type gradeOfFirst struct{}

func (gradeOfFirst) Name() string { return "grade-of-first" }

func (gradeOfFirst) Value(ranked []float64) (float64, bool) { return ranked[0], true }

func (gradeOfFirst) Average(ranked []float64, ends []int) (float64, bool) {
	var sum float64
	for _, grade := range ranked[:ends[0]] {
		sum += grade
	}
	return sum / float64(ends[0]), true
}

// firstGrades returns, for every query, the grades of the documents that share the highest
// score, in the order of the file.
func firstGrades(d *dataset.Dataset, scores []float64) (grades [][]float64) {
	for i := range d.Queries {
		q := &d.Queries[i]
		own := scores[q.Start : q.Start+q.Len()]
		var tied []float64
		for doc, grade := range q.Grades {
			if own[doc] == slices.Max(own) {
				tied = append(tied, grade)
			}
		}
		grades = append(grades, tied)
	}
	return grades
}

// tieNeutral returns the mean of gradeOfFirst with ties in random order.
func tieNeutral(grades [][]float64) float64 {
	var means []float64
	for _, tied := range grades {
		means = append(means, mean(tied))
	}
	return mean(means)
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// foldsOf divides the training data of the examples into folds.
func foldsOf(t *testing.T) []tune.Fold {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "folds")
	if _, err := datafile.Fold(context.Background(), dir, "testdata/train.txt", 4, 1, dataset.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	folds, err := tune.ReadFolds(dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return folds
}

// entry trains the scorer with the loss of Example_ownLoss, for several C.
func entry(name string, a train.Architecture) tune.Entry {
	return tune.OwnOf(name, []penalty{{1e-4}, {1}, {100}}, func(s penalty) (loss.Loss, train.Learner, error) {
		return squares{}, train.LBFGS{Architecture: a, C: s.C, Tolerance: 1e-6, Iterations: 200}, nil
	})
}

// TestOwnMeasure: a measure from outside the module evaluates scores, selects among
// settings and compares systems, with the values of a computation on the scores.
func TestOwnMeasure(t *testing.T) {
	own := gradeOfFirst{}
	r, err := tune.Run(context.Background(), tune.Config{
		Folds: foldsOf(t), Select: own, Measures: []measure.Measure{own}, Seed: 1,
		Entries: []tune.Entry{entry("linear", train.Linear), entry("network", train.Network(3, scorer.Tanh))},
	})
	if err != nil {
		t.Fatal(err)
	}
	folds := foldsOf(t)
	values := make([][]float64, len(r.Rows))
	varies := false
	for i, row := range r.Rows {
		for k, f := range row.Folds {
			if got, want := f.Validation, tieNeutral(firstGrades(folds[k].Valid, scoresOf(t, f.Model, folds[k].Valid))); math.Abs(got-want) > 1e-12 || got != slices.Max(f.Tried) {
				t.Errorf("%s, %s: %v is chosen with validation value %v of %v, want %v", row.Entry.Name, f.Fold, f.Chosen, got, f.Tried, want)
			}
			varies = varies || slices.Max(f.Tried) > slices.Min(f.Tried)
			var want []float64
			for _, tied := range firstGrades(folds[k].Test, scoresOf(t, f.Model, folds[k].Test)) {
				want = append(want, tied[0])
			}
			if got := f.Test.PerQuery(own); !slices.Equal(got, want) {
				t.Errorf("%s, %s: test values %v, want %v", row.Entry.Name, f.Fold, got, want)
			}
			values[i] = append(values[i], want...)
		}
	}
	if !varies {
		t.Error("all settings have the same validation value, so nothing is selected")
	}
	c, err := stats.Compare(values, stats.Config{Baseline: 0, Permutations: 100, Resamples: 100, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := math.Abs(c.Pairs[0].Difference), math.Abs(mean(values[1])-mean(values[0])); math.Abs(got-want) > 1e-12 {
		t.Errorf("the systems differ by %v, want %v", got, want)
	}
}

func scoresOf(t *testing.T, m *model.Model, d *dataset.Dataset) []float64 {
	t.Helper()
	scores, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// onFeature is a learner of one's own: it ranks by one feature.
type onFeature int

func (f onFeature) Learn(_ context.Context, t *train.Task) (*train.Learned, error) {
	w := make([]float64, t.Data.Features)
	w[f] = 1
	return &train.Learned{Scorer: scorer.Linear{Features: len(w)}, Params: w, Used: len(t.Data.Queries)}, nil
}

// TestOwnLearner: the model of a learner from outside the module is saved and loaded, and
// ranks as the learner says.
func TestOwnLearner(t *testing.T) {
	data, err := datafile.Open("testdata/train.txt", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := train.Run(context.Background(), &train.Problem{Data: data, Learner: onFeature(2), Method: "on-feature"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := listwise.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, score := range scoresOf(t, loaded, data) {
		if want := float64(data.X()[i*data.Features+2]); score != want {
			t.Fatalf("document %d has score %v, want its third feature %v", i, score, want)
		}
	}
}
