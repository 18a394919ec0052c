package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// pairWeight is LambdaLoss's weight of the pair (i, j) by its definition.
func pairWeight(l LambdaLoss, gi, gj float64, ri, rj int) float64 {
	d := l.Convention.Discount
	apart := max(ri-rj, rj-ri)
	delta := d(apart) - d(apart+1)
	rho := math.Abs(d(ri) - d(rj))
	switch l.Weights {
	case NDCGLoss1:
		return gi * d(ri)
	case NDCGLoss2:
		return (gi - gj) * delta
	case LambdaRankWeights:
		return (gi - gj) * rho
	default:
		return (gi - gj) * (rho + l.Mu*delta)
	}
}

// frozenLambdaLoss is the loss with the weights of the given ranks.
func frozenLambdaLoss(l LambdaLoss, grades []float64, ranks []int) func(s []float64) float64 {
	g := normalGains(l.Convention, grades, 0)
	return func(s []float64) float64 {
		var value float64
		for i := range s {
			for j := range s {
				if grades[i] > grades[j] {
					value += pairWeight(l, g[i], g[j], ranks[i], ranks[j]) * math.Log2(1+math.Exp(-l.Sigma*(s[i]-s[j])))
				}
			}
		}
		return value
	}
}

func lambdaLosses(t testing.TB) []LambdaLoss {
	var all []LambdaLoss
	for _, name := range []string{"letor3", "standard", "trec"} {
		for w := NDCGLoss2PP; w <= LambdaRankWeights; w++ {
			all = append(all, LambdaLoss{Convention: standard(t, name), Weights: w, Sigma: 1.3, Mu: 4})
		}
	}
	return all
}

// TestLambdaLossAgainstFormula: where no two scores tie, value and λ are those of
// the pairwise loss with the weights frozen at the ranking.
func TestLambdaLossAgainstFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, l := range lambdaLosses(t) {
		for _, grades := range [][]float64{{0, 1}, {2, 0, 1, 0, 4, 0.5, 1}, {1, 1, 0, 1, 2}} {
			b := mustBind(t, l, grades, 1)
			for _, spread := range []float64{0.3, 2, 10} {
				s := distinct(rng, len(grades), spread)
				againstReference(t, fmt.Sprintf("%v %v", l.Weights, grades), b, frozenLambdaLoss(l, grades, ranksOf(s)), s)
			}
		}
	}
}

// TestLambdaLossTies: documents of equal score rank by ascending grade, and λ is
// the mean over the orders of those that have the same grade too.
func TestLambdaLossTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	grades := []float64{2, 0, 1, 0, 2, 1}
	n := len(grades)
	for _, l := range lambdaLosses(t) {
		b := mustBind(t, l, grades, 1)
		for range 3 {
			s := make([]float64, n)
			for i := range s {
				s[i] = float64(rng.IntN(2)) / 2
			}
			var value, orders float64
			mean := make([]float64, n)
			sequences(n, n, func(y []int) {
				for r := 1; r < n; r++ {
					a, c := y[r-1], y[r]
					if s[a] < s[c] || s[a] == s[c] && grades[a] > grades[c] {
						return
					}
				}
				ranks := make([]int, n)
				for r, d := range y {
					ranks[d] = r + 1
				}
				f := frozenLambdaLoss(l, grades, ranks)
				value += f(s)
				orders++
				for i, d := range differences(f, s) {
					mean[i] += d
				}
			})
			for i := range mean {
				mean[i] /= orders
			}
			got, grad := evaluated(b, s)
			if !near(got, value/orders, 1e-12) {
				t.Errorf("%v at %v: %v, want %v", l.Weights, s, got, value/orders)
			}
			checkVector(t, fmt.Sprintf("%v at %v: gradient", l.Weights, s), grad, mean, 1e-8)
		}
	}
}

// TestLambdaLossJumps: the value is not continuous where documents change places,
// which is why the loss has the trait NonGradient.
func TestLambdaLossJumps(t *testing.T) {
	grades := []float64{2, 0, 1, 0}
	for _, l := range lambdaLosses(t) {
		b := mustBind(t, l, grades, 1)
		before, _ := evaluated(b, []float64{1 - 1e-9, 3, 1, 0})
		after, _ := evaluated(b, []float64{1 + 1e-9, 3, 1, 0})
		if jump := math.Abs(before - after); jump < 1e-3 {
			t.Errorf("%v: the value changes by %v", l.Weights, jump)
		}
		if !l.Traits().NonGradient {
			t.Errorf("%v: no field", l.Weights)
		}
	}
}

// TestLambdaLossDefaults: what is left out is σ = 1, μ = 10 and ndcg2++.
func TestLambdaLossDefaults(t *testing.T) {
	grades, s := []float64{2, 0, 1, 0, 4}, []float64{0.3, 0.1, -1, 2, 1}
	got, _ := evaluated(mustBind(t, LambdaLoss{}, grades, 1), s)
	want, _ := evaluated(mustBind(t, LambdaLoss{Convention: measure.Convention{}, Weights: NDCGLoss2PP, Sigma: 1, Mu: 10}, grades, 1), s)
	if got != want {
		t.Errorf("by default %v, want %v", got, want)
	}
}
