package tune

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// Claim: successive halving, recomputed by trainings one by one: every setting on a ninth of a fold's
// training queries, the best third of them on a third, the best third of those on all; the choice is
// the best of what is left, and what was dropped counts for nothing.
func TestHalvingAgainstItsDefinition(t *testing.T) {
	d := data(t, 150)
	all, err := Divide(d, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all { // 90 queries and more to train on
		all[i].Train, all[i].Valid = d.Subset(part(d, i, true)), d.Subset(part(d, i, false))
		all[i].Test = all[i].Valid
	}
	var grid []string
	for i := range 10 {
		grid = append(grid, fmt.Sprintf("1e%d", i-5))
	}
	c := Config{Folds: all, Entries: []Entry{entry(t, "mle", map[string][]string{"C": grid})}, Seed: 4, Halving: true, KeepModels: true}
	row := run(t, c).Rows[0]
	for k, f := range all {
		value := func(setting int, parts int) float64 {
			own := f
			if parts > 1 {
				own = *c.shareOf(&Fold{Name: row.Folds[k].Fold, Train: f.Train, Valid: f.Valid}, parts, map[string]*dataset.Dataset{})
				if n := len(own.Train.Queries); n != len(f.Train.Queries)/parts {
					t.Fatalf("%d queries are one of %d parts of %d", n, parts, len(f.Train.Queries))
				}
			}
			m, err := row.Entry.Method.Train(context.Background(), &method.Problem{Problem: train.Problem{Data: own.Train, Seed: c.Seed}, Values: row.Entry.Settings[setting].(method.Values)})
			if err != nil {
				t.Fatal(err)
			}
			v, err := (&Config{Select: parse(t, "map")[0]}).validate(m, &f)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		left := make([]int, len(grid))
		for i := range left {
			left[i] = i
		}
		for _, parts := range []int{9, 3} {
			values := make(map[int]float64)
			for _, s := range left {
				values[s] = value(s, parts)
			}
			slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
			left = left[:(len(left)+2)/3]
		}
		best := left[0]
		for s := range grid {
			got := row.Folds[k].Tried[s]
			if slices.Contains(left, s) != !math.IsNaN(got) {
				t.Fatalf("%s: setting %d has the value %v, and left are %v", f.Name, s, got, left)
			}
			if !math.IsNaN(got) && got != value(s, 1) {
				t.Errorf("%s: setting %d has the value %v, expected %v", f.Name, s, got, value(s, 1))
			}
			if slices.Contains(left, s) && got > row.Folds[k].Tried[best] {
				best = s
			}
		}
		if row.Folds[k].Chosen.String() != row.Entry.Settings[best].String() {
			t.Errorf("%s: chose %s, expected setting %d", f.Name, row.Folds[k].Chosen, best)
		}
	}
	c.Budget.Time = 1
	if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "what is dropped would depend on the time") {
		t.Errorf("halving within a time: %v", err)
	}
}

// part returns the queries of the larger or the smaller part of a division that i rotates.
func part(d *dataset.Dataset, i int, larger bool) (queries []int) {
	for q := range d.Queries {
		if (q%3 == i) != larger {
			queries = append(queries, q)
		}
	}
	return queries
}

// Claim: settings drawn at random lie within the grids, numbers anywhere between, whole ones whole; by
// the logarithm half of them are below the geometric mean.
func TestRandomSettings(t *testing.T) {
	m, err := method.Lookup("lambdamart")
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewRandomEntryOf(m, "", map[string][]string{"rate": {"0.01", "1"}, "leaves": {"4", "40"}, "growth": {"leaf", "depth"}, "trees": {"7"}}, 200, 3)
	if err != nil {
		t.Fatal(err)
	}
	below, leafwise := 0, 0
	seen := make(map[string]bool)
	for _, s := range e.Settings {
		rate, leaves := s.Number("rate"), s.Number("leaves")
		if rate < 0.01 || rate > 1 || leaves < 4 || leaves > 40 || leaves != math.Round(leaves) || s.Text("trees") != "7" {
			t.Fatalf("drew %s", s)
		}
		if rate < 0.1 {
			below++
		}
		if s.Text("growth") == "leaf" {
			leafwise++
		}
		if seen[s.String()] {
			t.Errorf("drew %s twice", s)
		}
		seen[s.String()] = true
	}
	if len(e.Settings) != 200 || below < 75 || below > 125 || leafwise < 75 || leafwise > 125 {
		t.Errorf("of %d settings, %d have a rate below 0.1, and %d grow leaf by leaf", len(e.Settings), below, leafwise)
	}
	again, err := NewRandomEntryOf(m, "", map[string][]string{"growth": {"leaf", "depth"}, "leaves": {"4"}, "query_fraction": {"1"}, "feature_fraction": {"1"}}, 200, 3)
	if err != nil || len(again.Settings) != 2 {
		t.Errorf("of two settings, %d were drawn (%v)", len(again.Settings), err)
	}
}

// Claim: folds of one data set have every query for validation once, the others for training; one fold
// holds every fifth query out.
func TestDivide(t *testing.T) {
	d := data(t, 23)
	for _, folds := range []int{1, 2, 5} {
		divided, err := Divide(d, folds, 9)
		if err != nil || len(divided) != folds {
			t.Fatalf("%d folds: %d (%v)", folds, len(divided), err)
		}
		held := make(map[string]int)
		for _, f := range divided {
			own := make(map[string]bool)
			for i := range f.Valid.Queries {
				own[f.Valid.Queries[i].ID] = true
				held[f.Valid.Queries[i].ID]++
			}
			for i := range f.Train.Queries {
				if own[f.Train.Queries[i].ID] {
					t.Error("a query is for training and validation")
				}
			}
			if f.Tested() || len(f.Train.Queries)+len(f.Valid.Queries) != 23 {
				t.Errorf("%d and %d queries of 23", len(f.Train.Queries), len(f.Valid.Queries))
			}
		}
		if want := map[bool]int{true: 23, false: 4}[folds > 1]; len(held) != want {
			t.Errorf("%d folds hold out %d queries, expected %d", folds, len(held), want)
		}
	}
	divided, err := Divide(d, 5, 9)
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range divided {
		train, valid, err := HoldOut(d, k+1, 5, 9)
		if err != nil || train.Fingerprint() != f.Train.Fingerprint() || valid.Fingerprint() != f.Valid.Fingerprint() {
			t.Errorf("part %d held out gives other data than fold %d (%v)", k+1, k+1, err)
		}
	}
	for _, bad := range [][2]int{{0, 5}, {6, 5}, {1, 1}, {1, 24}} {
		if _, _, err := HoldOut(d, bad[0], bad[1], 9); err == nil {
			t.Errorf("part %d of %d of 23 queries", bad[0], bad[1])
		}
	}
	if _, err := Divide(d, 24, 1); err == nil {
		t.Error("24 parts of 23 queries")
	}
}

// Claim: what validation stopped is as long as it was best, the mean over the models, and the data for
// it are all queries of several folds, but the test data of one.
func TestRefitted(t *testing.T) {
	e := entry(t, "ranknet", map[string][]string{"C": {"7"}})
	words := func(texts ...string) (models []*model.Model) {
		for _, text := range texts {
			models = append(models, &model.Model{Training: model.Training{Refit: text}})
		}
		return models
	}
	v, err := Refitted(e.Method, e.Settings[0].(method.Values), words("epochs=10 keep=last", "epochs=15 keep=last", "epochs=20 keep=last"))
	if err != nil || v.Text("epochs") != strconv.Itoa(15) || v.Text("keep") != "last" || v.Text("C") != "7" {
		t.Errorf("%s (%v)", v, err)
	}
	if v, err = Refitted(e.Method, e.Settings[0].(method.Values), words("", "")); err != nil || v.String() != e.Settings[0].String() {
		t.Errorf("without a word: %s (%v)", v, err)
	}
	all := folds(t)
	if d, err := Whole(all); err != nil || len(d.Queries) != 24 {
		t.Errorf("the whole of three folds: %v", err)
	}
	if d, err := Whole(all[:1]); err != nil || len(d.Queries) != 16 {
		t.Errorf("the whole of one fold with test data: %v", err)
	}
	other := slices.Clone(all)
	other[2].Test = data(t, 30).Subset([]int{25, 26, 27})
	if _, err := Whole(other); err == nil || !strings.Contains(err.Error(), "found 3 queries that Fold1 has not") {
		t.Errorf("folds of other queries: %v", err)
	}
}

// Claim: boosted trees are not trained again without validation data, and the model has the bytes of such a training,
// under every loss.
func TestShorterIsARefit(t *testing.T) {
	c := Config{Folds: folds(t)[:1], Select: measure.MustParse("ndcg@10", measure.LETOR3), Seed: 4}
	for _, m := range method.List() {
		if slices.Contains(m.Scorers(), "trees") {
			e, err := NewEntryOf(m, "trees", map[string][]string{"trees": {"20"}, "patience": {"5"}, "leaves": {"4"}})
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			if m.UsesMeasure {
				e.Measure = measure.MustParse(m.DefaultMeasure, measure.LETOR3)
			}
			own := Variant{Scorer: "trees", Seed: 4}
			e.Own = &own
			c.Entries = append(c.Entries, e)
		}
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	without := 0
	for i := range s.Config().Entries {
		e, f := &s.Config().Entries[i], &s.Config().Folds[0]
		v := e.Settings[0].(method.Values)
		trained, err := s.Train(t.Context(), i, 0, v)
		if err != nil {
			t.Fatal(err)
		}
		set := v.Map()
		set["trees"] = "3"
		if v, err = e.Method.Values(set); err != nil {
			t.Fatal(err)
		}
		got := trained.Shorter(v)
		if got == nil {
			without++
			t.Logf("%s: must be trained again", e.Name)
			continue
		}
		want, err := s.Refit(t.Context(), i, f.Name, f.Train, v)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := modelText(t, got), modelText(t, want); a != b {
			t.Errorf("%s: the shorter model is not that of a training", e.Name)
		}
		set["rate"] = "0.5"
		if v, err = e.Method.Values(set); err != nil {
			t.Fatal(err)
		}
		if trained.Shorter(v) != nil {
			t.Errorf("%s: got a model of another setting", e.Name)
		}
	}
	if without > 1 { // classification has trees for every class
		t.Errorf("%d of %d methods must be trained again", without, len(c.Entries))
	}
}

func modelText(t *testing.T, m *model.Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
