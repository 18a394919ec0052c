package tune

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
)

// Of each fold's settings the one with the highest tie-neutral validation value is
// chosen, and it is that setting's model, measured on the test part, that is
// reported: all recomputed here, one training after the other.
func TestRunAgainstItsDefinition(t *testing.T) {
	c := newConfig(t)
	r := run(t, c)
	for i, e := range c.Entries {
		var pooled []float64
		var means float64
		for k, f := range c.Folds {
			best, bestValue := -1, 0.0
			got := r.Rows[i].Folds[k]
			for s, v := range e.Settings {
				m, err := e.Method.Train(context.Background(), &method.Problem{Problem: train.Problem{Data: f.Train, Measure: e.Measure, Seed: c.Seed}, Values: v.(method.Values)})
				if err != nil {
					t.Fatal(err)
				}
				scores, err := m.Score(f.Valid)
				if err != nil {
					t.Fatal(err)
				}
				result, err := measure.Evaluate(f.Valid, scores, []measure.Measure{c.Select}, measure.TiesInput)
				if err != nil {
					t.Fatal(err)
				}
				value := result.TieNeutral(c.Select)
				if value != got.Tried[s] {
					t.Errorf("%s, %s, %s: validation value is %v, want %v", e.Name, f.Name, v, got.Tried[s], value)
				}
				if best < 0 || value > bestValue {
					best, bestValue = s, value
				}
			}
			if got.Chosen.String() != e.Settings[best].String() || got.Validation != bestValue || got.Fold != f.Name {
				t.Errorf("%s, %s: chose %s at %v, want %s at %v", e.Name, f.Name, got.Chosen, got.Validation, e.Settings[best], bestValue)
			}
			scores, err := got.Model.Score(f.Test)
			if err != nil {
				t.Fatal(err)
			}
			test, err := measure.Evaluate(f.Test, scores, c.Measures, c.Ties)
			if err != nil {
				t.Fatal(err)
			}
			pooled = append(pooled, test.PerQuery(c.Measures[0])...)
			means += test.Mean(c.Measures[0]) / float64(len(c.Folds))
			if s := r.Rows[i].Measures[0]; s.Folds[k] != test.Mean(c.Measures[0]) {
				t.Errorf("%s, %s: test MAP is %v, want %v", e.Name, f.Name, s.Folds[k], test.Mean(c.Measures[0]))
			}
		}
		s := r.Rows[i].Measures[0]
		if diff := s.Mean - means; s.Measure.Name() != "map" || diff > 1e-15 || diff < -1e-15 || s.Pooled != measure.Mean(pooled) {
			t.Errorf("%s: %+v, want mean %v and pooled %v", e.Name, s, means, measure.Mean(pooled))
		}
	}
}

// Of settings with equal validation values the first is chosen.
func TestFirstOfEquals(t *testing.T) {
	values := []float64{0.3, 0.5, 0.2, 0.5}
	jobs := make([]*job, len(values))
	for i, v := range values {
		jobs[i] = &job{validation: v}
	}
	got, err := new(Config).choose(Fold{}, jobs)
	if err != nil || got.best != jobs[1] || got.validation != 0.5 {
		t.Error("not the first of the best is chosen")
	}
	if diff := cmp.Diff(values, got.tried); diff != "" {
		t.Errorf("tried (-want +got):\n%s", diff)
	}
}

// The same results and files for any number of jobs, with a folder or without, and again
// from the records of the first run.
func TestSameResultForAnyNumberOfJobs(t *testing.T) {
	c := newConfig(t)
	c.Jobs = 1
	want := digest(run(t, c))
	var wantFiles map[string]string
	for _, jobs := range []int{1, 4} {
		c.Jobs, c.Dir = jobs, t.TempDir()
		calls, last := 0, 0
		c.Observe = func(done, total int) {
			calls++
			if total != 15 || done != last+1 {
				t.Errorf("%d of %d jobs done, after %d", done, total, last)
			}
			last = done
		}
		if got := digest(run(t, c)); got != want {
			t.Errorf("%d jobs: another result", jobs)
		}
		if calls != 15 {
			t.Errorf("%d calls of Observe, want one a job, 15", calls)
		}
		got := files(t, c.Dir)
		if wantFiles == nil {
			wantFiles = got
		}
		if diff := cmp.Diff(wantFiles, got); diff != "" {
			t.Errorf("%d jobs: files differ:\n%s", jobs, diff)
		}
		c.Observe = nil
		if got := digest(run(t, c)); got != want {
			t.Errorf("%d jobs: another result from the records", jobs)
		}
		if diff := cmp.Diff(wantFiles, files(t, c.Dir)); diff != "" {
			t.Errorf("the second run changed files:\n%s", diff)
		}
	}
}

