package method

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// Claim: a problem of data alone, and a training measure where there is one, is learned by
// the defaults of the method; without data, or with another method's hyperparameters, it is
// an error.
func TestZeroProblem(t *testing.T) {
	for _, name := range []string{"mle", "l2", "ranksvm", "rankboost", "regression", "ranknet"} {
		m := lookup(t, name)
		full := newProblem(t, m)
		zero := &Problem{Problem: train.Problem{Data: full.Data, Measure: full.Measure, Seed: full.Seed}}
		got, want := mustTrain(t, m, zero), mustTrain(t, m, full)
		if !reflect.DeepEqual(got.Params, want.Params) || !reflect.DeepEqual(got.Hyperparameters, want.Hyperparameters) {
			t.Errorf("%s: the zero values give %v, the defaults %v", name, got.Hyperparameters, want.Hyperparameters)
		}
		if _, err := m.Train(context.Background(), &Problem{Problem: train.Problem{Measure: full.Measure}}); err == nil || !strings.Contains(err.Error(), "found no training data") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// Claim: the zero values of the learners train what a method of the catalogue trains at its defaults, given its C.
func TestZeroLearnersAreTheCatalogues(t *testing.T) {
	m := lookup(t, "listnet")
	for _, c := range []struct {
		kind    string
		set     map[string]string
		learner train.Learner
	}{
		{"linear", nil, train.LBFGS{C: 1}},
		{"linear", map[string]string{"optimizer": "descent"}, train.Descent{C: 1}},
		{"trees", nil, train.Trees{}},
		{"trees", map[string]string{"boosting": "dart", "trees": "20"}, train.Trees{Sum: train.DARTTrees, Rounds: 20}},
	} {
		of, err := m.For(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		p := newProblem(t, m)
		p.Valid, p.Scorer = p.Data, c.kind
		if p.Values, err = of.Values(c.set); err != nil {
			t.Fatal(err)
		}
		want := mustTrain(t, m, p)
		zero := p.Problem
		zero.Loss, zero.Learner = loss.ListNet{}, c.learner
		got, err := train.Run(context.Background(), &zero)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Params, want.Params) || got.Training.Iterations != want.Training.Iterations {
			t.Errorf("%s %v: %T has other weights than the method", c.kind, c.set, c.learner)
		}
	}
}
