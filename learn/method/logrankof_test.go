package method

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

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
