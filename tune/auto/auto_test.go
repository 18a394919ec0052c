package auto

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// generated are queries whose grades follow the sum of three features, each in the units of its
// query, and noise; other features are noise.
func generated(t testing.TB, queries int) *dataset.Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	var b dataset.Builder
	for q := range queries {
		const docs, features = 12, 6
		grades, x := make([]float64, docs), make([]float32, docs*features)
		scale := math.Exp(2 * r.NormFloat64())
		for i := range docs {
			hidden := 0.0
			for j := range features {
				v := r.NormFloat64()
				if j < 3 {
					hidden += v
				}
				x[i*features+j] = float32(scale * math.Exp(v))
			}
			if hidden+0.5*r.NormFloat64() > 1 {
				grades[i] = 1 + math.Floor(r.Float64()*2)
			}
		}
		grades[0] = 1
		if err := b.Add(fmt.Sprintf("q%d", q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// divided are folds with test data.
func divided(t testing.TB, folds int) []tune.Fold {
	t.Helper()
	d := generated(t, 60)
	all, err := dataset.Folds(d, folds, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var list []tune.Fold
	for k, f := range all {
		list = append(list, tune.Fold{Name: fmt.Sprintf("Fold%d", k+1), Train: d.Subset(f.Train), Valid: d.Subset(f.Vali), Test: d.Subset(f.Test)})
	}
	return list
}

func run1(t testing.TB, c Config) *Result {
	t.Helper()
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mapOf(t testing.TB, m *model.Model, d *dataset.Dataset) float64 {
	t.Helper()
	scores, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	v, _ := ranker.Mean(d, scores, measure.For(measure.MustParse("map", measure.LETOR3), d).(measure.Averager))
	return v
}

// The recipe, recomputed: every trial by its method alone; the views by the mean of what methods reach
// with each; of these views the best half of the candidates with all of their trials; each trained
// again without validation data for as long; the mean of their standardised scores.
func TestRunAgainstItsDefinition(t *testing.T) {
	folds := divided(t, 3)
	// The first settings of seven methods, and second ones of three of them, which follow all first ones.
	r := run1(t, Config{Tune: tune.Config{Folds: folds, Seed: 7}, Refit: Turns, Trials: 120, Without: slices.Concat(span(14, 112), span(115, 120))})
	for k, f := range folds {
		reached := make(map[string]map[string]float64) // by method and scorer, by views
		values := make(map[string][]float64)           // by all three
		for _, o := range r.Outcomes {
			if o.LeftOut {
				continue
			}
			e := r.Entries[o.Entry]
			m, err := e.Method.Train(context.Background(), &method.Problem{
				Problem: train.Problem{
					Data: f.Train, Valid: f.Valid, Select: r.Tune.Select, Measure: e.Measure, Views: e.Own.Views, Seed: e.Own.Seed,
				},
				Values: o.Setting, Scorer: e.Own.Scorer,
			})
			if err != nil {
				t.Fatal(err)
			}
			value := mapOf(t, m, f.Valid)
			if value != o.Folds[k].Validation {
				t.Fatalf("%s, %s: validation value %v, expected %v", e.Name, f.Name, o.Folds[k].Validation, value)
			}
			system, views := e.Method.Name+" "+e.Own.Scorer, e.Own.Views.String()
			if reached[system] == nil {
				reached[system] = make(map[string]float64)
			}
			reached[system][views] = max(reached[system][views], value)
			values[system+" "+views] = append(values[system+" "+views], value)
		}
		checkChoice(t, &r.Folds[k], reached, values)
		whole, err := dataset.Concat(f.Train, f.Valid)
		if err != nil {
			t.Fatal(err)
		}
		checkLearned(t, r, &r.Folds[k], whole, &f, Turns, 2)
		checkMean(t, &r.Folds[k], f.Test)
	}
	checkMean(t, &r.Final, folds[0].Test)
	if len(r.Final.Members) <= r.Final.Chosen {
		t.Errorf("%d members of %d candidates, expected one with two settings", len(r.Final.Members), r.Final.Chosen)
	}
	if n := len(r.Whole.Queries); n != 60 {
		t.Errorf("the last model learned from %d queries, expected all 60", n)
	}
	checkLearned(t, r, &r.Final, r.Whole, nil, Turns, 3)
}

// span returns the numbers from a up to, without, b.
func span(a, b int) (list []int) {
	for i := a; i < b; i++ {
		list = append(list, i)
	}
	return list
}

// checkChoice compares the members of a fold with what follows from the trials' values: the best ones
// by method and scorer, then views; and all, by these together.
func checkChoice(t *testing.T, got *Fused, reached map[string]map[string]float64, values map[string][]float64) {
	t.Helper()
	sums := make(map[string]float64)
	for _, by := range reached {
		if len(by) == 2 {
			for views, value := range by {
				sums[views] += value
			}
		}
	}
	views := "raw"
	for v, sum := range sums {
		if sum > sums[views] {
			views = v
		}
	}
	var systems []string
	for system, by := range reached {
		if _, ok := by[views]; ok {
			systems = append(systems, system)
		}
	}
	slices.SortFunc(systems, func(a, b string) int { return cmp.Compare(reached[b][views], reached[a][views]) })
	half := (len(systems) + 1) / 2
	want, have := make(map[string][]float64), make(map[string][]float64)
	for _, system := range systems[:half] {
		want[system+" "+views] = values[system+" "+views]
		slices.Sort(want[system+" "+views])
	}
	for _, m := range got.Members {
		name := m.Entry.Method.Name + " " + m.Entry.Own.Scorer + " " + m.Entry.Own.Views.String()
		have[name] = append(have[name], m.Validation)
		slices.Sort(have[name])
	}
	if got.Chosen != half || len(got.Candidates) != len(values) || !reflect.DeepEqual(have, want) {
		t.Errorf("%s: %d of %d candidates, with the members %v, expected %d of %d with %v", got.Name, got.Chosen, len(got.Candidates), have, half, len(values), want)
	}
	if best := slices.Max(have[systems[0]+" "+views]); got.Members[0].Validation != best {
		t.Errorf("%s: the first member has the value %v, expected the best, %v", got.Name, got.Members[0].Validation, best)
	}
}

// checkMean compares the scores of a fusion with the mean of its members' standardised ones.
func checkMean(t *testing.T, f *Fused, d *dataset.Dataset) {
	t.Helper()
	got, err := f.Model.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, d.Docs())
	models := modelsOf(f.Members)
	for _, m := range models {
		scores, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range d.Queries {
			own := scores[q.Start : q.Start+q.Len()]
			mean, square := 0.0, 0.0
			for _, s := range own {
				mean += s / float64(len(own))
			}
			for _, s := range own {
				square += (s - mean) * (s - mean) / float64(len(own))
			}
			for i, s := range own {
				if square > 0 {
					want[q.Start+i] += (s - mean) / math.Sqrt(square) / float64(len(models))
				}
			}
		}
	}
	for i := range want {
		if math.Abs(want[i]-got[i]) > 1e-9 {
			t.Fatalf("%s: score %v of document %d, expected %v", f.Name, got[i], i+1, want[i])
		}
	}
}

// A trivial recipe does not do as well: on test data never looked at, the fusion beats the best
// single feature, by far, and the features' ranks beat the features, whose units differ by query.
func TestRunBeatsTheBestFeature(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and minutes with the race detector")
	}
	folds := divided(t, 3)
	r := run1(t, Config{Tune: tune.Config{Folds: folds, Seed: 1}, Trials: 20})
	m, err := method.Lookup("singlefeature")
	if err != nil {
		t.Fatal(err)
	}
	fused, single := 0.0, 0.0
	for k, f := range folds {
		whole, err := dataset.Concat(f.Train, f.Valid)
		if err != nil {
			t.Fatal(err)
		}
		trained, err := m.Train(context.Background(), &method.Problem{Problem: train.Problem{Data: whole, Measure: measure.MustParse("map", measure.LETOR3)}})
		if err != nil {
			t.Fatal(err)
		}
		fused += mapOf(t, r.Folds[k].Model, f.Test) / 3
		single += mapOf(t, trained, f.Test) / 3
	}
	if fused < single+0.1 {
		t.Errorf("the fusion has the MAP %.4f, the best feature %.4f", fused, single)
	}
	if !strings.Contains(r.Final.Members[0].Entry.Name, "rank") {
		t.Errorf("the best member is %s, expected one that sees ranks", r.Final.Members[0].Entry.Name)
	}
}

// Trials that are left out count for nothing, and a journal of a limited time says which there were.
func TestRunWithinTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and minutes with the race detector")
	}
	d := generated(t, 30)
	folds, err := tune.Divide(d, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := Config{Tune: tune.Config{Folds: folds, Seed: 1, Dir: dir}, Whole: d, Budget: 4 * time.Second}
	begun := time.Now()
	first := run1(t, c)
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("took %v, expected about 4 s", took)
	}
	if first.Trials == first.Of {
		t.Skip("all trials were done within the time")
	}
	again := run1(t, c) // of the same folder
	other := c
	other.Tune.Dir, other.Budget, other.Trials, other.Without = t.TempDir(), 0, first.Trials, first.Without
	elsewhere := run1(t, other)
	for _, r := range []*Result{again, elsewhere} {
		if r.Trials != first.Trials || !slices.Equal(r.Without, first.Without) || !slices.Equal(scoresOf(t, r, d), scoresOf(t, first, d)) {
			t.Errorf("%d trials but %v and other scores, expected those of %d but %v", r.Trials, r.Without, first.Trials, first.Without)
		}
	}
}

func scoresOf(t *testing.T, r *Result, d *dataset.Dataset) []float64 {
	t.Helper()
	scores, err := r.Final.Model.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// What a method cannot learn from is left to those that can, and what none can is an error.
func TestRunOfWhatMethodsRefuse(t *testing.T) {
	folds := divided(t, 3)
	for i := range folds {
		for _, d := range []*dataset.Dataset{folds[i].Train, folds[i].Valid, folds[i].Test} {
			d.Change(func(x []float32) { x[1] = float32(math.NaN()) })
		}
	}
	_, err := Run(context.Background(), Config{Tune: tune.Config{Folds: folds, Missing: dataset.MissingKeep}, Trials: 2})
	if err == nil || !strings.Contains(err.Error(), "found no method that learns from the data in 2 trials; the first: regression.linear.raw: ") {
		t.Errorf("the error of linear methods on missing values is %v", err)
	}
	if testing.Short() {
		t.Skip("grows trees, which takes minutes with the race detector")
	}
	r := run1(t, Config{Tune: tune.Config{Folds: folds, Missing: dataset.MissingKeep}, Trials: 72})
	if len(r.Final.Candidates) == 0 || r.Outcomes[0].Refused == "" {
		t.Errorf("%d candidates, and the first trial was refused for %q", len(r.Final.Candidates), r.Outcomes[0].Refused)
	}
	for _, m := range r.Final.Members {
		if m.Entry.Own.Scorer != "trees" {
			t.Errorf("%s learned from missing values", m.Entry.Name)
		}
	}
}

// The list of trials has every method of the catalogue with both views before any second setting, and
// names of entries are files of their own.
func TestCatalogue(t *testing.T) {
	c := Config{Views: DefaultViews(), Tune: tune.Config{Seed: 3}}
	entries, trials, err := c.catalogue()
	if err != nil {
		t.Fatal(err)
	}
	names, seen, second := make(map[string]bool), make(map[string]bool), false
	for i := range entries {
		names[entries[i].Name] = true
	}
	if len(names) != len(entries) {
		t.Errorf("%d names of %d entries", len(names), len(entries))
	}
	for _, trial := range trials {
		e := &entries[trial.Entry]
		key := fmt.Sprint(trial.Entry, trial.Setting)
		if seen[key] {
			t.Errorf("%s is tried twice with %s", e.Name, trial.Setting)
		}
		first := trial.Setting.String() == e.Settings[0].String() && e.Own.Seed == 3
		if seen[key] = true; first && second {
			t.Errorf("%s comes after second settings", e.Name)
		}
		second = second || !first
	}
	for _, m := range method.List() {
		for _, views := range []string{"raw", "raw-rank-zscore"} {
			if got := names[m.Name+"."+m.Scorers()[0]+"."+views]; got == slices.Contains(baselines, m.Name) {
				t.Errorf("%s with the views %s is in the list: %v", m.Name, views, got)
			}
		}
	}
}
