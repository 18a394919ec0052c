package kernel

// Gemm sets dst to the products of the row-major matrix x, of rows × columns, with
// several vectors of columns elements, which stand in w one after the other: for
// each vector rows results, of which dst is as long a row. It is what [Gemv] gives
// for one vector after the other, with its bits, in less time.
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

// GemmT adds Xᵀ·δ to grad for several vectors δ of rows elements, which stand in
// delta one after the other as the sums, of columns elements each, do in grad. It
// is what [GemvT] gives for one vector after the other, with its bits.
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
