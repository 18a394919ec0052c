package jacobi

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/internal/random"
)

// Claim: eigenvectors are orthonormal, and with the eigenvalues they give the matrix again. This holds for singular
// matrices, too.
func TestDiagonalizeGivesTheMatrixAgain(t *testing.T) {
	rng := random.Stream(1, "jacobi", "")
	for n := 1; n <= 12; n++ {
		rank := (n + 1) / 2
		a := make([]float64, n*n)
		for range rank {
			x := make([]float64, n)
			for i := range x {
				x[i] = random.Normal(rng)
			}
			for i := range n {
				for j := range n {
					a[i*n+j] += x[i] * x[j]
				}
			}
		}
		d, v := slices.Clone(a), make([]float64, n*n)
		Diagonalize(d, n, v)
		for i := range n {
			for j := range n {
				again, product := 0.0, 0.0
				for k := range n {
					again += v[i*n+k] * d[k*n+k] * v[j*n+k]
					product += v[k*n+i] * v[k*n+j]
				}
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(again-a[i*n+j]) > 1e-12*float64(n) || math.Abs(product-want) > 1e-12 {
					t.Fatalf("n = %d, element %d, %d: %v and %v, want %v and %v", n, i, j, again, product, a[i*n+j], want)
				}
			}
		}
	}
}
