package runs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

// judged returns queries whose grades depend on the first feature.
func judged(t *testing.T, name string, seed uint64) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var b dataset.Builder
	for q := range 6 {
		var grades []float64
		var x []float32
		for range 5 {
			row := []float32{rng.Float32(), rng.Float32()}
			grades, x = append(grades, float64(int(3*row[0]))), append(x, row...)
		}
		if err := b.Add(fmt.Sprint(name, q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// penalty is a setting of one's own.
type penalty struct{ C float64 }

// listNet plans a training of the catalogue's loss with a learner of one's own settings.
func listNet(s penalty) (loss.Loss, train.Learner, error) {
	return loss.ListNet{}, train.LBFGS{Architecture: train.Linear, C: s.C, Tolerance: 1e-6, Iterations: 50}, nil
}

// Claim: Store.Tune records the data, settings, choices and values of every query of a tuning. They
// equal the result of tune.Run.
func TestTuneIsRecorded(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	folds := []tune.Fold{
		{Name: "Fold1", Train: judged(t, "a", 1), Valid: judged(t, "b", 2), Test: judged(t, "c", 3)},
		{Name: "Fold2", Train: judged(t, "b", 2), Valid: judged(t, "c", 3), Test: judged(t, "a", 1)},
	}
	m, err := method.Lookup("regression")
	if err != nil {
		t.Fatal(err)
	}
	own, err := tune.NewEntry(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	config := tune.Config{
		Folds: folds, Seed: 5,
		Entries: []tune.Entry{tune.OwnOf("own", []penalty{{0.1}, {10}}, listNet), own},
	}
	result, err := s.Tune(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := tune.Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	if run.Kind != Tune || run.Status != Finished || *run.Seed != 5 || len(run.Command) != 0 || len(run.Files) != 0 {
		t.Errorf("the run is %+v", run)
	}
	if diff := cmp.Diff([]string{"own", "regression"}, run.Methods); diff != "" {
		t.Error(diff)
	}
	if got := run.Config["methods"].(map[string]any)["own"]; cmp.Diff(map[string]any{"hyperparameters": map[string]any{"C": []any{0.1, 10.0}}}, got) != "" {
		t.Errorf("the settings of own are %v", got)
	}
	for i, want := range []string{"Fold1 train", "Fold1 valid", "Fold1 test", "Fold2 train", "Fold2 valid", "Fold2 test"} {
		if d := run.Data[i]; d.Role != want || d.Queries != 6 || d.Documents != 30 || d.Fingerprint == "" {
			t.Errorf("data %d are %+v, want those of %s", i, d, want)
		}
	}
	next := 0
	for i := range result.Rows {
		row := &result.Rows[i]
		by := row.Measures[0].Measure
		if means := run.Results[next]; means.Ranker != row.Entry.Name || means.Fold != "" || float64(means.Measures[0].Mean) != plain.Rows[i].Measures[0].Mean {
			t.Errorf("the means are %+v, want %v", means, plain.Rows[i].Measures[0].Mean)
		}
		for k := range row.Folds {
			next++
			recorded, f := run.Results[next], &plain.Rows[i].Folds[k]
			if recorded.Fold != f.Fold || len(recorded.Trials) != len(f.Tried) || float64(recorded.Validation) != f.Validation {
				t.Errorf("fold %s is %+v", f.Fold, recorded)
			}
			for q, v := range f.Test.PerQuery(by) {
				if got := recorded.Measures[0].PerQuery[q]; float64(got.Value) != v || got.Query != f.Test.Queries()[q] {
					t.Errorf("%s, query %s: recorded %v, want %v", f.Fold, f.Test.Queries()[q], got, v)
				}
			}
		}
		next++
	}
}

// Claim: Store.Tune returns the error of tune.Run for settings that cannot be recorded, and records nothing.
func TestInvalidTuningIsNotRecorded(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	folds := []tune.Fold{{Train: judged(t, "a", 1), Valid: judged(t, "b", 2)}}
	pointer := func(*penalty) (loss.Loss, train.Learner, error) { return listNet(penalty{1}) }
	for name, c := range map[string]tune.Config{
		"pointers":    {Folds: folds, Entries: []tune.Entry{tune.OwnOf("own", []*penalty{{1}}, pointer)}},
		"NaN":         {Folds: folds, Entries: []tune.Entry{tune.OwnOf("own", []penalty{{math.NaN()}}, listNet)}},
		"no plan":     {Folds: folds, Entries: []tune.Entry{tune.OwnOf[penalty]("own", []penalty{{1}}, nil)}},
		"nil measure": {Folds: folds, Measures: []measure.Measure{nil}, Entries: []tune.Entry{tune.OwnOf("own", []penalty{{1}}, listNet)}},
	} {
		_, want := tune.Run(context.Background(), c)
		if _, err := s.Tune(context.Background(), c); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: found the error %v, expected %v", name, err, want)
		}
	}
	if list, err := s.List(Filter{}); err != nil || len(list) != 0 {
		t.Errorf("the record has %d runs (%v), expected none", len(list), err)
	}
}

// Claim: a record has the names that tune gives to folds and entries, the scorer of each entry, and the
// convention of the measure.
func TestTuneRecordsDefaults(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	m, err := method.Lookup("listnet")
	if err != nil {
		t.Fatal(err)
	}
	e, err := tune.NewEntryOf(m, "net", map[string][]string{"C": {"1"}, "rate": {"0.01"}, "epochs": {"2"}})
	if err != nil {
		t.Fatal(err)
	}
	e.Name = ""
	c := tune.Config{Folds: []tune.Fold{{Train: judged(t, "a", 1), Valid: judged(t, "b", 2)}}, Convention: measure.LETOR4, Entries: []tune.Entry{e}}
	if _, err := s.Tune(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	run, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := run.Config["methods"].(map[string]any)["listnet"].(map[string]any)
	if entry["scorer"] != "net" || run.Config["convention"] != measure.LETOR4.Name() || run.Methods[0] != "listnet" || len(run.Data) != 2 || run.Data[0].Role != "Fold1 train" {
		t.Errorf("the record is %v, %v, %v, %v", entry["scorer"], run.Config["convention"], run.Methods, run.Data)
	}
}

// Claim: a training by Store.Train is recorded with its learning curve and the values of the
// validation queries. A training that fails is recorded with its error.
func TestTrainIsRecorded(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	data, valid := judged(t, "a", 1), judged(t, "b", 2)
	observed := 0
	p := train.Problem{
		Data: data, Valid: valid, Loss: loss.ListNet{}, Seed: 3, Method: "own", Settings: map[string]any{"C": 1.0},
		Learner: train.LBFGS{Architecture: train.Linear, C: 1, Tolerance: 1e-6, Iterations: 50}, Observe: func(train.Iteration) { observed++ },
	}
	m, err := s.Train(context.Background(), &p)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.Score(valid)
	if err != nil {
		t.Fatal(err)
	}
	by := measure.MustParse("map", measure.Convention{})
	want, err := measure.Evaluate(valid, scores, []measure.Measure{by}, measure.TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	if observed == 0 || len(run.Curve) != observed || run.Curve[observed-1].Step == 0 {
		t.Errorf("the curve has %d points, and %d were observed", len(run.Curve), observed)
	}
	if got := run.Results[0].Measures[0]; float64(got.Mean) != want.Mean(by) || len(got.PerQuery) != 6 || run.Results[0].Ranker != "own" {
		t.Errorf("the results are %+v, want the mean %v", run.Results, want.Mean(by))
	}
	p.Learner = nil
	if _, err := s.Train(context.Background(), &p); err == nil {
		t.Fatal("a training without a learner is no error")
	}
	failed, err := s.Get(2)
	if err != nil || failed.Status != Failed || failed.Error == "" {
		t.Errorf("the run is %+v (%v)", failed, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.Learner = train.LBFGS{Architecture: train.Linear, C: 1}
	if _, err := s.Train(ctx, &p); err == nil {
		t.Fatal("a canceled training is no error")
	}
	if stopped, err := s.Get(3); err != nil || stopped.Status != Interrupted {
		t.Errorf("the run is %+v (%v)", stopped, err)
	}
}

// Claim: a program of another module is recorded with the version of listwise that it requires.
func TestCodeOfOtherPrograms(t *testing.T) {
	other := &debug.BuildInfo{Main: debug.Module{Path: "example.com/own", Version: "v9.9.9"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}}
	other.Deps = []*debug.Module{{Path: modulePath, Version: "v1.2.3"}}
	if c := codeOf(other); c.Version != "v1.2.3" || c.Revision != "" {
		t.Errorf("the code is %+v", c)
	}
	own := &debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "v1.2.3"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}}
	if c := codeOf(own); c.Version != "v1.2.3" || c.Revision != "abc" {
		t.Errorf("the code is %+v", c)
	}
	if c := codeOf(nil); c.Version != "(devel)" || !strings.HasPrefix(c.Go, "go") {
		t.Errorf("the code is %+v", c)
	}
}
