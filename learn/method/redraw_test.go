package method

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// Claim: what a loss draws is drawn anew in every epoch if that is asked for, which
// changes the costs; and
// an interrupted training goes on with the same draws. L-BFGS refuses it.
func TestRedraw(t *testing.T) {
	for name, settings := range map[string][]string{"xendcg": nil, "listmle": nil, "l3": {"form", "sampled"}} {
		m := lookup(t, name)
		problem := func(redraw string) *Problem {
			return quick(t, m, "", append([]string{"optimizer", "descent", "epochs", "15", "redraw", redraw}, settings...)...)
		}
		var costs, fresh []float64
		p, q := problem("false"), problem("true")
		p.Observe = func(it Iteration) { costs = append(costs, it.Objective) }
		q.Observe = func(it Iteration) { fresh = append(fresh, it.Objective) }
		mustTrain(t, m, p)
		want := bytesOf(t, mustTrain(t, m, q))
		if costs[0] == fresh[0] || costs[5] == fresh[5] {
			t.Errorf("%s: the same costs with and without redrawing", name)
		}
		path := filepath.Join(t.TempDir(), "checkpoint")
		q = problem("true")
		q.Checkpoint = path
		ctx, cancel := context.WithCancel(context.Background())
		q.Observe = func(it Iteration) {
			if it.Number == 7 {
				cancel()
			}
		}
		if _, err := m.Train(ctx, q); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: error is %v, want context.Canceled", name, err)
		}
		q.Observe = nil
		if bytesOf(t, mustTrain(t, m, q)) != want {
			t.Errorf("%s: resumed, the model is another one", name)
		}
		var bad *ProblemError
		if _, err := m.Train(context.Background(), quick(t, m, "", "redraw", "true")); !errors.As(err, &bad) || !strings.Contains(err.Error(), "redraw=true with optimizer=lbfgs") {
			t.Errorf("%s: error is %v, want a *ProblemError", name, err)
		}
	}
}

// Claim: an observer of L-BFGS learns the validation value of every iteration, the
// last of which is the model's.
func TestLBFGSTellsValidation(t *testing.T) {
	m := lookup(t, "mle")
	p := quick(t, m, "")
	p.Valid, p.Select = p.Data.Subset([]int{0, 1, 2, 3}), measure.MustParse("map", measure.LETOR3)
	var all []Iteration
	p.Observe = func(it Iteration) { all = append(all, it) }
	trained := mustTrain(t, m, p)
	for _, it := range all {
		if !it.Validated || it.Epoch || it.Validation <= 0 {
			t.Fatalf("iteration %+v", it)
		}
	}
	if last, v := all[len(all)-1], mapOf(t, trained, p.Valid); last.Validation != v {
		t.Errorf("the last validation value is %v, the model's %v", last.Validation, v)
	}
	p.Valid, all = nil, nil
	mustTrain(t, m, p)
	if all[0].Validated {
		t.Error("a validation value without validation data")
	}
}
