package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// The experiment has a run for every objective, fold and way to draw, and gives the same bytes
// with any number of jobs. Rankings drawn once give the line search a function of w: it does not
// fail, and the objective falls.
func TestRedrawn(t *testing.T) {
	e := redrawn{size: govSize{queries: 15, docs: 30}, iterations: 8, samples: 60}
	r, err := e.run(context.Background(), Options{Seed: 1, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(r.Sheets[0].Rows), 5*len(e.objectives())*len(redrawings); got != want {
		t.Errorf("%d runs, expected %d", got, want)
	}
	for _, row := range r.Sheets[0].Rows {
		if row[2] == "once" && row[1] != "L_2_NDCG, MCMC" && (row[4] == "line search could not improve" || !(row[7].(float64) > 0)) {
			t.Errorf("drawn once: %v", row)
		}
	}
	again, err := e.run(context.Background(), Options{Seed: 1, Jobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	if everything(t, r) != everything(t, again) {
		t.Error("three jobs give another report than one")
	}
}

// That line searches fail holds only beside a control whose do not.
func TestSearchFails(t *testing.T) {
	for _, c := range []struct {
		once, redrawn int
		want          FindVerdict
	}{{0, 20, ClaimHeld}, {2, 18, ClaimHeld}, {0, 15, ClaimPartly}, {0, 7, ClaimUndecided}, {0, 0, ClaimFailed}, {0, 2, ClaimFailed}, {20, 20, ClaimUndecided}, {10, 20, ClaimUndecided}, {20, 0, ClaimFailed}} {
		if got := searchFails(c.once, c.redrawn, 20); got != c.want {
			t.Errorf("%d of 20 fail with rankings drawn once, %d redrawn: %s, expected %s", c.once, c.redrawn, got, c.want)
		}
	}
}

// The walks draw permutations with probability ∝ exp(w·φ). The mean of Δ and its gradient equal
// the sums over all permutations, up to the error of the draws.
func TestWalksLoss(t *testing.T) {
	gain, err := additive("ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	grades, scores := []float64{0, 1, 0, 1, 0}, []float64{0.3, 0.1, -0.2, 0.4, 0.2}
	bound, err := walksLoss{gain, 400000}.Bind(grades, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	lambda := make([]float64, 5)
	got := bound.Eval(scores, lambda, new(loss.Scratch))
	expected := func(scores []float64) float64 {
		var sum, total float64
		permutations(5, func(order []int) {
			energy, delta, good, bad := 0.0, 1.0, 0, 0
			for _, d := range order {
				if grades[d] > 0 {
					energy += scores[d] * float64(3-2*bad)
					delta -= gain.GoodGain(good, bad, 2, 3)
					good++
				} else {
					energy += scores[d] * float64(2-2*good)
					bad++
				}
			}
			p := math.Exp(energy)
			sum, total = sum+p*delta, total+p
		})
		return sum / total
	}
	if want := expected(scores); math.Abs(got-want) > 2e-3 {
		t.Errorf("E[Δ] = %v, over all permutations %v", got, want)
	}
	for d := range scores {
		const h = 1e-5
		at := func(by float64) float64 {
			s := append([]float64(nil), scores...)
			s[d] += by
			return expected(s)
		}
		if want := -(at(h) - at(-h)) / (2 * h); math.Abs(lambda[d]-want) > 4e-3 {
			t.Errorf("λ of document %d: %v, over all permutations %v", d, lambda[d], want)
		}
	}
}

// permutations calls each with all orders of n numbers.
func permutations(n int, each func([]int)) {
	order := identity(n)
	var place func(k int)
	place = func(k int) {
		if k == n {
			each(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			place(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	place(0)
}
