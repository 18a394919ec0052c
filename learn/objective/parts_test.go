package objective_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// late is a part that answers after a while, so that parts end in another order than they stand in.
type late struct {
	objective.PartialRisk
	after time.Duration
}

func (l late) Eval(w, grad []float64) (float64, error) {
	time.Sleep(l.after)
	return l.PartialRisk.Eval(w, grad)
}

// failing fails from the given call on.
type failing struct {
	objective.PartialRisk
	calls *int
	from  int
}

var errLost = errors.New("the worker is lost")

func (f failing) Eval(w, grad []float64) (float64, error) {
	if *f.calls++; *f.calls >= f.from {
		return 0, errLost
	}
	return f.PartialRisk.Eval(w, grad)
}

func ohsumedLike(t *testing.T) *dataset.Dataset {
	t.Helper()
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant = 41, 20, 7, 6
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shards divides the data as a folder of shards would: query i is in shard i mod n.
func shards(t *testing.T, d *dataset.Dataset, n int) []objective.PartialRisk {
	t.Helper()
	var parts []objective.PartialRisk
	for k := range n {
		place := -1
		shard := d.Filter(func(*dataset.Query) bool { place++; return place%n == k })
		r, err := objective.New(shard, scorer.Linear{Features: d.Features}, loss.RankNet{}, objective.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		part, err := r.Part()
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	return parts
}

// Claim: parts have the risk of the whole data and its gradient, up to rounding; L-BFGS reaches the
// same certified minimum with them; and their order in time changes no bit.
func TestPartsAreTheWhole(t *testing.T) {
	d := ohsumedLike(t)
	opts := objective.Options{C: 10, Seed: 1}
	whole, err := objective.New(d, scorer.Linear{Features: d.Features}, loss.RankNet{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	parts := shards(t, d, 4)
	p, err := objective.NewParts(d.Features, parts, opts)
	if err != nil {
		t.Fatal(err)
	}
	w := []float64{0.3, -0.2, 0.7, 0, 1, -1, 0.1}
	grad, want := make([]float64, 7), make([]float64, 7)
	value, expected := p.Eval(w, grad), whole.Eval(w, want)
	if math.Abs(value-expected) > 1e-12*expected {
		t.Errorf("the risk is %v, expected %v", value, expected)
	}
	for j := range want {
		if math.Abs(grad[j]-want[j]) > 1e-10*(1+math.Abs(want[j])) {
			t.Errorf("derivative %d is %v, expected %v", j, grad[j], want[j])
		}
	}
	for i := range parts {
		parts[i] = late{parts[i], time.Duration(len(parts)-i) * 5 * time.Millisecond}
	}
	slow, err := objective.NewParts(d.Features, parts, opts)
	if err != nil {
		t.Fatal(err)
	}
	again := make([]float64, 7)
	if v := slow.Eval(w, again); v != value || [7]float64(again) != [7]float64(grad) {
		t.Errorf("with late parts the risk is %v, expected the bits of %v", v, value)
	}

	solver := optimize.LBFGS{StrongConvexity: p.StrongConvexity()}
	a, errA := solver.Minimize(context.Background(), p, make([]float64, 7))
	b, errB := solver.Minimize(context.Background(), whole, make([]float64, 7))
	if errA != nil || errB != nil || p.Err() != nil {
		t.Fatal(errA, errB, p.Err())
	}
	if math.Abs(a.F-b.F) > 2e-6*b.F || a.Gap > 1e-6*max(1, a.F) {
		t.Errorf("L-BFGS reaches %v with a gap of %v, expected %v", a.F, a.Gap, b.F)
	}
}

// Claim: a part that fails ends the training, and is what Err says.
func TestPartsTellOfAFailure(t *testing.T) {
	d := ohsumedLike(t)
	parts := shards(t, d, 3)
	parts[1] = failing{parts[1], new(int), 4}
	p, err := objective.NewParts(d.Features, parts, objective.Options{C: 10})
	if err != nil {
		t.Fatal(err)
	}
	result, _ := optimize.LBFGS{StrongConvexity: p.StrongConvexity()}.Minimize(context.Background(), p, make([]float64, 7))
	if !errors.Is(p.Err(), errLost) {
		t.Errorf("found the error %v, expected %v", p.Err(), errLost)
	}
	if result != nil && result.Status.Converged() {
		t.Errorf("found the status %v, expected no convergence", result.Status)
	}
}

// Claim: what cannot be put together is refused.
func TestPartsRefuse(t *testing.T) {
	d := ohsumedLike(t)
	r, err := objective.New(d, scorer.Linear{Features: d.Features}, loss.RankNet{}, objective.Options{C: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Part(); err == nil || !strings.Contains(err.Error(), "expected none") {
		t.Errorf("a part with a penalty: found %v, expected an error", err)
	}
	for name, build := range map[string]func() (*objective.Parts, error){
		"no parts":      func() (*objective.Parts, error) { return objective.NewParts(7, nil, objective.Options{}) },
		"no parameters": func() (*objective.Parts, error) { return objective.NewParts(0, shards(t, d, 1), objective.Options{}) },
		"negative C": func() (*objective.Parts, error) {
			return objective.NewParts(7, shards(t, d, 1), objective.Options{C: -1})
		},
	} {
		if _, err := build(); err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}
