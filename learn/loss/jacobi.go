package loss

import (
	"math"
	"slices"
)

// symmetricEigenvalues returns the eigenvalues of the symmetric n×n matrix a, row
// by row, in ascending order, and destroys a. It is Jacobi's method with rotations
// in cyclic order (Golub and Van Loan, Matrix Computations, section 8.5): simple,
// accurate, and fast enough for the few dozen documents of a [FieldDiagnosis].
func symmetricEigenvalues(a []float64, n int) []float64 {
	const sweeps = 60 // some ten are enough; convergence is quadratic
	for range sweeps {
		var off, diagonal float64
		for i := range n {
			diagonal += float64(a[i*n+i] * a[i*n+i])
			for j := range i {
				off += float64(a[i*n+j] * a[i*n+j])
			}
		}
		if off <= 1e-34*diagonal || off == 0 {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(a, n, p, q)
			}
		}
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = a[i*n+i]
	}
	slices.Sort(values)
	return values
}

// rotate makes a[p][q] zero by a rotation in the plane of p and q.
func rotate(a []float64, n, p, q int) {
	apq := a[p*n+q]
	if apq == 0 {
		return
	}
	theta := (a[q*n+q] - a[p*n+p]) / (2 * apq)
	// The smaller root of t² + 2θt − 1, the tangent of the angle.
	t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(1+float64(theta*theta)))
	c := 1 / math.Sqrt(1+float64(t*t))
	s := t * c
	for k := range n {
		x, y := a[k*n+p], a[k*n+q]
		a[k*n+p], a[k*n+q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
	for k := range n {
		x, y := a[p*n+k], a[q*n+k]
		a[p*n+k], a[q*n+k] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
	a[p*n+q], a[q*n+p] = 0, 0
}
