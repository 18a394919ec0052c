package train

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// Without a penalty to speak of, the probabilities add up to the number of documents of
// each grade: the biases' derivatives vanish at the minimum.
func TestClassificationCountsGrades(t *testing.T) {
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant = 20, 30, 3, 10
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	levels, level := d.Levels()
	for _, ordinal := range []bool{false, true} {
		m, err := Run(context.Background(), &Problem{Data: d, Learner: Classification{Ordinal: ordinal, C: 1e7, Tolerance: 1e-12, Iterations: 5000}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, ok := m.Scorer.(scorer.Classes)
		if !ok {
			t.Fatalf("the scorer is %T", m.Scorer)
		}
		p := make([]float64, s.Functions()*d.Docs())
		s.Apply(p, m.Params, d.X())
		s.Probabilities(p)
		for k := range s.Functions() {
			var expected, actual float64
			for i, class := range level {
				expected += p[k*d.Docs()+i]
				if class == k && !ordinal || class > k && ordinal {
					actual++
				}
			}
			if math.Abs(expected-actual) > 0.01 {
				t.Errorf("ordinal %t, grade %v: %v documents expected, there are %v", ordinal, levels[k], expected, actual)
			}
		}
		if m.Training.Gap == nil {
			t.Error("no certified gap")
		}
	}
}

// Claim: classification on trees is one boosting for each grade but the lowest: each function is
// what Trees learn under the logistic loss of that grade alone, the objective is the sum of
// theirs, and the score the expected grade.
func TestTreeClassificationIsBoostingByGrade(t *testing.T) {
	d := curved(t, 20, 11)
	growth := Trees{Rounds: 12, Rate: 0.2, Options: tree.Options{Leaves: 6, LeafDocuments: 5, LeafCurvature: 1e-3}}
	m, err := Run(context.Background(), &Problem{Data: d, Learner: TreeClassification{Trees: growth, Mapping: loss.QuadraticMapping}})
	if err != nil {
		t.Fatal(err)
	}
	classes := m.Scorer.(*scorer.TreeClasses)
	if !slices.Equal(classes.Values(), []float64{0, 1, 4}) {
		t.Fatalf("the values of classes are %v", classes.Values())
	}
	want, objective := make([]float64, d.Docs()), 0.0
	for k, from := 0, 0; k < 2; k++ {
		p := &Problem{Data: d, Loss: loss.AtLeast{Grade: float64(k + 1)}, Learner: growth}
		one, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		objective += one.Training.Objective
		if to := from + len(one.Params); !slices.Equal(m.Params[from:to], one.Params) {
			t.Errorf("the leaves of function %d are others than those of a boosting of its own", k+1)
		} else {
			from = to
		}
		u, err := one.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range u {
			want[i] += float64(1+2*k) / (1 + math.Exp(-v))
		}
	}
	if math.Abs(m.Training.Objective-objective) > 1e-9*objective {
		t.Errorf("the objective is %v, that of the functions %v", m.Training.Objective, objective)
	}
	got, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("document %d scores %v, want %v", i, got[i], want[i])
		}
	}
}

// Claim: it learns a curve, stops early by the validation data, whose value is that of the
// model, and goes on after an interruption to the same model, with queries drawn too.
func TestTreeClassificationStopsAndGoesOn(t *testing.T) {
	d, valid := curved(t, 30, 12), curved(t, 30, 13)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	growth := Trees{Rounds: 300, Patience: 20, Rate: 0.2, QueryFraction: 0.7, Options: tree.Options{Leaves: 6, LeafDocuments: 5, LeafCurvature: 1e-3}}
	problem := func() *Problem {
		return &Problem{Data: d, Valid: valid, Select: ndcg, Learner: TreeClassification{Trees: growth}, Seed: 4}
	}
	p := problem()
	best := math.Inf(-1)
	p.Observe = func(it Iteration) { best = max(best, it.Validation) }
	m, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if v := *m.Training.Validation; math.Abs(v-best) > 1e-12 || v < 0.85 {
		t.Errorf("the model's NDCG@10 on the validation data is %v, the best round's %v", v, best)
	}
	p = problem()
	p.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	ctx, cancel := context.WithCancel(context.Background())
	p.Observe = func(it Iteration) {
		if it.Number == 7 {
			cancel()
		}
	}
	if _, err := Run(ctx, p); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v, want context.Canceled", err)
	}
	p.Observe = nil
	again, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Params, m.Params) {
		t.Error("resumed, the model is another one")
	}
}

// Claim: the function of a grade that is rare grows no further when its curvature is used up, and
// the others do; data of one grade are refused.
func TestTreeClassificationOfRareGrades(t *testing.T) {
	d := curved(t, 10, 14)
	d.Queries[0].Grades[0] = 9
	learner := TreeClassification{Trees: Trees{Rounds: 40, Rate: 0.5, Options: tree.Options{Leaves: 4, LeafDocuments: 20, LeafCurvature: 3}}}
	m, err := Run(context.Background(), &Problem{Data: d, Learner: learner})
	if err != nil {
		t.Fatal(err)
	}
	var trees []int
	for _, f := range m.Scorer.(*scorer.TreeClasses).Functions() {
		trees = append(trees, len(f.Trees()))
	}
	if len(trees) != 3 || trees[0] <= trees[2] || trees[1] <= trees[2] || trees[2] > 30 {
		t.Errorf("the functions have %v trees", trees)
	}
	for i := range d.Grades() {
		d.Grades()[i] = 1
	}
	var bad *ProblemError
	if _, err := Run(context.Background(), &Problem{Data: d, Learner: learner}); !errors.As(err, &bad) {
		t.Errorf("one grade: error is %v, want a *ProblemError", err)
	}
}
