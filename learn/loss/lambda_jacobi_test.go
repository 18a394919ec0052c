package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestEigenvalues compares with gonum, and with matrices whose eigenvalues are
// known: the path's Laplacian has 2 − 2cos(πk/n).
func TestEigenvalues(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 2, 3, 10, 40} {
		a := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				a[i*n+j] = rng.NormFloat64()
				a[j*n+i] = a[i*n+j]
			}
		}
		var e mat.EigenSym
		if !e.Factorize(mat.NewSymDense(n, append([]float64(nil), a...)), false) {
			t.Fatal("gonum finds no eigenvalues")
		}
		want := e.Values(nil)
		checkVector(t, "random", symmetricEigenvalues(a, n), want, 1e-12)
	}
	const n = 12
	path, want := make([]float64, n*n), make([]float64, n)
	for i := range n {
		want[i] = 2 - 2*math.Cos(math.Pi*float64(i)/n)
		if i > 0 {
			path[i*n+i]++
			path[(i-1)*n+i-1]++
			path[i*n+i-1], path[(i-1)*n+i] = -1, -1
		}
	}
	checkVector(t, "path", symmetricEigenvalues(path, n), want, 1e-13)
	checkVector(t, "zero", symmetricEigenvalues(make([]float64, 4), 2), []float64{0, 0}, 0)
}
