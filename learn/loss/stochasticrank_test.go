package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normalDensity(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
func normalBelow(x float64) float64   { return math.Erfc(-x/math.Sqrt2) / 2 }

// smoothed is the expectation of a measure of three documents under normal noise, by
// quadrature.
func smoothed(l StochasticRank, grades, scores []float64) (expectation float64) {
	sigma := orDefault(l.Sigma, 1)
	x := make([]float64, len(scores))
	for i, s := range scores {
		x[i] = s/sigma - l.Mu*grades[i]
	}
	permutationsOf(len(scores), func(order []int) {
		ranked := make([]float64, len(order))
		for r, d := range order {
			ranked[r] = grades[d]
		}
		value, _ := l.Measure.Value(ranked)
		expectation += value * orderOfThree(x, order, normalDensity, normalBelow)
	})
	return expectation
}

// TestStochasticRankIsTheGradient: the mean of λ over many draws is the gradient of the smoothed
// measure, by differences of its exact expectation, and the mean value is 1 less that.
func TestStochasticRankIsTheGradient(t *testing.T) {
	grades, scores := []float64{2, 0, 1}, []float64{-0.4, 0.9, 0.2}
	for _, name := range []string{"ndcg", "ndcg@1", "ndcg@2", "map", "mrr", "err", "p@1"} {
		for _, options := range []StochasticRank{{}, {Sigma: 0.5}, {Mu: 0.3}} {
			l := options
			l.Measure, l.Draws = additiveOrOther(t, name), 1000
			want := make([]float64, 4)
			for i := range scores {
				const h = 1e-3
				at := func(d float64) float64 {
					y := slices.Clone(scores)
					y[i] += d
					return smoothed(l, grades, y)
				}
				want[i] = (at(h) - at(-h)) / (2 * h)
			}
			want[3] = 1 - smoothed(l, grades, scores)
			checkMean(t, name, func(rng *rand.Rand) []float64 {
				b, err := l.Bind(grades, rng)
				if err != nil {
					t.Fatal(err)
				}
				lambda := make([]float64, 3)
				value := b.Eval(scores, lambda, new(Scratch))
				return append(lambda, value)
			}, want)
		}
	}
}

// TestStochasticRankOfTwo: with two documents the expectation has a closed form, whose gradient
// each draw's estimate averages to.
func TestStochasticRankOfTwo(t *testing.T) {
	l := StochasticRank{Measure: additive(t, "ndcg"), Sigma: 0.7, Draws: 4000}
	grades, scores := []float64{0, 1}, []float64{0.5, 0.2}
	// The measure is 1 with the second document first, which it is with probability
	// Φ((s_2 − s_1)/(σ√2)).
	swapped, _ := l.Measure.Value([]float64{0, 1})
	slope := (1 - swapped) * normalDensity((scores[1]-scores[0])/(0.7*math.Sqrt2)) / (0.7 * math.Sqrt2)
	checkMean(t, "two documents", func(rng *rand.Rand) []float64 {
		lambda := make([]float64, 2)
		b, err := l.Bind(grades, rng)
		if err != nil {
			t.Fatal(err)
		}
		b.Eval(scores, lambda, new(Scratch))
		return lambda
	}, []float64{-slope, slope})
}

// TestStochasticRankScaleFree: what is left of λ is at a right angle to the scores, less their mean,
// but for the small number added to their length; nothing else changes.
func TestStochasticRankScaleFree(t *testing.T) {
	grades, scores := []float64{2, 0, 1, 0, 1}, []float64{300, 100, -200, 0, 150}
	for i := range scores {
		scores[i] /= 100
	}
	plain := StochasticRank{Measure: additive(t, "ndcg"), Draws: 3}
	free := plain
	free.ScaleFree = true
	_, grad := evaluated(mustBind(t, plain, grades, 3), scores)
	_, turned := evaluated(mustBind(t, free, grades, 3), scores)
	centered := slices.Clone(scores)
	center(centered)
	length := math.Sqrt(dot(centered, centered))
	if along, before := dot(turned, centered)/length, dot(grad, centered)/length; math.Abs(along) > 0.01*math.Abs(before) || before == 0 {
		t.Errorf("λ along the scores is %v, was %v", along, before)
	}
	// The difference is along the scores.
	for i := range grad {
		grad[i] -= turned[i]
	}
	share := dot(grad, centered) / (length * length)
	for i, v := range grad {
		if !near(v, share*centered[i], 1e-12) {
			t.Errorf("document %d: %v was taken off, want %v", i, v, share*centered[i])
		}
	}
}

// TestStochasticRankOptions: defaults and refusals.
func TestStochasticRankOptions(t *testing.T) {
	m := additive(t, "ndcg")
	grades, s := []float64{2, 0, 1, 0, 4}, []float64{0.3, 0.1, -1, 2, 1}
	got, _ := evaluated(mustBind(t, StochasticRank{Measure: m}, grades, 1), s)
	want, _ := evaluated(mustBind(t, StochasticRank{Measure: m, Sigma: 1, Draws: 1}, grades, 1), s)
	if got != want {
		t.Errorf("by default %v, want %v", got, want)
	}
	for want, l := range map[string]StochasticRank{
		"no measure": {}, "sigma -1": {Measure: m, Sigma: -1}, "draws -1": {Measure: m, Draws: -1}, "mu -1": {Measure: m, Mu: -1},
	} {
		_, err := l.Bind(grades, rand.New(rand.NewPCG(1, 1)))
		wantError(t, want, err, want)
	}
}
