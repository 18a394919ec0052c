package objective

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// Claim: every round draws other numbers, the same again whenever it comes, and
// round 0 those of New.
func TestRedraw(t *testing.T) {
	d := randomData(t, 6, 4)
	r := newRisk(t, d, loss.XENDCG{}, Options{Seed: 3})
	w, grad := randomPoint(4, 1), make([]float64, 4)
	at := func(round int) float64 {
		t.Helper()
		if err := r.Redraw(round); err != nil {
			t.Fatal(err)
		}
		return r.Eval(w, grad)
	}
	first := r.Eval(w, grad)
	seen := map[float64]int{first: 0}
	for round := 1; round < 50; round++ {
		v := at(round)
		if other, twice := seen[v]; twice {
			t.Fatalf("rounds %d and %d draw the same", other, round)
		}
		seen[v] = round
	}
	if again := at(0); again != first {
		t.Errorf("round 0: value %v, New drew %v", again, first)
	}
	if v := at(7); seen[v] != 7 {
		t.Errorf("round 7 draws other numbers the second time")
	}
}

// Claim: a loss that draws nothing is the same function in every round.
func TestRedrawOfNothingDrawn(t *testing.T) {
	r := newRisk(t, randomData(t, 5, 3), loss.RankNet{Sigma: 1}, Options{C: 2})
	w, grad := randomPoint(3, 1), make([]float64, 3)
	before := r.Eval(w, grad)
	if err := r.Redraw(4); err != nil {
		t.Fatal(err)
	}
	if after := r.Eval(w, grad); math.Float64bits(before) != math.Float64bits(after) {
		t.Errorf("value %v after redrawing, %v before", after, before)
	}
}

// onlyOnce refuses to be bound more often than the queries are.
type onlyOnce struct {
	loss.RankNet
	left *int
}

func (o onlyOnce) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	if *o.left == 0 {
		return nil, errRefused
	}
	*o.left--
	return o.RankNet.Bind(grades, rng)
}

func TestRedrawErrors(t *testing.T) {
	d := randomData(t, 3, 2)
	left := len(d.Queries)
	r := newRisk(t, d, onlyOnce{loss.RankNet{Sigma: 1}, &left}, Options{Workers: 1})
	if err := r.Redraw(2); err == nil || !strings.Contains(err.Error(), "draws of round 2: ") {
		t.Errorf("error is %v, want one of a query and round 2", err)
	}
}
