package loss

import (
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/measure"
)

// alphaCase is a query and scores that stand apart.
func alphaCase(rng *rand.Rand) (grades, scores []float64) {
	grades = gradesOf(rng, 9)
	scores = make([]float64, len(grades))
	for i, place := range rng.Perm(len(scores)) {
		scores[i] = 0.4*float64(place) + 0.1*rng.Float64() - 1.5
	}
	return grades, scores
}

// TestAlphaIsTheGradientOfASquare: what alpha adds to λ is minus the gradient, by central
// differences, of what it adds to the value, which is ½αΣs²; under every λ function.
func TestAlphaIsTheGradientOfASquare(t *testing.T) {
	const alpha, h = 0.7, 1e-4
	rng := rand.New(rand.NewPCG(8, 1))
	grades, s := alphaCase(rng)
	for k := range lambdas {
		plain := LambdaRank{Measure: additive(t, "ndcg@5"), Kind: Lambda(k)}
		pulled := plain
		pulled.Alpha = alpha
		without, with := evaluate(t, plain, grades, s), evaluate(t, pulled, grades, s)
		square := 0.0
		for i, x := range s {
			square += alpha / 2 * x * x
			added := func(at float64) float64 {
				y := append([]float64(nil), s...)
				y[i] = at
				return evaluate(t, pulled, grades, y).value - evaluate(t, plain, grades, y).value
			}
			if got, want := with.lambda[i]-without.lambda[i], -(added(x+h)-added(x-h))/(2*h); !near(got, want, 1e-9) {
				t.Errorf("%v: alpha adds %v to λ[%d], differences of the value say %v", Lambda(k), got, i, want)
			}
		}
		if got := with.value - without.value; !near(got, square, 1e-12) {
			t.Errorf("%v: alpha adds %v to the value, want %v", Lambda(k), got, square)
		}
	}
}

// TestAlphaMakesTheJacobianPositiveDefinite: the smallest eigenvalue in a cell is more by
// alpha, for each λ function whose Jacobian is symmetric there, so that any alpha above 0 is
// enough; and Σλ is −αΣs.
func TestAlphaMakesTheJacobianPositiveDefinite(t *testing.T) {
	const alpha = 0.01
	rng := rand.New(rand.NewPCG(8, 2))
	for range 5 {
		grades, s := alphaCase(rng)
		sum := 0.0
		for _, x := range s {
			sum += x
		}
		for k := range lambdas {
			l := LambdaRank{Measure: additiveOrOther(t, "ndcg"), Kind: Lambda(k)}
			plain := DiagnoseField(bind(t, l, grades), s, 1e-5)
			l.Alpha = alpha
			pulled := DiagnoseField(bind(t, l, grades), s, 1e-5)
			if got := pulled.SmallestEigenvalue - plain.SmallestEigenvalue; !near(got, alpha, 1e-8) {
				t.Errorf("%v: alpha adds %v to the smallest eigenvalue, want %v", l.Kind, got, alpha)
			}
			if k := Lambda(k); k != LambdaDifference && !(plain.SmallestEigenvalue < 1e-9 && pulled.SmallestEigenvalue > alpha/2) {
				t.Errorf("%v: eigenvalues %v and %v, expected 0 and %v", k, plain.SmallestEigenvalue, pulled.SmallestEigenvalue, alpha)
			}
			if !near(pulled.LambdaSum, -alpha*sum, 1e-12) {
				t.Errorf("%v: λ sums to %v, want %v", l.Kind, pulled.LambdaSum, -alpha*sum)
			}
		}
	}
}

// TestAlphaDoesNotMendTies: where two documents change places λ jumps. Here both are better
// than the third, below them, and the one that comes to stand first is pushed harder by it:
// a step over the tie that is short enough goes backward under any alpha, so that none makes
// −λ monotone. RankNet's λ does not jump, and steps over the tie go forward.
func TestAlphaDoesNotMendTies(t *testing.T) {
	m := measure.MustParse("ndcg", measure.Standard)
	grades := []float64{2, 1, 0}
	along := func(l Loss, apart float64) float64 {
		b := bind(t, l, grades)
		x, y := []float64{apart, -apart, -1}, []float64{-apart, apart, -1}
		at, there := make([]float64, 3), make([]float64, 3)
		var scratch Scratch
		b.Eval(x, at, &scratch)
		b.Eval(y, there, &scratch)
		var sum float64
		for i := range x {
			sum += (at[i] - there[i]) * (x[i] - y[i])
		}
		return sum
	}
	for _, alpha := range []float64{0, 1, 100} {
		// The jump does not depend on the step's length, what alpha takes off is in
		// proportion to it.
		if got := along(LambdaRank{Measure: m, Alpha: alpha}, 1e-5); !(got > 0) {
			t.Errorf("alpha %v: the short step goes forward, %v", alpha, got)
		}
		if got := along(LambdaRank{Measure: m, Alpha: alpha}, 0.9); alpha > 0 && !(got < 0) {
			t.Errorf("alpha %v: the long step goes backward, %v", alpha, got)
		}
	}
	if got := along(RankNet{}, 1e-5); got > 0 {
		t.Errorf("RankNet: the short step goes backward, %v", got)
	}
}
