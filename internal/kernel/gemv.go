package kernel

import "math"

// Gemv sets dst to x·w, the scores of all documents under a linear scorer. x is a row-major matrix
// of len(dst) rows and len(w) columns. Each score has the same bits as the result of [Dot32], so it
// does not depend on the other rows.
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

// GemvT adds Xᵀ·lambda to grad. If lambda has the derivatives of a loss by the scores of a linear
// scorer, the product is the gradient by the weights. x is a row-major matrix of len(lambda) rows
// and len(grad) columns. The products are added to an element of grad in the order of the rows,
// each with one rounding. So calls for consecutive blocks of rows give the same bits as one call.
func GemvT(grad []float64, x []float32, lambda []float64) { GemvTBefore(grad, x, lambda, nil) }

// GemvTBefore computes [GemvT] and also prefetches the start of next, the matrix that the caller
// reads afterwards. next may have any length. GemvTBefore prefetches about as many bytes as x has,
// or nothing if next is empty.
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
