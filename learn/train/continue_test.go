package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

func run(t *testing.T, p *Problem) *model.Model {
	t.Helper()
	m, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Claim: a training that continues another of the same seed is the same as one that was never
// ended: what is drawn, the trees and their values, bit for bit, and what is validated.
func TestContinuedIsUninterrupted(t *testing.T) {
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	d, valid := curved(t, 15, 1), curved(t, 15, 2)
	var values []float64
	training := func(rounds int, valid *dataset.Dataset, initial *model.Model) *model.Model {
		values = nil
		return run(t, &Problem{
			Data: d, Valid: valid, Loss: loss.LambdaRank{Measure: ndcg}, Measure: ndcg, Learner: Trees{Rounds: rounds, QueryFraction: 0.7, FeatureFraction: 0.7, Options: fewLeaves}, Seed: 5, Initial: initial,
			Observe: func(it Iteration) { values = append(values, it.Validation) },
		})
	}
	first := training(3, nil, nil)
	whole, both := training(20, nil, nil), training(17, nil, first)
	if !slices.Equal(both.Params, whole.Params) || both.Training.Objective != whole.Training.Objective {
		t.Errorf("%d trees added to 3 are not those of 20 rounds", both.Training.Iterations)
	}
	if origin := both.Training.Continued; origin == nil || *origin != (model.Origin{Fingerprint: d.Fingerprint(), Seed: 5, Iterations: 3, Parameters: len(first.Params)}) {
		t.Errorf("the model continues %+v", origin)
	}
	if whole.Training.Continued != nil {
		t.Error("a training of its own continues something")
	}
	training(20, valid, nil)
	want := values
	kept := training(17, valid, first)
	if best := slices.Max(want[2:]); !slices.Equal(values, want[3:]) || *kept.Training.Validation != best { // the first model's is want[2]
		t.Errorf("validated at %v, without an end at %v; the best is %v, want %v", values, want[3:], *kept.Training.Validation, best)
	}
}

// Claim: a model may be continued by other losses, on other data and by every kind of sum; the
// trees that it begins with keep their values, and the model knows the queries of both. By the
// validation data the result is never worse than what it began with, to which nothing is added
// if nothing is better.
func TestContinuedOnOtherData(t *testing.T) {
	ndcg := measure.MustParse("ndcg", measure.LETOR3)
	old, fresh, valid := curved(t, 10, 1), curved(t, 10, 3), curved(t, 10, 7)
	better, all := 0, 0
	for _, mart := range []Trees{{Rounds: 1, Options: tree.Options{Leaves: 2}}, {Rounds: 4, Options: fewLeaves}} {
		first := run(t, &Problem{Data: old, Loss: loss.SquaredError{}, Learner: mart, Method: "mart"})
		scores, err := first.Score(valid)
		if err != nil {
			t.Fatal(err)
		}
		ranker := measure.Ranker{Ties: measure.TiesAverage}
		before, _ := ranker.Mean(valid, scores, measure.For(ndcg, valid))
		for name, learner := range sums() {
			learner.Rounds, learner.Options = 6, fewLeaves
			p := &Problem{Data: fresh, Valid: valid, Loss: loss.XENDCG{}, Learner: learner, Seed: 5, Initial: first, Select: ndcg}
			m := run(t, p)
			n := len(first.Params)
			if !slices.Equal(m.Params[:n], first.Params) {
				t.Errorf("%s: the values of the first trees are others", name)
			}
			added := len(m.Params) > n
			if added != (m.Training.BestEpoch > 0) || added == strings.Contains(m.Training.Status, "none is better") || *m.Training.Validation < before {
				t.Errorf("%s: %d leaves more, kept round %d of the value %v, %v before: %s", name, len(m.Params)-n, m.Training.BestEpoch, *m.Training.Validation, before, m.Training.Status)
			}
			if all++; added {
				better++
			}
			for _, d := range []*dataset.Dataset{old, fresh} {
				if common, known := m.Training.Seen.Common(d, nil); common != 10 || known != 10 {
					t.Errorf("%s: %d of %d queries were seen", name, common, known)
				}
			}
			if m.Training.Continued.Method != "mart" {
				t.Errorf("%s: continues %+v", name, m.Training.Continued)
			}
			resumes(t, p, 1, 4)
		}
	}
	if better == 0 || better == all {
		t.Errorf("%d of %d models became better, expected some and not all", better, all)
	}
}

// Claim: what cannot be continued is refused, with the reason, and so is a checkpoint of a
// training that began with another model.
func TestContinuedRefuses(t *testing.T) {
	d := curved(t, 10, 1)
	trees := func(d *dataset.Dataset, change func(m *model.Model)) *model.Model {
		m := run(t, &Problem{Data: d, Loss: loss.SquaredError{}, Learner: Trees{Rounds: 2, Options: fewLeaves}})
		change(m)
		return m
	}
	learner := Trees{Rounds: 14, Options: fewLeaves}
	for want, p := range map[string]Problem{
		"always begins anew":              {Learner: LBFGS{C: 1}, Initial: trees(d, func(*model.Model) {})},
		"without a scorer":                {Learner: learner, Initial: &model.Model{}},
		"the scorer linear, expected":     {Learner: learner, Initial: &model.Model{Scorer: scorer.Linear{Features: 6}, Params: make([]float64, 6)}},
		"found one of 4 features":         {Learner: learner, Initial: trees(d.KeepFeatures([]int{0, 1, 2, 3}), func(*model.Model) {})},
		"features other than the model's": {Learner: learner, Initial: trees(d, func(m *model.Model) { m.FeatureNames = []string{"a", "b", "c", "d", "e", "f"} })},
		"the normalization minmax":        {Learner: learner, Initial: trees(d, func(m *model.Model) { m.Normalization = dataset.MinMax })},
		"missing values are min":          {Learner: learner, Initial: trees(d, func(m *model.Model) { m.Missing = dataset.MissingMin })},
	} {
		p.Data, p.Loss = d.Clone(), loss.RankNet{}
		if want == "features other than the model's" {
			p.Data.FeatureNames = []string{"a", "b", "c", "d", "e", "g"}
		}
		_, err := Run(context.Background(), &p)
		var problem *ProblemError
		if !errors.As(err, &problem) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	p := &Problem{Data: d, Loss: loss.RankNet{}, Learner: learner, Initial: trees(d, func(*model.Model) {})}
	path := interrupted(t, p, 0, 12)
	other := *p
	other.Initial = trees(d, func(m *model.Model) { m.Params[0]++ })
	refuses(t, path)("(initial=", other)
}

// Claim: refitted trees have, one after the other, the values that a Newton step gives at the
// scores of those before it, mixed with the old ones; leaves without documents keep theirs.
func TestRefitByDefinition(t *testing.T) {
	old, fresh := curved(t, 15, 1), curved(t, 3, 3)
	first := run(t, &Problem{Data: old, Loss: loss.XENDCG{}, Seed: 5, Learner: Trees{Rounds: 8, Options: fewLeaves}})
	const decay, rate = 0.25, 0.5
	m := run(t, &Problem{Data: fresh, Valid: old, Loss: loss.XENDCG{}, Seed: 1, Initial: first, Learner: Trees{Refit: true, Decay: decay, Rate: rate, Options: fewLeaves}})
	f, _ := plain(t, fresh, loss.XENDCG{}, fewLeaves)
	n := fresh.Docs()
	scores, lambda, second := make([]float64, n), make([]float64, n), make([]float64, n)
	at, empty := 0, 0
	for k, nodes := range m.Scorer.(*scorer.Trees).Trees() {
		f.EvalSecond(scores, lambda, second)
		one, err := scorer.NewTrees(fresh.Features, [][]scorer.TreeNode{nodes})
		if err != nil {
			t.Fatal(err)
		}
		g, h, docs := make([]float64, len(nodes)+1), make([]float64, len(nodes)+1), make([]float64, len(nodes)+1)
		one.Backward(g, nil, fresh.X(), lambda, nil)
		one.Backward(h, nil, fresh.X(), second, nil)
		one.Backward(docs, nil, fresh.X(), slices.Repeat([]float64{1}, n), nil)
		for i := range g {
			want := first.Params[at+i]
			if docs[i] == 0 {
				empty++
			} else {
				want = decay*want + (1-decay)*rate*g[i]/h[i]
			}
			if got := m.Params[at+i]; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("tree %d: leaf %d has the value %v, expected %v", k+1, i, got, want)
			}
		}
		values := make([]float64, n)
		one.Score(values, m.Params[at:at+len(g)], fresh.X(), nil)
		for i, v := range values {
			scores[i] += v
		}
		at += len(g)
	}
	if at != len(m.Params) || empty == 0 {
		t.Errorf("%d values of %d, %d leaves without documents", at, len(m.Params), empty)
	}
	if m.Training.Iterations != 8 || m.Training.Validation == nil || m.Training.Continued == nil {
		t.Errorf("training is %+v", m.Training)
	}
}

// Claim: with a decay of 1 a refit changes nothing, nor does one to the data that the trees were
// grown on; without a model there is nothing to refit.
func TestRefitEdges(t *testing.T) {
	d := curved(t, 10, 1)
	p := &Problem{Data: d, Loss: loss.ApproxNDCG{}, Learner: Trees{Rounds: 5, Options: fewLeaves}}
	first := run(t, p)
	q := *p
	q.Initial, q.Learner = first, Trees{Refit: true, Decay: 1, Options: fewLeaves}
	if m := run(t, &q); !slices.Equal(m.Params, first.Params) {
		t.Error("a decay of 1 changes values")
	}
	q.Learner = Trees{Refit: true, Decay: 0.5, Options: fewLeaves}
	if m := run(t, &q); !slices.Equal(m.Params, first.Params) {
		t.Error("a refit to the same data changes values")
	}
	q.Data = curved(t, 10, 2)
	if m := run(t, &q); slices.Equal(m.Params, first.Params) {
		t.Error("a decay of 0.5 changes no values on other data")
	}
	for want, change := range map[string]func(q *Problem){
		"found no model to refit": func(q *Problem) { q.Initial = nil },
		"found the decay 2":       func(q *Problem) { q.Learner = Trees{Refit: true, Decay: 2, Options: fewLeaves} },
	} {
		q := q
		change(&q)
		if _, err := Run(context.Background(), &q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
