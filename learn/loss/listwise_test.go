package loss

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What the tests of the listwise losses share.

func mustBind(t testing.TB, l Loss, grades []float64, seed uint64) QueryLoss {
	t.Helper()
	b, err := l.Bind(grades, rand.New(rand.NewPCG(seed, 5)))
	if err != nil {
		t.Fatalf("%+v: %v", l, err)
	}
	return b
}

// evaluated returns the value and the gradient.
func evaluated(b QueryLoss, s []float64) (value float64, grad []float64) {
	var scratch Scratch
	grad = make([]float64, len(s))
	value = b.Eval(s, grad, &scratch)
	for i := range grad {
		grad[i] = -grad[i]
	}
	return value, grad
}

// differences returns the gradient of f by differences of fourth order.
func differences(f func([]float64) float64, s []float64) []float64 {
	const h = 1e-3
	grad := make([]float64, len(s))
	x := append([]float64(nil), s...)
	at := func(i int, d float64) float64 {
		x[i] = s[i] + d
		v := f(x)
		x[i] = s[i]
		return v
	}
	for i := range s {
		grad[i] = (8*(at(i, h)-at(i, -h)) - (at(i, 2*h) - at(i, -2*h))) / (12 * h)
	}
	return grad
}

// againstReference compares a bound's value and gradient with a reference value and its
// differences.
func againstReference(t *testing.T, what string, b QueryLoss, f func([]float64) float64, s []float64) {
	t.Helper()
	value, grad := evaluated(b, s)
	if want := f(s); !near(value, want, 1e-11) {
		t.Errorf("%s at %v: %v, want %v", what, s, value, want)
	}
	checkVector(t, what+": gradient", grad, differences(f, s), 1e-8)
}

// scoresOf returns scores to test with: spread out little and much, tied, equal,
// and one document far above or below the others.
func scoresOf(rng *rand.Rand, n int) [][]float64 {
	all := [][]float64{normals(rng, n, 0.3), normals(rng, n, 4), make([]float64, n)}
	tied, high, low, wide := make([]float64, n), normals(rng, n, 1), normals(rng, n, 1), make([]float64, n)
	for i := range n {
		tied[i] = float64(rng.IntN(2))
		wide[i] = 700 * float64(1-2*rng.IntN(2))
	}
	high[rng.IntN(n)] = 45
	low[rng.IntN(n)] = -45
	return append(all, tied, high, low, wide)
}

// sequences calls f with every sequence of k of n documents.
func sequences(n, k int, f func(y []int)) {
	var y []int
	used := make([]bool, n)
	var extend func()
	extend = func() {
		if len(y) == k {
			f(y)
			return
		}
		for i := range n {
			if !used[i] {
				used[i] = true
				y = append(y, i)
				extend()
				y = y[:len(y)-1]
				used[i] = false
			}
		}
	}
	extend()
}

// logPlackettLuce returns the log probability that the documents y are picked
// first, in this order.
func logPlackettLuce(s []float64, y []int) float64 {
	picked := make([]bool, len(s))
	var logP float64
	for _, d := range y {
		top, sum := math.Inf(-1), 0.0
		for i, v := range s {
			if !picked[i] {
				top = max(top, v)
			}
		}
		for i, v := range s {
			if !picked[i] {
				sum += math.Exp(v - top)
			}
		}
		logP += s[d] - top - math.Log(sum)
		picked[d] = true
	}
	return logP
}

// listwiseLosses is one of each.
func listwiseLosses() map[string]Loss {
	return map[string]Loss{
		"listnet": ListNet{}, "listnet/top2": ListNet{Top: 2}, "listnet/top3": ListNet{Top: 3}, "listnet/whole": ListNet{Top: 9},
		"listmle": ListMLE{}, "listmle/average": ListMLE{Ties: MLETiesAverage},
		"listmle/input": ListMLE{Ties: MLETiesInput}, "listmle/group": ListMLE{Ties: MLETiesGroup},
		"rankcosine": RankCosine{}, "xendcg": XENDCG{}, "approxndcg": ApproxNDCG{}, "softrank": SoftRank{},
		"lambdaloss/ndcg1": LambdaLoss{Weights: NDCGLoss1}, "lambdaloss/ndcg2": LambdaLoss{Weights: NDCGLoss2},
		"lambdaloss/ndcg2++": LambdaLoss{}, "lambdaloss/lambdarank": LambdaLoss{Weights: LambdaRankWeights},
	}
}

// TestListwiseLossesOfOneGrade: a query whose documents all have one grade, a
// single document and none at all are Nothing to every listwise loss.
func TestListwiseLossesOfOneGrade(t *testing.T) {
	for name, l := range listwiseLosses() {
		for _, grades := range [][]float64{{}, {0}, {3}, {0, 0}, {2, 2, 2, 2, 2}} {
			if b := mustBind(t, l, grades, 1); b != Nothing {
				t.Errorf("%s binds grades %v to %v", name, grades, b)
			}
		}
	}
}

// TestListwiseLossesAtTheLargestScores: values and λ are numbers at any scores
// that a float64 can hold.
func TestListwiseLossesAtTheLargestScores(t *testing.T) {
	grades := []float64{2, 0, 1, 0, 4, 1, 0, 3}
	for name, l := range listwiseLosses() {
		rng := rand.New(rand.NewPCG(1, 2))
		b := mustBind(t, l, grades, 1)
		for range 20 {
			s := make([]float64, len(grades))
			for i := range s {
				s[i] = [...]float64{-math.MaxFloat64, -1e300, -700, 0, 5e-324, 700, math.MaxFloat64}[rng.IntN(7)]
			}
			v, grad := evaluated(b, s)
			for _, d := range append(grad, v) {
				if math.IsNaN(d) || math.IsInf(d, 0) {
					t.Errorf("%s at %v: loss %v, gradient %v", name, s, v, grad)
					break
				}
			}
		}
	}
}
