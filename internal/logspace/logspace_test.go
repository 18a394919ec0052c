package logspace

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 4e-15*max(math.Abs(a), math.Abs(b))
}

// TestScalars compares with the definitions where these are precise, and with
// their limits far out.
func TestScalars(t *testing.T) {
	for x := -30.0; x <= 30; x += 0.37 {
		if got, want := Softplus(x), math.Log1p(math.Exp(x)); !near(got, want) {
			t.Errorf("Softplus(%v) = %v, want %v", x, got, want)
		}
		p, q := Bernoulli(x)
		if got := Logistic(x); !near(got, p) || !near(p, 1/(1+math.Exp(-x))) || !near(q, 1/(1+math.Exp(x))) {
			t.Errorf("at %v the logistic function is %v, p and q are %v and %v", x, got, p, q)
		}
		if got, want := AddExp(x, 0.5), math.Log(math.Exp(x)+math.Exp(0.5)); math.Abs(got-want) > 1e-14 {
			t.Errorf("AddExp(%v, 0.5) = %v, want %v", x, got, want)
		}
	}
	if Softplus(800) != 800 || Softplus(-700) != math.Exp(-700) || Logistic(-700) != math.Exp(-700) || Logistic(800) != 1 {
		t.Error("far out the functions are not their limits")
	}
	if AddExp(math.Inf(-1), math.Inf(-1)) != math.Inf(-1) || AddExp(1000, 1000) != 1000+math.Ln2 {
		t.Error("AddExp of extremes")
	}
}

// TestRunningSums compares running sums from either end, and the softmax, with
// sums of exponentials.
func TestRunningSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 20)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	x[0], x[7] = math.Inf(-1), math.Inf(-1)
	prefix, suffix := make([]float64, len(x)), make([]float64, len(x))
	PrefixLogSumExp(prefix, x)
	SuffixLogSumExp(suffix, x)
	sum := func(x []float64) (total float64) {
		for _, v := range x {
			total += math.Exp(v)
		}
		return total
	}
	for j := range x {
		if !near(math.Exp(prefix[j]), sum(x[:j+1])) || !near(math.Exp(suffix[j]), sum(x[j:])) {
			t.Errorf("%d: sums %v and %v, want %v and %v", j, math.Exp(prefix[j]), math.Exp(suffix[j]), sum(x[:j+1]), sum(x[j:]))
		}
	}
	p := make([]float64, len(x))
	if got := Softmax(p, x); !near(math.Exp(got), sum(x)) {
		t.Errorf("log-sum-exp %v, want %v", got, math.Log(sum(x)))
	}
	for i, v := range p {
		if want := math.Exp(x[i]) / sum(x); math.Abs(v-want) > 1e-15 {
			t.Errorf("probability %d is %v, want %v", i, v, want)
		}
	}
}
