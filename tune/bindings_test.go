package tune

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// drawn is a loss that counts how often it is bound.
type drawn struct {
	loss.XENDCG
	binds *atomic.Int64
}

func (d drawn) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	d.binds.Add(1)
	return d.XENDCG.Bind(grades, rng)
}

// Claim: settings that differ in the penalty alone draw once a fold.
func TestDrawsOnce(t *testing.T) {
	var binds atomic.Int64
	c := newConfig(t)
	queries := 0
	for _, f := range c.Folds {
		queries += len(f.Train.Queries)
	}
	settings := []penalty{{0.1}, {1}, {10}}
	c.Entries = []Entry{OwnOf("drawn", settings, func(s penalty) (loss.Loss, train.Learner, error) {
		return drawn{binds: &binds}, train.LBFGS{C: s.C, Iterations: 5}, nil
	})}
	run(t, c)
	checks := len(settings) * len(c.Folds) // of the gradient, on one query
	if n := int(binds.Load()); n != queries+checks {
		t.Errorf("the loss was bound %d times, expected once for each of %d queries and %d checks", n, queries, checks)
	}
}

// Claim: what trainings share changes no bit of a model: each is that of a run with its setting
// alone.
func TestSharedDrawsAreTheirOwn(t *testing.T) {
	sampled := map[string][]string{"form": {"sampled"}, "samples": {"50"}, "C": {"0.1", "10"}, "steps": {"5", "10"}}
	c := newConfig(t)
	c.Entries = []Entry{
		entry(t, "convexloss", sampled),
		entry(t, "mle", sampled),
		entry(t, "l3", map[string][]string{"samples": {"50"}, "C": {"0.1", "10"}, "restarts": {"1"}, "beta": {"1", "2"}}),
		entry(t, "boltzrank1", map[string][]string{"samples": {"10"}, "C": {"0.1", "10"}}),
		entry(t, "svmmap", map[string][]string{"C": {"0.1", "10"}}),
		entry(t, "ranksvm", map[string][]string{"C": {"0.1", "10"}}),
		entry(t, "lambdarank", map[string][]string{"C": {"0.1", "10"}, "epochs": {"3"}}),
	}
	c.KeepModels, c.Jobs = true, 4
	together := run(t, c)
	for i, e := range c.Entries {
		for k, setting := range e.Settings {
			alone := c
			alone.Entries = []Entry{e}
			alone.Entries[0].Settings = []Setting{setting}
			row := run(t, alone).Rows[0]
			for f := range row.Folds {
				got, want := together.Rows[i].Folds[f].Models[k], row.Folds[f].Model
				if !slices.Equal(got.Params, want.Params) {
					t.Errorf("%s, %s: parameters are not those of the training alone", e.Name, setting)
				}
			}
		}
	}
}
