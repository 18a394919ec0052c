package method

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// With one weight alone Combined is that loss: the model of ConvexLoss for its measure, or of
// MLE, for any weight. Its measures follow the convention of the problem. The walks do not go
// by the measure.
func TestCombinedOfOneLoss(t *testing.T) {
	for _, c := range []struct {
		weight, method, measure string
		convention              measure.Convention
	}{
		{"mle", "mle", "map", measure.Standard}, {"auc", "convexloss", "auc", measure.Standard}, {"map", "convexloss", "map", measure.Standard},
		{"ndcg", "convexloss", "ndcg@10", measure.Standard}, {"ndcg", "convexloss", "ndcg@10", measure.LETOR3},
		{"auc", "expgain", "auc", measure.Standard}, {"ndcg", "expgain", "ndcg@10", measure.LETOR3}, {"map", "l2", "map", measure.Standard},
	} {
		settings := []string{"form", "sampled", "samples", "60", "mix", "0.8", "C", "1", "restarts", "1", "iterations", "20"}
		single := newProblem(t, lookup(t, c.method), settings...)
		single.Measure = measure.MustParse(c.measure, c.convention)
		for _, weight := range []string{"1", "4"} {
			own := slices.Concat(settings, []string{"auc", "0", "map", "0", "ndcg", "0", c.weight, weight})
			if c.method != "mle" && c.method != "convexloss" {
				name := map[string]string{"expgain": "expgain", "l2": "expected_loss"}[c.method]
				own = append(own, "convexloss", "0", name, "2")
			}
			combined := newProblem(t, lookup(t, "combined"), own...)
			combined.Select = measure.MustParse("map", c.convention)
			a, b := mustTrain(t, lookup(t, "combined"), combined), mustTrain(t, lookup(t, c.method), single)
			if !slices.Equal(a.Params, b.Params) {
				t.Errorf("%s alone, weight %s, %s: another model than that of %s", c.weight, weight, c.convention.Name(), c.method)
			}
		}
	}
}

// Without any weight there is nothing to learn from.
func TestCombinedOfNothing(t *testing.T) {
	p := newProblem(t, lookup(t, "combined"), "auc", "0", "map", "0", "ndcg", "0")
	var problem *ProblemError
	if _, err := lookup(t, "combined").Train(t.Context(), p); !errors.As(err, &problem) {
		t.Errorf("error %v, expected a *ProblemError", err)
	}
}

// f = identity trains on the logarithm of the expected loss, which is another model than that of
// f = exp, and does not depend on beta.
func TestExpLossOfTheIdentity(t *testing.T) {
	train := func(settings ...string) []float64 {
		p := newProblem(t, lookup(t, "exploss"), append([]string{"form", "shell", "C", "1", "restarts", "0"}, settings...)...)
		p.Measure = measure.MustParse("ndcg@10", measure.Standard)
		return mustTrain(t, lookup(t, "exploss"), p).Params
	}
	identity := train("f", "identity")
	if !slices.Equal(identity, train("f", "identity", "beta", "7")) {
		t.Error("beta changes the model of f = identity")
	}
	if slices.Equal(identity, train("f", "exp")) {
		t.Error("f = identity and f = exp give the same model")
	}
}

// Claim: what LogRankOf reads from a model, fresh or from its file, is what the
// model was trained with; other methods have nothing of the kind.
func TestLogRankOf(t *testing.T) {
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features = 4, 12, 3
	o.Relevant = 4
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	train := func(name string, set map[string]string) (*Method, *Problem, *model.Model) {
		m, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		p := &Problem{Problem: train.Problem{Data: d, Seed: 3}}
		if p.Values, err = m.Values(set); err != nil {
			t.Fatal(err)
		}
		if m.UsesMeasure {
			if p.Measure, err = measure.Parse("ndcg@5", measure.Convention{}, measure.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		trained, err := m.Train(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		return m, p, trained
	}
	_, p, trained := train("convexloss", map[string]string{"samples": "60", "steps": "7", "beta": "2.5", "kappa": "pairs", "levels": "3"})
	p.settle(measure.Convention{}.For(p.Data))
	want, err := logRankConfig(p)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.json")
	if err := trained.Save(file); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, trained := range []*model.Model{trained, loaded} {
		got, ok, err := LogRankOf(trained)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if got.Gain.Name() != want.Gain.Name() {
			t.Errorf("gain is %s, want %s", got.Gain.Name(), want.Gain.Name())
		}
		got.Gain = want.Gain
		same := func(a, b logrank.Options) bool {
			x, errX := json.Marshal(a)
			y, errY := json.Marshal(b)
			return errX == nil && errY == nil && bytes.Equal(x, y)
		}
		if !same(got, want) {
			t.Error(cmp.Diff(want.Sampler, got.Sampler), got.Form, got.Kappa, got.Beta, got.Threshold)
		}
	}
	if _, _, other := train("regression", nil); true {
		if _, ok, err := LogRankOf(other); ok || err != nil {
			t.Errorf("regression: %v, %v", ok, err)
		}
	}
	trained.Hyperparameters["nonsense"] = 1.0
	if _, ok, err := LogRankOf(trained); ok || err == nil {
		t.Error("an unknown hyperparameter is taken")
	}
}
