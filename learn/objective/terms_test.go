package objective

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// The terms add up to the whole but for the penalty: value and gradient, for a
// linear scorer and a network, evaluated by several goroutines at once.
func TestTermsAddUp(t *testing.T) {
	d := randomData(t, 40, 5)
	for _, s := range []scorer.Scorer{scorer.Linear{Features: 5}, scorer.Network{Features: 5, Hidden: 3}} {
		r, err := New(d, s, loss.RankNet{}, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		w, want := randomPoint(s.NumParams(), 1), make([]float64, s.NumParams())
		value := r.Eval(w, want)
		if r.Terms() != r.Queries() || r.Terms() < 10 {
			t.Fatalf("%d terms of %d queries", r.Terms(), r.Queries())
		}
		values, grads := make([]float64, r.Terms()), make([][]float64, r.Terms())
		var wait sync.WaitGroup
		for i := range grads {
			grads[i] = make([]float64, len(want))
			wait.Go(func() { values[i] = r.EvalTerm(i, w, grads[i]) })
		}
		wait.Wait()
		sum, got := 0.0, make([]float64, len(want))
		for i, g := range grads {
			sum += values[i]
			for j, v := range g {
				got[j] += v
			}
		}
		if math.Abs(sum-value) > 1e-9*math.Abs(value) {
			t.Errorf("%s: the terms' values add up to %v, the risk is %v", s.Kind(), sum, value)
		}
		for j := range want {
			if math.Abs(got[j]-want[j]) > 1e-9*(1+math.Abs(want[j])) {
				t.Errorf("%s: the terms' derivatives by parameter %d add up to %v, the risk's is %v", s.Kind(), j, got[j], want[j])
			}
		}
	}
}

// A term adds to what is in grad, and is the same bits every time.
func TestEvalTermAdds(t *testing.T) {
	d := randomData(t, 10, 4)
	r := newRisk(t, d, loss.ListNet{}, Options{})
	w, once, again, twice := randomPoint(4, 1), make([]float64, 4), make([]float64, 4), make([]float64, 4)
	a := r.EvalTerm(0, w, once)
	b := r.EvalTerm(0, w, again)
	copy(twice, once)
	r.EvalTerm(0, w, twice)
	if a != b {
		t.Errorf("the value is %v, then %v", a, b)
	}
	for j := range once {
		if again[j] != once[j] {
			t.Errorf("derivative %d is %v, then %v", j, once[j], again[j])
		}
		if math.Abs(twice[j]-2*once[j]) > 1e-12*(1+math.Abs(once[j])) {
			t.Errorf("derivative %d added twice is %v, want 2 × %v", j, twice[j], once[j])
		}
	}
	if id := r.QueryID(0); id != d.Queries[0].ID {
		t.Errorf("term 0 is of query %q, want %q", id, d.Queries[0].ID)
	}
}

// Claim: terms in turn, divided among a team or not, have the value and the gradient of terms evaluated in any order.
func TestTermsInTurn(t *testing.T) {
	const features = 300
	d := randomData(t, 100, features)
	s := scorer.Network{Features: features, Hidden: 40}
	w := randomPoint(s.NumParams(), 1)
	plain := newRiskOf(t, d, s)
	if plain.Window() != 0 {
		t.Errorf("terms are announced %d ahead of their evaluation, expected none", plain.Window())
	}
	for _, parts := range []int{1, 2, 3} {
		var team *parallel.Team
		if parts > 1 {
			team = parallel.NewTeam(parts)
		}
		r := newRiskOf(t, d, s)
		r.InTurn(team)
		if r.Window() != 1 {
			t.Errorf("terms in turn are announced %d ahead of their evaluation, expected 1", r.Window())
		}
		for i := range r.Terms() {
			r.Soon([]int{(i + 1) % r.Terms()})
			want, got := make([]float64, len(w)), make([]float64, len(w))
			if a, b := r.EvalTerm(i, w, got), plain.EvalTerm(i, w, want); a != b || !slices.Equal(got, want) {
				t.Fatalf("%d parts: term %d has the value %v, expected %v, or another gradient", parts, i, a, b)
			}
		}
		team.Close()
	}
}

func newRiskOf(t *testing.T, d *dataset.Dataset, s scorer.Scorer) *Risk {
	t.Helper()
	r, err := New(d, s, loss.RankNet{}, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
