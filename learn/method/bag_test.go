package method

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// bagged is a short training of a bag.
func bagged(t testing.TB, m *Method, kind string, settings ...string) *Problem {
	p := quick(t, m, kind, append([]string{"optimizer", "descent", "epochs", "12"}, settings...)...)
	p.Valid = p.Data.Subset([]int{0, 1, 2})
	return p
}

// Claim: what is validated and told is the average, and the
// model is that of the best epoch, the same for any number of workers.
func TestBagOfNetworks(t *testing.T) {
	m := lookup(t, "listnet")
	p := bagged(t, m, networkScorer, "bag", "3", "batch", "4")
	p.Select = measure.MustParse("map", measure.LETOR3)
	var params []float64
	best := math.Inf(-1)
	p.Observe = func(it Iteration) {
		if it.Best {
			best, params = it.Validation, slices.Clone(it.Params)
		}
	}
	p.Workers = 1
	trained := mustTrain(t, m, p)
	if !slices.Equal(trained.Params, params) || *trained.Training.Validation != best || mapOf(t, trained, p.Valid) != best {
		t.Errorf("the model is not that of the best epoch, whose validation value is %v: %+v", best, trained.Training)
	}
	p.Workers, p.Observe = 3, nil
	if bytesOf(t, trained) != bytesOf(t, mustTrain(t, m, p)) {
		t.Error("the number of workers changes the model")
	}
}

// Claim: a bag that was interrupted goes on to the same bytes.
func TestBagResumes(t *testing.T) {
	m := lookup(t, "ranknet")
	want := bytesOf(t, mustTrain(t, m, bagged(t, m, networkScorer, "bag", "2")))
	p := bagged(t, m, networkScorer, "bag", "2")
	if got, first := resumed(t, m, p, interrupted(t, m, p, 0, 5)); got != want || first != "0 6" {
		t.Errorf("resumed at epoch %s: the model is another one: %v", first, got != want)
	}
}

// Claim: what cannot make a bag says so.
func TestBagErrors(t *testing.T) {
	m := lookup(t, "listnet")
	for want, settings := range map[string][]string{
		"bag=2 with optimizer=lbfgs":     {"bag", "2"},
		"bag=2 with the scorer linear, ": {"bag", "2", "optimizer", "descent"},
	} {
		var bad *ProblemError
		if _, err := m.Train(context.Background(), quick(t, m, linearScorer, settings...)); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want a *ProblemError: %s", err, want)
		}
	}
}
