package tune

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// blunt is a measure that distinguishes only the worst and the best order from others.
type blunt struct{}

func (blunt) Name() string { return "blunt" }

func (blunt) Value(ranked []float64) (float64, bool) {
	ascending := slices.IsSorted(ranked)
	slices.Reverse(ranked)
	descending := slices.IsSorted(ranked)
	slices.Reverse(ranked)
	switch {
	case descending:
		return 1, true
	case ascending:
		return 0, true
	}
	return 0.5, true
}

func (b blunt) Average(ranked []float64, _ []int) (float64, bool) { return b.Value(ranked) }

// Claim: settings that rank differently but all have the same validation value are not
// chosen from; a single setting, or settings that rank the same, need no choice.
func TestNothingToChooseBy(t *testing.T) {
	c := newConfig(t)
	c.Select = blunt{}
	_, err := Run(context.Background(), c)
	var selection *SelectionError
	if !errors.As(err, &selection) || !strings.Contains(err.Error(), "l2: all 2 settings have the same validation blunt in every fold (0.5 in Fold1) though they rank differently") {
		t.Errorf("error is %v", err)
	}
	c.Entries = []Entry{entry(t, "mle", map[string][]string{"C": {"0.1"}})}
	run(t, c)
	c.Entries = []Entry{entry(t, "mle", map[string][]string{"C": {"0.1"}, "samples": {"7", "8"}})} // which form=factored has no use for
	run(t, c)
}

// Claim: where successive halving dropped the first setting, which then has no value, the error about settings that tie
// names the value of those that are left, and their number.
func TestNothingToChooseByAfterHalving(t *testing.T) {
	c := newConfig(t)
	c.Select = blunt{}
	c.Entries = []Entry{entry(t, "mle", map[string][]string{"C": {"0.1", "1", "1e-9"}})}
	c.Folds = c.Folds[:1]
	fold := &c.Folds[0]
	trained := func(name string) *model.Model {
		e := entry(t, name, map[string][]string{})
		m, err := e.Method.Train(context.Background(), &method.Problem{Problem: train.Problem{Data: fold.Train, Seed: 1, Measure: parse(t, "map")[0]}, Values: e.Settings[0].(method.Values)})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	jobs := []*job{{dropped: true}, {model: trained("mle"), validation: 0.5}, {model: trained("random"), validation: 0.5}}
	err := c.checkChoices(jobs)
	if err == nil || !strings.Contains(err.Error(), "mle: all 2 settings that successive halving left of 3 have the same validation blunt in every fold (0.5 in "+fold.Name+")") {
		t.Errorf("error is %v", err)
	}
}

// Claim: the relevance threshold is that of all folds together, in the result and in
// every model.
func TestThresholdOfAllFolds(t *testing.T) {
	c := newConfig(t)
	for i, g := range c.Folds[2].Test.Grades() {
		if g > 0 {
			c.Folds[2].Test.Grades()[i] = g / 4
		}
	}
	r := run(t, c)
	if r.Threshold != 0.25 {
		t.Errorf("threshold is %v, want 0.25", r.Threshold)
	}
	for _, row := range r.Rows {
		for _, f := range row.Folds {
			if f.Model.Threshold != 0.25 || f.Model.Hyperparameters["threshold"] != 0.25 {
				t.Errorf("%s, %s: the model has the threshold %v, its hyperparameter is %v", row.Entry.Name, f.Fold, f.Model.Threshold, f.Model.Hyperparameters["threshold"])
			}
		}
	}
	c = newConfig(t)
	c.Convention = measure.Convention{}.WithThreshold(2)
	c.Select = measure.Under(c.Select, c.Convention)
	if r := run(t, c); r.Threshold != 2 {
		t.Errorf("threshold is %v, want the 2 that was chosen", r.Threshold)
	}
}
