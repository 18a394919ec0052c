package auto

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

// Claim: every refit learns from the parts that its definition names: all of them, or all but one, for every
// member or in turn. Models have the same bytes whether trainings come from the trials or are repeated.
func TestRefitsAgainstTheirDefinition(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector; other tests run the same goroutines")
	}
	d := generated(t, 45)
	file, err := tune.Divide(d, 3, 7)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, refit := range Refits() {
		r := run1(t, Config{Tune: tune.Config{Folds: file, Seed: 7, Dir: dir}, Whole: d, Trials: 14, Refit: refit})
		checkLearned(t, r, &r.Final, d, nil, refit, 3)
		checkMean(t, &r.Final, d)
		if r.Folds[0].Model != nil {
			t.Errorf("%s: folds without test data have a fusion that has seen their validation data", refit)
		}
		one := divided(t, 5)[:1]
		r = run1(t, Config{Tune: tune.Config{Folds: one, Seed: 7}, Trials: 8, Refit: refit})
		whole, err := dataset.Concat(one[0].Train, one[0].Valid)
		if err != nil {
			t.Fatal(err)
		}
		checkLearned(t, r, &r.Final, whole, &one[0], refit, 4)
	}
	if _, err := ParseRefit("twice"); err == nil || !strings.Contains(err.Error(), "expected one of turns, committee, once") {
		t.Errorf("refit twice: %v", err)
	}
}

// checkLearned trains anew what the members of a fusion learned from data in parts, which are those of a fold
// unless it is nil.
func checkLearned(t *testing.T, r *Result, f *Fused, whole *dataset.Dataset, fold *tune.Fold, refit Refit, parts int) {
	t.Helper()
	for i, m := range f.Members {
		if n := map[Refit]int{Once: 1, Turns: 2, Committee: parts}[refit]; len(m.Learned) != n {
			t.Fatalf("%s, %s, %s: %d models, expected %d", refit, f.Name, m.Entry.Name, len(m.Learned), n)
		}
		for j, l := range m.Learned {
			p := &method.Problem{
				Problem: train.Problem{
					Data: whole, Measure: m.Entry.Measure, Views: m.Entry.Own.Views, Seed: m.Entry.Own.Seed,
				},
				Values: l.Setting.(method.Values), Scorer: m.Entry.Own.Scorer,
			}
			turn := (i+j)%parts + 1
			if fold != nil && refit == Turns { // the model of the trial, and one more
				turn = []int{0, i%parts + 1}[j]
			}
			if want := map[Refit]int{Once: 0, Turns: turn, Committee: j + 1}[refit]; l.Part != want || l.Tried != (refit == Turns && want == 0) {
				t.Errorf("%s, %s, %s: held out part %d (tried %v), expected %d", refit, f.Name, m.Entry.Name, l.Part, l.Tried, want)
			}
			if l.Tried {
				p.Data, p.Valid, p.Select = fold.Train, fold.Valid, r.Tune.Select
			}
			if l.Part > 0 {
				var err error
				if p.Data, p.Valid, err = tune.HoldOut(whole, l.Part, parts, r.Tune.Seed); err != nil {
					t.Fatal(err)
				}
				p.Select = r.Tune.Select
			}
			again, err := m.Entry.Method.Train(context.Background(), p)
			if err != nil || !slices.Equal(again.Params, l.Model.Params) {
				t.Errorf("%s, %s, %s: trained anew as another model (%v)", refit, f.Name, m.Entry.Name, err)
			}
		}
	}
}
