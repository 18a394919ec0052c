package optimize

import (
	"fmt"
	"math"
)

// SolveDefinite solves A·x = b for a symmetric positive definite A by Cholesky's decomposition A = L·Lᵀ. a has the
// rows of A, one after the other. Only its lower triangle is read. a is overwritten with L, and b with x. It returns
// an error if A is not positive definite, or so nearly singular that x would have no accurate digits.
func SolveDefinite(a, b []float64) error {
	n := len(b)
	if len(a) != n*n {
		panic(fmt.Sprintf("optimize: a matrix of %d numbers for %d unknowns", len(a), n))
	}
	for i := range n {
		row := a[i*n : i*n+n]
		scale := row[i]
		for j := range i {
			other := a[j*n : j*n+n]
			row[j] = (row[j] - product(row[:j], other)) / other[j]
		}
		pivot := row[i] - product(row[:i], row)
		if !(pivot > float64(n)*0x1p-52*scale) {
			return fmt.Errorf("found the pivot %g in row %d of %d of the matrix, expected a positive one", pivot, i+1, n)
		}
		row[i] = math.Sqrt(pivot)
	}
	for i := range n { // L·y = b
		row := a[i*n : i*n+n]
		b[i] = (b[i] - product(b[:i], row)) / row[i]
	}
	for i := n - 1; i >= 0; i-- { // Lᵀ·x = y
		b[i] /= a[i*n+i]
		for j := range i {
			b[j] -= float64(a[i*n+j] * b[i]) // rounded: no fused multiply-add
		}
	}
	return nil
}

// product returns Σ x_i·y_i over the elements of x.
func product(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}