// The files of a run: the chosen model, its scores in the order of the test file,
// and its measures query by query.
func TestFilesOfRun(t *testing.T) {
	c := newConfig(t)
	c.Dir = t.TempDir()
	// The documents of query 17 stand in two places of the test file.
	text := "1 qid:17 1:0.3 2:0.1\n0 qid:18 1:0.2 2:0.7\n2 qid:17 1:0.9 2:0.4\n1 qid:18 1:0.8\n0 qid:17 1:0.1\n"
	test, err := datafile.Read(strings.NewReader(text), "test", dataset.Options{Features: 6})
	if err != nil {
		t.Fatal(err)
	}
	c.Folds = c.Folds[:1]
	c.Folds[0].Test = test
	row := run(t, c).Rows[0]
	scores, err := datafile.ReadScores(filepath.Join(c.Dir, "mle", "Fold1.scores"), 5, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := row.Folds[0].Model.Score(test)
	if err != nil {
		t.Fatal(err)
	}
	// Rows are 17, 17, 17, 18, 18; lines are 17, 18, 17, 18, 17.
	for line, r := range []int{0, 3, 1, 4, 2} {
		if scores[line] != want[r] {
			t.Errorf("line %d has the score %v, want %v", line+1, scores[line], want[r])
		}
	}
	queries := files(t, c.Dir)[filepath.Join("mle", "Fold1.queries.csv")]
	if lines := strings.Split(queries, "\n"); lines[0] != "query,map,ndcg@3" || !strings.HasPrefix(lines[1], "17,") || !strings.HasPrefix(lines[2], "18,") {
		t.Errorf("queries.csv is\n%s", queries)
	}
}

// Varied are the hyperparameters with several values, AtEdge the numeric ones of
// them whose choice may be improved by a wider grid; of settings drawn at random none.
func TestVariedAndAtEdge(t *testing.T) {
	e := entry(t, "mle", map[string][]string{"C": {"10", "0.1", "1"}, "form": {"factored", "shell"}, "iterations": {"50"}})
	row := Row{Entry: e}
	choice := func(c, form string) FoldResult {
		v, err := e.Method.Values(map[string]string{"C": c, "form": form, "iterations": "50"})
		if err != nil {
			t.Fatal(err)
		}
		return FoldResult{Chosen: v}
	}
	if diff := cmp.Diff([]string{"C", "form"}, row.Varied()); diff != "" {
		t.Errorf("varied (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		chosen []string
		want   []string
	}{
		{[]string{"1", "1"}, nil},
		{[]string{"1", "10"}, []string{"C"}},
		{[]string{"0.1"}, []string{"C"}},
	} {
		row.Folds = nil
		for _, v := range c.chosen {
			row.Folds = append(row.Folds, choice(v, "shell"))
		}
		if diff := cmp.Diff(c.want, row.AtEdge()); diff != "" {
			t.Errorf("chose %v: at edge (-want +got):\n%s", c.chosen, diff)
		}
	}
	row = Row{Entry: entry(t, "mle", map[string][]string{"C": {"1", "10"}}), Folds: []FoldResult{choice("10", "shell")}}
	if edge := row.AtEdge(); edge != nil {
		t.Errorf("a grid of two values: %v at the edge, want none", edge)
	}
	drawn, err := NewRandomEntryOf(e.Method, "", map[string][]string{"C": {"0.1", "10"}}, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	row = Row{Entry: drawn}
	for _, s := range drawn.Settings { // the least of them is among the choices
		row.Folds = append(row.Folds, FoldResult{Chosen: s})
	}
	if edge := row.AtEdge(); edge != nil {
		t.Errorf("settings drawn at random: %v at the edge, want none", edge)
	}
}

// A fold whose model has only weights of 0 is reported.
func TestConstantFolds(t *testing.T) {
	c := newConfig(t)
	var b dataset.Builder
	for q, grades := range [][]float64{{1, 0, 1, 0}, {0, 1, 0, 1}} {
		if err := b.Add(strconv.Itoa(q), grades, []float32{1, 2, 3, 4}, nil); err != nil {
			t.Fatal(err)
		}
	}
	nothing := b.Dataset()
	c.Folds = append(c.Folds[:1], Fold{"Fold2", nothing, nothing, nothing})
	c.Entries = []Entry{entry(t, "mle", map[string][]string{"C": {"1"}, "form": {"lattice"}})}
	row := run(t, c).Rows[0]
	if !slices.Contains(row.ConstantFolds(), "Fold2") {
		t.Errorf("folds %v are constant, want Fold2 among them", row.ConstantFolds())
	}
	if row.TiedQueries() < 2 {
		t.Errorf("%d queries tie, want the two of Fold2", row.TiedQueries())
	}
}

func TestRunErrors(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"0 folds and 2 methods, expected at least one of each":           func(c *Config) { c.Folds = nil },
		"3 folds and 0 methods, expected at least one of each":           func(c *Config) { c.Entries = nil },
		`two entries are named "mle", expected different names`:          func(c *Config) { c.Entries[1].Name = "mle" },
		"mle: no settings to try, expected at least one":                 func(c *Config) { c.Entries[0].Settings = nil },
		"l2: found no training measure, expected one such as ndcg@10":    func(c *Config) { c.Entries[1].Measure = nil },
		"l2: found the training measure err, expected one that is a sum": func(c *Config) { c.Entries[1].Measure = parse(t, "err")[0] },
		"mle, Fold1, C=0.001: mle: found no query with both": func(c *Config) {
			c.Folds[0].Train = c.Folds[0].Train.KeepDocs(func(_, i int) bool { return i == 0 })
			c.Jobs = 1
		},
		"Fold1, validation data: found no query on which map depends on the order of the documents (a document is relevant from grade 1 on, the highest grade is 0)": skipAll(t),
	} {
		c := newConfig(t)
		change(&c)
		if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// skipAll leaves no validation query that counts: none has a relevant document
// and the convention skips those.
func skipAll(t *testing.T) func(*Config) {
	return func(c *Config) {
		v := c.Folds[0].Valid
		c.Folds[0].Valid = v.KeepDocs(func(q, i int) bool { return v.Queries[q].Grades[i] == 0 })
		var err error
		if c.Select, err = measure.Parse("map", measure.Convention{}.Skipping(), measure.Options{}); err != nil {
			t.Fatal(err)
		}
	}
}

// Cancelling ends the run with the context's error; what was finished is kept.
func TestCancel(t *testing.T) {
	c := newConfig(t)
	c.Dir, c.Jobs = t.TempDir(), 1
	ctx, cancel := context.WithCancel(context.Background())
	c.Observe = func(done, _ int) {
		if done == 4 {
			cancel()
		}
	}
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
	if n := len(files(t, c.Dir)); n != 8 {
		t.Errorf("%d files, want the records and models of 4 trainings", n)
	}
}

// With a method that descends, each fold's epoch is chosen by the selecting measure
// on the fold's validation data; the network asked for is trained.
func TestFoldsValidateDescent(t *testing.T) {
	c := newConfig(t)
	c.Entries = []Entry{entry(t, "lambdarank", map[string][]string{"rate": {"0.1"}, "epochs": {"12"}, "hidden": {"3"}})}
	c.Scorer = "net"
	for _, f := range run(t, c).Rows[0].Folds {
		tr := f.Model.Training
		if tr.Validation == nil || *tr.Validation != f.Validation || tr.BestEpoch < 1 {
			t.Errorf("%s: training is %+v, the fold's validation value is %v", f.Fold, tr, f.Validation)
		}
		if kind := f.Model.Scorer.Kind(); kind != "net" {
			t.Errorf("%s: the scorer is %s", f.Fold, kind)
		}
	}
	c.Scorer = "pairnet"
	if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), `lambdarank: found the scorer "pairnet"`) {
		t.Errorf("error is %v", err)
	}
}
