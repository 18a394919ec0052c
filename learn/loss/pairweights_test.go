package loss

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPairWeights: λ and second derivatives are sums over pairs, each multiplied by its better
// document's weight as such and its worse one's as such, by the definition; under every
// normalisation those of weights of 1 are those without.
func TestPairWeights(t *testing.T) {
	m := additive(t, "ndcg")
	grades, s := []float64{2, 0, 1, 0, 1}, []float64{0.3, 0.1, -1, 2, 1}
	w := PairWeights{Better: []float64{3, 1, 0.5, 7, 0}, Worse: []float64{1, 2, 0.25, 4, 5}}
	n := len(grades)
	order := []int{3, 4, 0, 1, 2} // by score
	lambda, second := make([]float64, n), make([]float64, n)
	for a := range order {
		for b := a + 1; b < n; b++ {
			ranked := make([]float64, n)
			for r, d := range order {
				ranked[r] = grades[d]
			}
			before, _ := m.Value(ranked)
			ranked[a], ranked[b] = ranked[b], ranked[a]
			after, _ := m.Value(ranked)
			i, j := order[a], order[b]
			if grades[i] == grades[j] {
				continue
			}
			if grades[i] < grades[j] {
				i, j = j, i
			}
			weight := math.Abs(before-after) * w.Better[i] * w.Worse[j]
			rho := 1 / (1 + math.Exp(s[i]-s[j]))
			lambda[i] += weight * rho
			lambda[j] -= weight * rho
			second[i] += weight * rho * (1 - rho)
			second[j] += weight * rho * (1 - rho)
		}
	}
	evaluate := func(l LambdaRank, w PairWeights) (lambda, second []float64) {
		b, err := l.BindWeighted(grades, w, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		lambda, second = make([]float64, n), make([]float64, n)
		b.(Diagonal).EvalSecond(s, lambda, second, new(Scratch))
		return lambda, second
	}
	gotLambda, gotSecond := evaluate(LambdaRank{Measure: m}, w)
	checkVector(t, "λ", gotLambda, lambda, 1e-12)
	checkVector(t, "second derivatives", gotSecond, second, 1e-12)
	ones := []float64{1, 1, 1, 1, 1}
	for _, l := range []LambdaRank{{Measure: m}, {Measure: m, GapNorm: true}, {Measure: m, SumNorm: true, Truncation: 2}} {
		plain, plainSecond := evaluate(l, PairWeights{})
		for _, w := range []PairWeights{{Better: ones}, {Worse: ones}} {
			lambda, second := evaluate(l, w)
			checkVector(t, "λ with weights of 1", lambda, plain, 0)
			checkVector(t, "second derivatives with weights of 1", second, plainSecond, 0)
		}
	}
}

// TestPairWeightsRefused: weights of another number, that are no weights, or of a λ function without
// pairs.
func TestPairWeightsRefused(t *testing.T) {
	m := additive(t, "ndcg")
	grades := []float64{1, 0, 0}
	for want, c := range map[string]struct {
		l LambdaRank
		w PairWeights
	}{
		"found 1 weights":              {LambdaRank{Measure: m}, PairWeights{Better: []float64{1}}},
		"the weight -1 of document 2":  {LambdaRank{Measure: m}, PairWeights{Worse: []float64{1, -1, 1}}},
		"the weight NaN of document 1": {LambdaRank{Measure: m}, PairWeights{Worse: []float64{math.NaN(), 1, 1}}},
		"difference has none":          {LambdaRank{Measure: m, Kind: LambdaDifference}, PairWeights{Worse: []float64{1, 1, 1}}},
	} {
		_, err := c.l.BindWeighted(grades, c.w, rand.New(rand.NewPCG(1, 1)))
		wantError(t, want, err, want)
	}
}

// Claim: the derivative of a pair's cost by the difference of scores is −λ_ij, by central differences, for every
// function of the difference.
func TestCostsOfPairsHaveLambdaAsTheirDerivative(t *testing.T) {
	for name, law := range map[string]pairLaw{"logistic": newLogisticLaw(1.3, 0.2), "spring": springLaw{1}, "step": stepLaw{1}} {
		for _, lead := range []float64{-3, -0.4, 0.3, 0.9, 1.7} {
			const h = 1e-5
			lambda, scores, better := []float64{0, 0}, []float64{math.Abs(lead), 0}, 0
			if lead < 0 {
				better = 1 // the document at the second rank
			}
			law.add(0, lambda, []float64{0, math.Copysign(2, lead)}, scores, law.prepare(scores, make([]float64, 2)), 0, 2)
			if slope := 2 * (law.cost(lead+h) - law.cost(lead-h)) / (2 * h); math.Abs(slope+lambda[better]) > 1e-8 {
				t.Errorf("%s at %v: the slope is %v, expected %v", name, lead, slope, -lambda[better])
			}
		}
	}
}
