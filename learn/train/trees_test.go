package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// curved returns queries whose grades depend on how near a feature is to 0, which no linear
// function sees, beside others that say nothing.
func curved(t testing.TB, queries int, seed uint64) *dataset.Dataset {
	t.Helper()
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant, o.Seed = queries, 25, 6, 8, seed
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		for k := range q.Len() {
			row := q.Row(k)
			row[3] = row[3]*2 - 1
			q.Grades[k] = math.Floor(2.99 * (1 - math.Abs(float64(row[3]))))
			q.Grades[k] = min(2, max(0, q.Grades[k]))
		}
	}
	return d
}

func trained(t *testing.T, p *Problem) (scores []float64, trees *scorer.Trees) {
	t.Helper()
	m, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if scores, err = m.Score(p.Data); err != nil {
		t.Fatal(err)
	}
	return scores, m.Scorer.(*scorer.Trees)
}

// Least squares go down with every tree, and the scores of the model are those that were
// boosted: the objective is that of the scores.
func TestTreesDescend(t *testing.T) {
	d := curved(t, 20, 1)
	for _, l := range []loss.Loss{loss.SquaredError{}, loss.RankNet{}, loss.ListNet{}, loss.XENDCG{}} {
		var objectives []float64
		learner := Trees{Rounds: 30, Rate: 0.05, Options: tree.Options{Leaves: 6, L2: 1e-3}}
		p := &Problem{Data: d, Loss: l, Learner: learner, Seed: 2, Observe: func(it Iteration) { objectives = append(objectives, it.Objective) }}
		scores, trees := trained(t, p)
		if len(objectives) != 30 || len(trees.Trees()) != 30 {
			t.Fatalf("%T: %d rounds, %d trees", l, len(objectives), len(trees.Trees()))
		}
		for i, v := range objectives[1:] {
			if v >= objectives[i] {
				t.Errorf("%T: the objective goes from %v to %v in round %d", l, objectives[i], v, i+2)
			}
		}
		if _, ok := l.(loss.SquaredError); !ok {
			continue
		}
		var sum float64
		for i, g := range d.Grades() {
			sum += (scores[i] - g) * (scores[i] - g) / 2
		}
		if last := objectives[29]; math.Abs(sum-last) > 1e-9*last {
			t.Errorf("the objective is %v, that of the model's scores %v", last, sum)
		}
	}
}

