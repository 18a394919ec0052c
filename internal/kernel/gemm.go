package kernel

// Gemm multiplies the row-major matrix x, rows × columns, by several vectors. w has the vectors one
// after the other, columns elements each. dst gets the results in the same order, rows elements
// each. The results have the same bits as calls of [Gemv] for each vector, but Gemm is faster.
func Gemm(dst []float64, x []float32, w []float64, rows, columns int) {
	mustMatch(len(x), rows*columns)
	if checkUnits(len(dst), rows, len(w), columns) {
		gemm(dst, x, w, rows, columns)
	}
}

func gemmGo(dst []float64, x []float32, w []float64, rows, columns int) {
	for len(dst) > 0 {
		gemvGo(dst[:rows], x, w[:columns])
		dst, w = dst[rows:], w[columns:]
	}
}

// GemmT adds Xᵀ·δ to grad for several vectors δ. delta has the vectors one after the other, rows
// elements each. grad has the sums in the same order, columns elements each. The results have the
// same bits as calls of [GemvT] for each vector.
func GemmT(grad []float64, x []float32, delta []float64, rows, columns int) {
	mustMatch(len(x), rows*columns)
	if checkUnits(len(delta), rows, len(grad), columns) {
		gemmT(grad, x, delta, rows, columns)
	}
}

func gemmTGo(grad []float64, x []float32, delta []float64, rows, columns int) {
	for len(delta) > 0 {
		gemvTGo(grad[:columns], x, delta[:rows])
		grad, delta = grad[columns:], delta[rows:]
	}
}

// checkUnits reports whether there is at least one row and one vector. It panics unless results is
// a multiple of rows and elements is the same multiple of columns. The multiple is the number of
// vectors.
func checkUnits(results, rows, elements, columns int) bool {
	if rows == 0 {
		mustMatch(results, 0)
		return false
	}
	units := results / rows
	mustMatch(results, units*rows)
	mustMatch(elements, units*columns)
	return units > 0
}
