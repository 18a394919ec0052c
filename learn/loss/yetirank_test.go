package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// permutationsOf calls do with every order of n documents.
func permutationsOf(n int, do func(order []int)) {
	order := make([]int, n)
	used := make([]bool, n)
	var next func(r int)
	next = func(r int) {
		if r == n {
			do(order)
			return
		}
		for d := range n {
			if !used[d] {
				used[d], order[r] = true, d
				next(r + 1)
				used[d] = false
			}
		}
	}
	next(0)
}

// luce is the probability of an order under Gumbel noise: Plackett and Luce's.
func luce(scores []float64, order []int) float64 {
	p := 1.0
	for r := range order {
		var left float64
		for _, d := range order[r:] {
			left += math.Exp(scores[d])
		}
		p *= math.Exp(scores[order[r]]) / left
	}
	return p
}

// orderOfThree is the probability of an order of three documents under independent noise of
// the given density and distribution function: an integral over the score of the second.
func orderOfThree(scores []float64, order []int, density, below func(x float64) float64) float64 {
	const h = 0.02 // far below the width of the laws, so that the sum is exact to rounding
	var sum float64
	for y := -50.0; y < 50; y += h {
		sum += h * density(y-scores[order[1]]) * (1 - below(y-scores[order[0]])) * below(y-scores[order[2]])
	}
	return sum
}

func logisticDensity(x float64) float64 { return logisticBelow(x) * logisticBelow(-x) }
func logisticBelow(x float64) float64   { return 1 / (1 + math.Exp(-x)) }

// yetiOf computes λ and second derivatives of one order by YetiRank's definition, and adds them
// times p.
func yetiOf(l YetiRank, grades, scores []float64, order []int, p float64, lambda, second []float64) {
	ranked := make([]float64, len(order))
	for r, d := range order {
		ranked[r] = grades[d]
	}
	for a := range order {
		for b := a + 1; b < len(order) && b <= a+max(1, l.Neighbours); b++ {
			i, j := order[a], order[b]
			weight := math.Pow(0.99, float64(a)) * math.Abs(grades[i]-grades[j])
			if l.Measure != nil {
				before, _ := l.Measure.Value(ranked)
				ranked[a], ranked[b] = ranked[b], ranked[a]
				after, _ := l.Measure.Value(ranked)
				ranked[a], ranked[b] = ranked[b], ranked[a]
				weight = math.Abs(before - after)
			}
			if grades[i] == grades[j] {
				continue
			}
			if grades[i] < grades[j] {
				i, j = j, i
			}
			rho := 1 / (1 + math.Exp(scores[i]-scores[j]))
			lambda[i] += p * weight * rho
			lambda[j] -= p * weight * rho
			second[i] += p * weight * rho * (1 - rho)
			second[j] += p * weight * rho * (1 - rho)
		}
	}
}

// checkMean checks that the means over binds of a loss, each of many draws, are within five
// standard errors of what they estimate, which are small.
func checkMean(t *testing.T, what string, eval func(rng *rand.Rand) []float64, want []float64) {
	t.Helper()
	const binds = 40
	sum, squares := make([]float64, len(want)), make([]float64, len(want))
	for k := range binds {
		for i, v := range eval(rand.New(rand.NewPCG(uint64(k), 5))) {
			sum[i] += v
			squares[i] += v * v
		}
	}
	for i := range want {
		mean := sum[i] / binds
		deviation := math.Sqrt(max(squares[i]/binds-mean*mean, 0) / (binds - 1))
		if math.Abs(mean-want[i]) > 5*deviation+1e-9 || deviation > 0.01 {
			t.Errorf("%s: the mean of number %d is %v ± %v, the expectation %v", what, i, mean, deviation, want[i])
		}
	}
}

