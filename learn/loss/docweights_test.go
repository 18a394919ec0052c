package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// The Hessian of the weighted hinges times a vector is what differences of λ give, and their
// cutting planes are those of copies of the documents.
func TestWeightedRankSVM(t *testing.T) {
	grades, weights := []float64{2, 0, 1, 0, 1, 2}, []float64{1, 3, 2, 1, 2, 3}
	s, v := []float64{0.31, 0.1, -0.4, 0.83, 0.57, -0.2}, []float64{1, -2, 0.5, 3, -1, 0.25}
	var copiedGrades, copiedScores []float64
	for i, w := range weights {
		for range int(w) {
			copiedGrades, copiedScores = append(copiedGrades, grades[i]), append(copiedScores, s[i])
		}
	}
	const step = 1e-6
	for _, l := range []RankSVM{{Squared: true}, {Squared: true, Mean: true}, {Smoothing: 0.7, Weight: 3}, {}, {Mean: true}} {
		b, err := l.BindDocuments(grades, weights, nil)
		if err != nil {
			t.Fatal(err)
		}
		lambda := func(by float64) []float64 {
			at, down := make([]float64, len(s)), make([]float64, len(s))
			for i := range at {
				at[i] = s[i] + by*v[i]
			}
			b.Eval(at, down, new(Scratch))
			return down
		}
		if second, ok := b.(SecondOrder); ok {
			c, got, want := second.Curvature(), make([]float64, len(s)), make([]float64, len(s))
			c.Eval(s, make([]float64, len(s)), new(Scratch))
			c.Times(got, v)
			above, below := lambda(step), lambda(-step)
			for i := range want {
				want[i] = (below[i] - above[i]) / (2 * step)
			}
			checkVector(t, "Hessian times a vector", got, want, 1e-7)
		}
		plane, ok := b.(CuttingPlane)
		if !ok {
			continue
		}
		copies, err := l.Bind(copiedGrades, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, want := plane.Support(s, nil, new(Scratch)), copies.(CuttingPlane).Support(copiedScores, nil, new(Scratch))
		if math.Abs(got-want) > 1e-12*want {
			t.Errorf("the plane begins at %v, that of copies at %v", got, want)
		}
	}
}

// A document's weight multiplies its part of XE-NDCG's target, by the definition, with the γ that
// documents without weights get.
func TestWeightedXENDCG(t *testing.T) {
	grades, weights, s := []float64{2, 0, 1}, []float64{0.5, 3, 2}, []float64{0.3, -1, 0.8}
	b, err := XENDCG{}.BindDocuments(grades, weights, rand.New(rand.NewPCG(5, 5)))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	target, exp := make([]float64, 3), make([]float64, 3)
	var sumTarget, sumExp, want float64
	for i := range grades {
		target[i], exp[i] = weights[i]*(math.Exp2(grades[i])-rng.Float64()), weights[i]*math.Exp(s[i])
		sumTarget, sumExp = sumTarget+target[i], sumExp+exp[i]
	}
	wantLambda := make([]float64, 3)
	for i := range grades {
		want -= target[i] / sumTarget * math.Log(math.Exp(s[i])/sumExp)
		wantLambda[i] = target[i]/sumTarget - exp[i]/sumExp
	}
	lambda := make([]float64, 3)
	if got := b.Eval(s, lambda, new(Scratch)); math.Abs(got-want) > 1e-12 {
		t.Errorf("loss is %v, want %v", got, want)
	}
	checkVector(t, "λ", lambda, wantLambda, 1e-12)
}

// A document's weight in LambdaRank is its weight in pairs, be it the better or the worse.
func TestWeightedLambdaRank(t *testing.T) {
	grades, weights, s := []float64{2, 0, 1, 0}, []float64{0.5, 3, 2, 1}, []float64{0.3, -1, 0.8, 0.1}
	l := LambdaRank{Measure: additive(t, "ndcg")}
	lambdas := make([][]float64, 2)
	for k, bind := range []func(rng *rand.Rand) (QueryLoss, error){
		func(rng *rand.Rand) (QueryLoss, error) { return l.BindDocuments(grades, weights, rng) },
		func(rng *rand.Rand) (QueryLoss, error) {
			return l.BindWeighted(grades, PairWeights{weights, weights}, rng)
		},
	} {
		b, err := bind(rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		lambdas[k] = make([]float64, len(s))
		b.Eval(s, lambdas[k], new(Scratch))
	}
	checkVector(t, "λ", lambdas[0], lambdas[1], 0)
}

// Options with which a loss takes no weights of documents are known before it is bound, and
// refused then.
func TestOptionsWithoutWeights(t *testing.T) {
	weights := []float64{1, 2, 1}
	for _, l := range []DocumentWeighted{ListNet{Top: 2}, LambdaRank{Kind: LambdaDifference, Measure: measure.MustParse("ndcg", measure.Convention{})}} {
		if _, err := l.BindDocuments([]float64{1, 0, 0}, weights, rand.New(rand.NewPCG(1, 1))); err == nil || WeighsDocuments(l) {
			t.Errorf("%#v takes weights: %v, error %v", l, WeighsDocuments(l), err)
		}
	}
	if WeighsDocuments(ListMLE{}) || WeighsDocuments(nil) || !WeighsDocuments(ListNet{}) {
		t.Error("WeighsDocuments is not what losses say")
	}
}
