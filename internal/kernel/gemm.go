package kernel

// Gemm sets dst to the products of the row-major matrix x, rows × columns, with several vectors. w has the
// vectors, of columns elements each, one after the other; dst gets a row of rows results for each. It
// equals [Gemv] for one vector after the other, bit for bit, but is faster.
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

// GemmT adds Xᵀ·δ to grad for several vectors δ. delta has the vectors, of rows elements each, and grad
// the sums, of columns elements each, one after the other. It equals [GemvT] for one vector after the
// other, bit for bit.
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

// checkUnits reports whether there is a row and a vector, after making sure that the
// results, rows of each vector, are of as many vectors as there are.
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
