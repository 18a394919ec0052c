// Package jacobi diagonalizes small symmetric matrices by Jacobi's method (Golub and Van Loan, Matrix Computations,
// 4th edition, section 8.5).
//
// Start reading at [Diagonalize]. The package must not import other packages of the module.
package jacobi

import "math"

// Diagonalize replaces the symmetric n×n matrix a, stored row by row, by the diagonal matrix of its eigenvalues, in no
// order. If vectors is an n×n matrix and not nil, column k becomes the eigenvector of the eigenvalue a[k·n+k]; they are
// orthonormal. The rotations are in cyclic order. The time is O(n³), for about ten sweeps over the matrix.
func Diagonalize(a []float64, n int, vectors []float64) {
	clear(vectors)
	for i := range vectors {
		if i%(n+1) == 0 {
			vectors[i] = 1
		}
	}
	const sweeps = 60 // about ten are enough; convergence is quadratic
	for range sweeps {
		var off, diagonal float64
		for i := range n {
			diagonal += float64(a[i*n+i] * a[i*n+i])
			for j := range i {
				off += float64(a[i*n+j] * a[i*n+j])
			}
		}
		if off <= 1e-34*diagonal || off == 0 {
			return
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(a, vectors, n, p, q)
			}
		}
	}
}

// rotate makes a[p][q] zero by a rotation in the plane of axes p and q.
func rotate(a, vectors []float64, n, p, q int) {
	apq := a[p*n+q]
	if apq == 0 {
		return
	}
	theta := (a[q*n+q] - a[p*n+p]) / (2 * apq)
	// t is the smaller root of t² + 2θt − 1: the tangent of the rotation's angle.
	t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(1+float64(theta*theta)))
	c := 1 / math.Sqrt(1+float64(t*t))
	s := t * c
	turn := func(x, y *float64) { *x, *y = float64(c**x)-float64(s**y), float64(s**x)+float64(c**y) }
	for k := range n {
		turn(&a[k*n+p], &a[k*n+q])
	}
	for k := range n {
		turn(&a[p*n+k], &a[q*n+k])
	}
	if vectors != nil {
		for k := range n {
			turn(&vectors[k*n+p], &vectors[k*n+q])
		}
	}
	a[p*n+q], a[q*n+p] = 0, 0
}
