package method

import (
	"context"
	"reflect"
	"strings"
	"testing"

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
