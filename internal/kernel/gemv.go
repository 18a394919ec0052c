package kernel

import "math"

// Gemv sets dst[i] to the product of row i of the row-major matrix x, of len(w)
// columns and len(dst) rows, with w: all documents' scores under a linear scorer.
// Each score has the bits of [Dot32], so it does not depend on which documents
// are scored together.
func Gemv(dst []float64, x []float32, w []float64) {
	mustMatch(len(x), len(dst)*len(w))
	gemv(dst, x, w)
}

func gemvGo(dst []float64, x []float32, w []float64) {
	d := len(w)
	for i := range dst {
		dst[i] = dot32Go(x[i*d:(i+1)*d], w)
	}
}

// GemvT adds Xᵀ·lambda to grad, for the row-major matrix x of len(grad) columns and len(lambda) rows. It
// leads back from documents to weights. Every element of grad adds its products in the order of the rows,
// each with one rounding. So calls for consecutive parts of the rows give the same bits.
func GemvT(grad []float64, x []float32, lambda []float64) { GemvTBefore(grad, x, lambda, nil) }

// GemvTBefore is [GemvT] that also prefetches next, the matrix that will be read next:
// about as many bytes as x has, next being of any length. If next is nil, nothing is
// prefetched.
func GemvTBefore(grad []float64, x []float32, lambda []float64, next []float32) {
	mustMatch(len(x), len(grad)*len(lambda))
	if len(next) == 0 {
		next = x
	}
	if len(next) > 0 {
		gemvT(grad, x, lambda, &next[0])
	}
}

func gemvTGo(grad []float64, x []float32, lambda []float64) {
	d := len(grad)
	for i, l := range lambda {
		for j, v := range x[i*d : (i+1)*d] {
			grad[j] = math.FMA(l, float64(v), grad[j])
		}
	}
}