// TestYetiRankIsTheExpectation: λ and second derivatives over many draws are those over all
// orders with their probabilities: Plackett and Luce's under Gumbel noise; of three
// documents under logistic noise by quadrature.
func TestYetiRankIsTheExpectation(t *testing.T) {
	for _, c := range []struct {
		name           string
		loss           YetiRank
		grades, scores []float64
	}{
		{"yetirank, gumbel", YetiRank{Noise: GumbelNoise}, []float64{2, 0, 1, 0}, []float64{-0.4, 0.6, 0.1, -1}},
		{"yetirank, logistic", YetiRank{}, []float64{2, 0, 1}, []float64{-0.4, 0.9, 0.1}},
		{"yetiloss, ndcg", YetiRank{Measure: additive(t, "ndcg"), Noise: GumbelNoise}, []float64{2, 0, 1, 0}, []float64{-0.4, 0.6, 0.1, -1}},
		{"yetiloss, ndcg@2", YetiRank{Measure: additive(t, "ndcg@2"), Noise: GumbelNoise}, []float64{2, 0, 1, 0}, []float64{-0.4, 0.6, 0.1, -1}},
		{"yetiloss, map, two neighbours", YetiRank{Measure: additive(t, "map"), Neighbours: 2, Noise: GumbelNoise}, []float64{1, 0, 1, 0}, []float64{-0.4, 0.6, 0.1, -1}},
		{"yetiloss, err", YetiRank{Measure: additiveOrOther(t, "err")}, []float64{2, 0, 1}, []float64{-0.4, 0.9, 0.1}},
		{"yetiloss, p@2", YetiRank{Measure: additiveOrOther(t, "p@2"), Noise: GumbelNoise}, []float64{2, 0, 1, 0}, []float64{-0.4, 0.6, 0.1, -1}},
	} {
		n := len(c.grades)
		lambda, second := make([]float64, n), make([]float64, n)
		var all float64
		permutationsOf(n, func(order []int) {
			var p float64
			if c.loss.Noise == GumbelNoise {
				p = luce(c.scores, order)
			} else {
				p = orderOfThree(c.scores, order, logisticDensity, logisticBelow)
			}
			all += p
			yetiOf(c.loss, c.grades, c.scores, order, p, lambda, second)
		})
		if !near(all, 1, 1e-9) {
			t.Errorf("%s: probabilities add up to %v", c.name, all)
		}
		c.loss.Draws = 2000
		checkMean(t, c.name, func(rng *rand.Rand) []float64 {
			b, err := c.loss.Bind(c.grades, rng)
			if err != nil {
				t.Fatal(err)
			}
			got, curvature := make([]float64, n), make([]float64, n)
			b.(Diagonal).EvalSecond(c.scores, got, curvature, new(Scratch))
			return append(got, curvature...)
		}, append(lambda, second...))
	}
}

// TestYetiRankOptions: defaults are those that are named, another bind draws other noise, names
// are read back and options out of range refused.
func TestYetiRankOptions(t *testing.T) {
	grades, s := []float64{2, 0, 1, 0, 4}, []float64{0.3, 0.1, -1, 2, 1}
	got, _ := evaluated(mustBind(t, YetiRank{}, grades, 1), s)
	want, _ := evaluated(mustBind(t, YetiRank{Decay: 0.99, Neighbours: 1, Draws: 10, Noise: LogisticNoise}, grades, 1), s)
	other, _ := evaluated(mustBind(t, YetiRank{}, grades, 2), s)
	if got != want || got == other {
		t.Errorf("by default %v, want %v; with other noise %v", got, want, other)
	}
	for n := LogisticNoise; n <= GumbelNoise; n++ {
		if parsed, err := ParseNoise(n.String()); parsed != n || err != nil {
			t.Errorf("ParseNoise(%q) = %v, %v", n.String(), parsed, err)
		}
	}
	_, err := ParseNoise("gauss")
	wantError(t, "ParseNoise", err, `noise "gauss"`, "logistic or gumbel")
	m := measure.MustParse("ndcg", measure.LETOR3)
	for want, l := range map[string]YetiRank{
		"decay 2": {Decay: 2}, "decay 0.5": {Decay: 0.5, Measure: m}, "neighbours -1": {Neighbours: -1}, "neighbours 2": {Neighbours: 2},
		"draws -1": {Draws: -1}, "noise 2": {Noise: 2},
	} {
		_, err := l.Bind(grades, rand.New(rand.NewPCG(1, 1)))
		wantError(t, fmt.Sprintf("%+v", l), err, want)
	}
}
