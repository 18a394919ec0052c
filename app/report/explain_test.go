package report

import (
	"math"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// Claim: for a linear scorer a contribution is w_f·(x_f − mean), of normalized
// features, and those of a document add up to its score minus the mean score.
func TestLinearContributions(t *testing.T) {
	d := generated(t, 5, 20, 6, 3)
	for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.ZScore} {
		m := &model.Model{Scorer: scorer.Linear{Features: 8}, Params: []float64{1, -2, 0, 3, 0.5, -1, 7, 7}, Normalization: n}
		scores, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		e := newExplainer(m, d)
		if e == nil {
			t.Fatal("a linear scorer is not explained")
		}
		normalized := dataset.Normalize(d, n)
		for i := range d.Queries {
			q := &normalized.Queries[i]
			if err := e.query(&d.Queries[i]); err != nil {
				t.Fatal(err)
			}
			mean := 0.0
			for j := range q.Len() {
				mean += scores[q.Start+j] / float64(q.Len())
			}
			for j := range q.Len() {
				sum := 0.0
				for _, c := range e.document(j) {
					average := 0.0
					for k := range q.Len() {
						average += float64(q.Row(k)[c.feature]) / float64(q.Len())
					}
					if want := m.Params[c.feature] * (float64(q.Row(j)[c.feature]) - average); math.Abs(c.value-want) > 1e-5 {
						t.Errorf("%v: feature %d contributes %v, want %v", n, c.feature, c.value, want)
					}
					sum += c.value
				}
				if want := scores[q.Start+j] - mean; math.Abs(sum-want) > 1e-5 {
					t.Errorf("%v: contributions add up to %v, want %v", n, sum, want)
				}
			}
		}
	}
}

// Claim: of trees, stumps and networks, too, and of sums of them, a document's contributions add up
// to its score minus the query's mean score.
func TestContributionsOfAllKinds(t *testing.T) {
	d := generated(t, 5, 20, 4, 3)
	trees, err := scorer.NewTrees(4, [][]scorer.TreeNode{{{Feature: 1, Threshold: 0.4, Left: -1, Right: 1}, {Feature: 3, Threshold: 0.5, Left: -2, Right: -3}}})
	if err != nil {
		t.Fatal(err)
	}
	stumps, err := scorer.NewStumps(4, []scorer.Stump{{Feature: 0, Threshold: 0.3}, {Feature: 2, Threshold: 0.6}})
	if err != nil {
		t.Fatal(err)
	}
	models := []*model.Model{
		{Scorer: trees, Params: []float64{1, -2, 3}}, {Scorer: stumps, Params: []float64{0.5, 2}, Normalization: dataset.MinMax},
		{Scorer: scorer.Network{Features: 4, Hidden: 1}, Params: []float64{1, -1, 2, 0.5, 0.1, 3}},
	}
	sum, err := model.NewFused(fuse.Rule{Kind: fuse.CombSUM}, models, []float64{0.5, 0.3, 0.2})
	if err != nil {
		t.Fatal(err)
	}
	for k, m := range append(models, sum) {
		scores, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		e := newExplainer(m, d)
		for i := range d.Queries {
			q := &d.Queries[i]
			if err := e.query(q); err != nil {
				t.Fatal(err)
			}
			mean := 0.0
			for j := range q.Len() {
				mean += scores[q.Start+j] / float64(q.Len())
			}
			for j := range q.Len() {
				total := 0.0
				for _, c := range e.document(j) {
					total += c.value
				}
				if want := scores[q.Start+j] - mean; math.Abs(total-want) > 1e-9 || math.Abs(e.score-mean) > 1e-9 {
					t.Fatalf("model %d: contributions add up to %v, want %v", k, total, want)
				}
			}
		}
	}
}

// Claim: scorers that look at a query's other documents, or at nothing that was
// learned, are not explained; networks are.
func TestWhoIsExplained(t *testing.T) {
	d := generated(t, 5, 20, 4, 3)
	linear := &model.Model{Scorer: scorer.Linear{Features: 4}, Params: []float64{1, 2, 3, 4}}
	fusion, err := model.NewFused(fuse.Rule{Kind: fuse.Borda}, []*model.Model{linear, linear}, []float64{0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	net := scorer.Network{Features: 4, Hidden: 2}
	pair := scorer.PairNetwork{Features: 4, Hidden: 2, PairHidden: 2}
	with := func(s scorer.Scorer) *model.Model {
		params := make([]float64, s.NumParams())
		for i := range params {
			params[i] = math.Sin(float64(i))
		}
		return &model.Model{Scorer: s, Params: params}
	}
	for _, c := range []struct {
		name string
		m    *model.Model
		want bool
	}{
		{"none", nil, false}, {"linear", linear, true}, {"net", with(net), true}, {"pairnet", with(pair), false},
		{"random", &model.Model{Scorer: scorer.Random{Features: 4}}, false}, {"fusion", fusion, false},
		{"narrow", &model.Model{Scorer: scorer.Linear{Features: 3}, Params: []float64{1, 2, 3}}, false},
	} {
		if got := newExplainer(c.m, d) != nil; got != c.want {
			t.Errorf("%s is explained: %v", c.name, got)
		}
	}
}

// Claim: a feature's share is that of the contributions' magnitudes; shares add up
// to one, weights are the models'.
func TestWeights(t *testing.T) {
	s := small(t)
	r, _ := s.build(t)
	if len(r.data.Weights) != 3 {
		t.Fatalf("%d systems have weights, want the three models", len(r.data.Weights))
	}
	for _, w := range r.data.Weights {
		sum := 0.0
		for i, share := range w.Share {
			sum += share
			if i > 0 && share > w.Share[i-1] {
				t.Errorf("system %d: shares do not descend", w.System)
			}
			if !w.Linear {
				continue
			}
			for k := range s.divisions {
				want := s.divisions[k].Systems[w.System].Model.Params[w.Features[i]-1]
				if math.Abs(w.Weight[i][k]-want) > 0.006*math.Abs(want) {
					t.Errorf("system %d, feature %d: weight %v, want %v", w.System, w.Features[i], w.Weight[i][k], want)
				}
			}
		}
		if math.Abs(sum-1) > 0.01 {
			t.Errorf("system %d: shares add up to %v", w.System, sum)
		}
	}
	if r.data.Weights[2].Linear || !r.data.Weights[0].Linear {
		t.Error("a network is taken for linear, or the other way round")
	}
}
