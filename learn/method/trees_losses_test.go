package method

import (
	"context"
	"fmt"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/learn/tree"
)

// problemOf returns what a method makes of the small data, with its first scorer.
func problemOf(t *testing.T, m *Method) *train.Problem {
	t.Helper()
	problem, err := m.Problem(newProblem(t, m))
	if err != nil {
		t.Fatal(err)
	}
	return problem
}

// Claim: boosted trees take every method's loss. With a small rate the objective falls with
// every tree where λ is its gradient. Where it is not, what a tree improves is said below.
func TestTreesLowerEveryLoss(t *testing.T) {
	seen := 0
	for _, m := range registry {
		p := problemOf(t, m)
		if p.Loss == nil {
			continue
		}
		seen++
		var objectives []float64
		p.Learner = train.Trees{Rounds: 40, Rate: 0.02, Options: tree.Options{Leaves: 6, LeafDocuments: 5, LeafCurvature: 1e-3}}
		p.Observe = func(it Iteration) { objectives = append(objectives, it.Objective) }
		if _, err := train.Run(context.Background(), p); err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		t.Logf("%-12s %d rounds, objective from %.6g to %.6g", m.Name, len(objectives), objectives[0], objectives[len(objectives)-1])
		if len(objectives) != 40 {
			t.Errorf("%s: %d trees, expected 40", m.Name, len(objectives))
		}
		if objectives[len(objectives)-1] >= objectives[0] {
			t.Errorf("%s: the objective goes from %v to %v", m.Name, objectives[0], objectives[len(objectives)-1])
		}
		if p.Loss.Traits().NonGradient {
			continue
		}
		for i, v := range objectives[1:] {
			if v >= objectives[i] {
				t.Errorf("%s: the objective goes from %v to %v with tree %d", m.Name, objectives[i], v, i+2)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d methods with a loss, expected more", seen)
	}
}

// Claim: LambdaMART raises every measure that it is trained for, under every normalisation: the
// objective, 1 less the measure, falls by a third of what it can fall, at least. No two normalisations learn the same.
func TestLambdaMARTRaisesEveryMeasure(t *testing.T) {
	m := lookup(t, "lambdamart")
	for _, name := range []string{"ndcg@10", "ndcg", "map", "mrr", "err", "p@5", "auc"} {
		models := make(map[string]string)
		for _, normalize := range []string{"none", "gap", "sum", "both"} {
			p := newProblem(t, m, "normalize", normalize, "trees", "60", "leaves", "6", "leaf_documents", "5", "top", "5")
			p.Measure = measure.MustParse(name, measure.LETOR3)
			trained := mustTrain(t, m, p)
			untrained, err := objective.NewFunctional(p.Data, loss.LambdaRank{Measure: p.Measure}, 1, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			before, perfect := untrained.Eval(make([]float64, p.Data.Docs()), nil), untrained.Eval(p.Data.Grades(), nil)
			if after := trained.Training.Objective; after > before-(before-perfect)/3 {
				t.Errorf("%s, normalize=%s: Σ 1 − %s goes from %v to %v, perfect is %v", name, normalize, name, before, after, perfect)
			}
			text := fmt.Sprint(trained.Params)
			if other, ok := models[text]; ok {
				t.Errorf("%s: normalize=%s and %s learn the same", name, normalize, other)
			}
			models[text] = normalize
		}
	}
}
