package method

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/model"
)

// coarse returns a change of data of eight features that gives one of them a few values of many documents.
func coarse(feature int, levels float64) func(x []float32) {
	return func(x []float32) {
		for i := feature - 1; i < len(x); i += 8 {
			x[i] = float32(math.Round(levels * float64(x[i])))
		}
	}
}

// Claim: a continued training and a refit keep the model's constraints on features by default.
// Settings may add to them. A setting that contradicts them is an error.
func TestConstraintsOfContinuedModels(t *testing.T) {
	m := lookup(t, "lambdamart")
	few := []string{"trees", "6", "leaf_documents", "2"}
	p := newProblem(t, m, append(few, "monotone", "2:-7", "categorical", "5", "interactions", "1:2:5/7:8")...)
	p.Data.Change(coarse(5, 4))
	first := mustTrain(t, m, p)
	names := []string{"monotone", "categorical", "interactions"}
	for _, c := range []struct {
		settings []string
		want     [3]string // values of names
		refused  string
	}{
		{nil, [3]string{"2:-7", "5", "1:2:5/7:8"}, ""},
		{[]string{"monotone", "2:3:-7"}, [3]string{"2:3:-7", "5", "1:2:5/7:8"}, ""},
		{[]string{"categorical", "1:5"}, [3]string{"2:-7", "1:5", "1:2:5/7:8"}, ""},
		{[]string{"interactions", "1:2/7"}, [3]string{"2:-7", "5", "1:2/7"}, ""},
		{[]string{"monotone", "2:7"}, [3]string{}, "found one of monotone=2:-7, expected monotone=2:7 not to contradict it"},
		{[]string{"monotone", "2"}, [3]string{}, "found one of monotone=2:-7, expected monotone=2 not to contradict it"},
		{[]string{"monotone", "none"}, [3]string{}, "found one of monotone=2:-7, expected monotone=none not to contradict it"},
		{[]string{"categorical", "4"}, [3]string{}, "found one of categorical=5, expected categorical=4 not to contradict it"},
		{[]string{"categorical", "none"}, [3]string{}, "found one of categorical=5"},
		{[]string{"interactions", "1:2:5:7:8"}, [3]string{}, "found one of interactions=1:2:5/7:8"},
		{[]string{"interactions", "1:7"}, [3]string{}, "found one of interactions=1:2:5/7:8"},
		{[]string{"interactions", "none"}, [3]string{}, "found one of interactions=1:2:5/7:8"},
	} {
		p := newProblem(t, m, append(few, c.settings...)...)
		p.Initial = first
		trained, err := m.Train(context.Background(), p)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%v: error is %v, want %s", c.settings, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.settings, err)
			continue
		}
		for i, name := range names {
			if got := trained.Hyperparameters[name]; got != c.want[i] {
				t.Errorf("%v: %s is %v, want %s", c.settings, name, got, c.want[i])
			}
		}
	}
	p = newProblem(t, m)
	p.Initial, p.Refit, p.Decay = first, true, 0.5
	refitted := mustTrain(t, m, p)
	for i, name := range names {
		if want := []string{"2:-7", "5", "1:2:5/7:8"}[i]; refitted.Hyperparameters[name] != want {
			t.Errorf("refit: %s is %v, want %s", name, refitted.Hyperparameters[name], want)
		}
	}

	// A model of another system has no settings: its trees say what is categorical.
	foreign := *first
	foreign.Hyperparameters = nil
	if v, err := newProblem(t, m).Values.keeping(&foreign); err != nil || v.Text("categorical") != "5" || v.Text("monotone") != "none" {
		t.Errorf("without settings: %v, %v", v, err)
	}
	if v, err := newProblem(t, m).Values.keeping(&model.Model{}); err != nil || v.Text("categorical") != "none" {
		t.Errorf("without anything: %v, %v", v, err)
	}
}

// Claim: no method warns of data that it learns from.
func TestNoMethodWarns(t *testing.T) {
	for _, m := range List() {
		for _, kind := range m.Scorers() {
			p := quick(t, m, kind)
			p.Warn = func(sentence string) { t.Errorf("%s, %s: %s", m.Name, kind, sentence) }
			mustTrain(t, m, p)
		}
	}
}
