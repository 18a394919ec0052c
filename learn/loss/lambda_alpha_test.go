package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
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

// TestAlphaOfADocument: with a ratio, the α of a document of grade g is alpha·ratio^g. λ loses
// α_i s_i, and the value gains ½Σα_i s_i². Second derivatives and the Jacobian's diagonal gain
// α_i, and its smallest eigenvalue grows by the least α_i or more. The ratio 1 changes no bit.
func TestAlphaOfADocument(t *testing.T) {
	const alpha, ratio = 0.3, 0.5
	rng := rand.New(rand.NewPCG(8, 3))
	grades, s := alphaCase(rng)
	for k := range lambdas {
		plain := LambdaRank{Measure: additive(t, "ndcg@5"), Kind: Lambda(k)}
		pulled, one, all := plain, plain, plain
		pulled.Alpha, pulled.AlphaRatio = alpha, ratio
		one.Alpha, one.AlphaRatio, all.Alpha = alpha, 1, alpha
		without, with := evaluate(t, plain, grades, s), evaluate(t, pulled, grades, s)
		value, least := without.value, alpha
		for i, g := range grades {
			of := alpha * math.Pow(ratio, g)
			value += of / 2 * s[i] * s[i]
			least = min(least, of)
			if got, want := with.lambda[i], without.lambda[i]-of*s[i]; !near(got, want, 1e-12) {
				t.Errorf("%v: λ of a document of grade %v is %v, want %v", Lambda(k), g, got, want)
			}
		}
		if !near(with.value, value, 1e-12) {
			t.Errorf("%v: value %v, want %v", Lambda(k), with.value, value)
		}
		if a, b := evaluate(t, one, grades, s), evaluate(t, all, grades, s); a.value != b.value || !slices.Equal(a.lambda, b.lambda) {
			t.Errorf("%v: the ratio 1 changes λ", Lambda(k))
		}
		before, after := DiagnoseField(bind(t, plain, grades), s, 1e-5), DiagnoseField(bind(t, pulled, grades), s, 1e-5)
		if grown := after.SmallestEigenvalue - before.SmallestEigenvalue; grown < least-1e-8 || grown > alpha+1e-8 {
			t.Errorf("%v: the smallest eigenvalue grows by %v, want %v to %v", Lambda(k), grown, least, alpha)
		}
		if second, ok := bind(t, pulled, grades).(Diagonal); ok {
			n := len(s)
			lambda, with, without := make([]float64, n), make([]float64, n), make([]float64, n)
			var scratch Scratch
			second.EvalSecond(s, lambda, with, &scratch)
			bind(t, plain, grades).(Diagonal).EvalSecond(s, lambda, without, &scratch)
			for i, g := range grades {
				if !near(with[i]-without[i], alpha*math.Pow(ratio, g), 1e-12) {
					t.Errorf("%v: a second derivative grows by %v at grade %v", Lambda(k), with[i]-without[i], g)
				}
			}
		}
	}
}

// TestAlphaRatioRefuses: a ratio that would do nothing, is no number or makes α infinite.
func TestAlphaRatioRefuses(t *testing.T) {
	m := additive(t, "ndcg@5")
	for want, l := range map[string]LambdaRank{
		"alpha is 0":              {Measure: m, AlphaRatio: 2},
		"finite positive number":  {Measure: m, Alpha: 1, AlphaRatio: -1},
		"alpharatio NaN":          {Measure: m, Alpha: 1, AlphaRatio: math.NaN()},
		"the α of grade 3 is inf": {Measure: m, Alpha: 1, AlphaRatio: 1e200},
	} {
		if _, err := l.Bind([]float64{0, 0, 3}, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, expected %q", l, err, want)
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
