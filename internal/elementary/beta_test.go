package elementary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/listwise/listwise/internal/testing/numtest"
)

// binomialTail returns P(X ≥ k) of n tosses with probability x, in 256 bits: I_x(k, n−k+1).
func binomialTail(n, k int, x float64) float64 {
	sum := numtest.Big(0)
	miss := new(big.Float).Sub(numtest.Big(1), numtest.Big(x))
	for i := k; i <= n; i++ {
		term := new(big.Float).SetPrec(256).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		for range i {
			term.Mul(term, numtest.Big(x))
		}
		for range n - i {
			term.Mul(term, miss)
		}
		sum.Add(sum, term)
	}
	v, _ := sum.Float64()
	return v
}

// Claim: for whole numbers the function is the binomial distribution's tail.
func TestBetaIsTheBinomialTail(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		n := 1 + r.IntN(120)
		k := 1 + r.IntN(n)
		x := r.Float64()
		got, want := Beta(float64(k), float64(n-k+1), x), binomialTail(n, k, x)
		if off := math.Abs(got - want); !(off <= 2e-12*want || off < 1e-15) {
			t.Errorf("I_%v(%d, %d) = %v, want %v", x, k, n-k+1, got, want)
		}
	}
}

// Claim: the function and its inverse are gonum's, for the arguments of Student's distribution
// and others, and the inverse inverts it.
func TestBetaAgainstGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 3000 {
		a, b, x := 0.5+200*r.Float64(), 0.5+20*r.Float64(), r.Float64()
		if i%2 == 0 {
			a, b = 0.5, float64(1+r.IntN(4000))/2
			x *= x
		}
		got, want := Beta(a, b, x), mathext.RegIncBeta(a, b, x)
		if off := math.Abs(got - want); !(off <= 1e-10*want || off < 1e-14) {
			t.Errorf("I_%v(%v, %v) = %v, want %v", x, a, b, got, want)
		}
		p := r.Float64()
		y := BetaInverse(a, b, p)
		if back := Beta(a, b, y); !(math.Abs(back-p) <= 1e-11) {
			t.Errorf("I(%v, %v) at the inverse %v of %v is %v", a, b, y, p, back)
		}
	}
	for _, c := range [][3]float64{{0, 1, 0.5}, {1, -1, 0.5}, {1, 1, -0.1}, {1, 1, 1.1}, {math.NaN(), 1, 0.5}, {1, 1, math.NaN()}} {
		if v, w := Beta(c[0], c[1], c[2]), BetaInverse(c[0], c[1], c[2]); v == v || w == w {
			t.Errorf("Beta and BetaInverse of %v are %v and %v, want NaN", c, v, w)
		}
	}
}
