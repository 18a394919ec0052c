package optimize

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// SolveDefinite gives what gonum gives, for matrices of many sizes.
func TestSolveDefinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 30 {
		if n == 0 {
			continue
		}
		g := mat.NewDense(n+2, n, nil)
		b := make([]float64, n)
		for i := range n + 2 {
			for j := range n {
				g.Set(i, j, rng.NormFloat64())
			}
		}
		for j := range b {
			b[j] = rng.NormFloat64()
		}
		var a mat.Dense
		a.Mul(g.T(), g)
		var want mat.VecDense
		if err := want.SolveVec(&a, mat.NewVecDense(n, b)); err != nil {
			t.Fatal(err)
		}
		rows := append([]float64(nil), a.RawMatrix().Data...)
		for i := range n {
			for j := i + 1; j < n; j++ {
				rows[i*n+j] = math.NaN() // must not be read
			}
		}
		if err := SolveDefinite(rows, b); err != nil {
			t.Fatal(err)
		}
		for j := range b {
			if math.Abs(b[j]-want.AtVec(j)) > 1e-7*(1+mat.Norm(&want, 2)) {
				t.Errorf("n = %d: x[%d] is %v, want %v", n, j, b[j], want.AtVec(j))
			}
		}
	}
}

// A matrix that is singular, indefinite or no matrix of numbers is refused.
func TestSolveDefiniteRefuses(t *testing.T) {
	for _, a := range [][]float64{{0}, {-1}, {math.NaN()}, {1, 1, 1, 1}, {1, 2, 2, 1}} {
		if err := SolveDefinite(a, make([]float64, int(math.Sqrt(float64(len(a)))))); err == nil {
			t.Errorf("%v was accepted", a)
		}
	}
}