// LambdaMART learns what no linear function can. (The perfect ranking has .92: some queries have
// no relevant documents.)
func TestLambdaMARTLearnsACurve(t *testing.T) {
	d, test := curved(t, 60, 1), curved(t, 60, 2)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	of := func(learner Learner, l loss.Loss) float64 {
		m, err := Run(context.Background(), &Problem{Data: d, Loss: l, Learner: learner, Measure: ndcg, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Score(test)
		if err != nil {
			t.Fatal(err)
		}
		result, err := measure.Evaluate(test, scores, []measure.Measure{ndcg}, measure.TiesAverage)
		if err != nil {
			t.Fatal(err)
		}
		return result.Mean(ndcg)
	}
	trees := of(Trees{Rounds: 50, Options: tree.Options{Leaves: 8, LeafDocuments: 10, LeafCurvature: 1e-3}}, loss.LambdaRank{Measure: ndcg})
	linear := of(LBFGS{C: 1}, loss.RankNet{})
	if trees < 0.9 || trees < linear+0.2 {
		t.Errorf("NDCG@10 is %.4f with trees, %.4f with a linear function", trees, linear)
	}
}

// Same problem, same bits, for any number of workers, where queries and features are drawn,
// too; another seed draws others.
func TestTreesAreDeterministic(t *testing.T) {
	d := curved(t, 40, 3)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	half := Trees{QueryFraction: 0.5, FeatureFraction: 0.5, Options: tree.Options{Leaves: 8, LeafCurvature: 1e-3}}
	run := func(learner Trees, workers int, seed uint64) []float64 {
		learner.Rounds = 10
		scores, _ := trained(t, &Problem{Data: d, Loss: loss.LambdaRank{Measure: ndcg}, Measure: ndcg, Learner: learner, Seed: seed, Workers: workers})
		return scores
	}
	documents, goss, random := half, half, half
	documents.DocumentFraction = 0.7
	goss.GOSSTop, goss.GOSSRest = 0.2, 0.3
	random.QueryFraction, random.FeatureFraction, random.RandomThresholds = 0, 0, true
	exact := half
	exact.Exact, exact.RandomThresholds = true, true
	for _, l := range []Trees{half, documents, goss, random, exact} {
		first := run(l, 1, 1)
		for _, workers := range []int{2, 8} {
			if !slices.Equal(first, run(l, workers, 1)) {
				t.Errorf("%+v: %d workers learn another model", l, workers)
			}
		}
		if slices.Equal(first, run(l, 1, 2)) {
			t.Errorf("%+v: another seed learns the same model", l)
		}
	}
}

// Training ends once the validation data have seen no better round for long, and keeps the
// best; a model of that many rounds without validation data is the same.
func TestTreesStopEarly(t *testing.T) {
	d, valid := curved(t, 20, 4), curved(t, 20, 5)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	learner := Trees{Rounds: 400, Rate: 0.3, Patience: 15, Options: tree.Options{Leaves: 15, LeafCurvature: 1e-3}}
	best, round, values := math.Inf(-1), 0, 0
	p := &Problem{Data: d, Valid: valid, Loss: loss.LambdaRank{Measure: ndcg}, Measure: ndcg, Learner: learner, Seed: 1, Observe: func(it Iteration) {
		values++
		if it.Validation > best {
			best, round = it.Validation, it.Number
		}
	}}
	kept, trees := trained(t, p)
	if values != round+15 || len(trees.Trees()) != round {
		t.Fatalf("%d rounds were made and %d kept, the best was %d", values, len(trees.Trees()), round)
	}
	learner.Rounds, learner.Patience = round, 0
	again, _ := trained(t, &Problem{Data: d, Loss: p.Loss, Measure: ndcg, Learner: learner, Seed: 1})
	if !slices.Equal(kept, again) {
		t.Error("as many rounds without validation data are another model")
	}
}

// Fractions out of range and missing losses are refused.
func TestTreesRefuse(t *testing.T) {
	d := curved(t, 5, 6)
	leaves := tree.Options{Leaves: 4}
	for name, p := range map[string]Problem{
		"no loss":           {Learner: Trees{Options: leaves}},
		"leaves":            {Loss: loss.RankNet{}, Learner: Trees{Options: tree.Options{Leaves: 1}}},
		"bins":              {Loss: loss.RankNet{}, Learner: Trees{Bins: 256, Options: leaves}},
		"rate":              {Loss: loss.RankNet{}, Learner: Trees{Rate: 2, Options: leaves}},
		"query fraction":    {Loss: loss.RankNet{}, Learner: Trees{QueryFraction: -1, Options: leaves}},
		"feature fraction":  {Loss: loss.RankNet{}, Learner: Trees{FeatureFraction: math.NaN(), Options: leaves}},
		"document fraction": {Loss: loss.RankNet{}, Learner: Trees{DocumentFraction: 1.1, Options: leaves}},
		"top documents":     {Loss: loss.RankNet{}, Learner: Trees{GOSSTop: 0.6, GOSSRest: 0.5, Options: leaves}},
		"two samplings":     {Loss: loss.RankNet{}, Learner: Trees{GOSSTop: 0.2, GOSSRest: 0.1, DocumentFraction: 0.5, Options: leaves}},
		"patience":          {Loss: loss.RankNet{}, Learner: Trees{Patience: -1, Options: leaves}},
	} {
		p.Data = d
		if _, err := Run(context.Background(), &p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Claim: where no tree can be grown, the objective told is that of the scores 0.
func TestObjectiveWithoutTrees(t *testing.T) {
	d := curved(t, 10, 1)
	m := run(t, &Problem{Data: d, Loss: loss.SquaredError{}, Learner: Trees{Rounds: 3, Options: tree.Options{Leaves: 4, LeafDocuments: d.Docs()}}})
	f, err := objective.NewFunctional(d, loss.SquaredError{}, 0, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := f.Eval(make([]float64, d.Docs()), nil)
	if len(m.Params) != 0 || m.Training.Iterations != 0 || m.Training.Objective != want || want == 0 {
		t.Errorf("%d leaves, %d rounds, the objective %v, want %v", len(m.Params), m.Training.Iterations, m.Training.Objective, want)
	}
}
