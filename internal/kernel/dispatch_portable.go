//go:build (!amd64 && !arm64) || noasm

package kernel

func dot(x, y []float64) float64 {
	return dotGo(x, y)
}

func dot32(x []float32, w []float64) float64 {
	return dot32Go(x, w)
}

func gemv(dst []float64, x []float32, w []float64) { gemvGo(dst, x, w) }

func gemvT(grad []float64, x []float32, lambda []float64, _ *float32) { gemvTGo(grad, x, lambda) }

func gemm(dst []float64, x []float32, w []float64, rows, columns int) {
	gemmGo(dst, x, w, rows, columns)
}

func gemmT(grad []float64, x []float32, delta []float64, rows, columns int) {
	gemmTGo(grad, x, delta, rows, columns)
}

func axpy(a float64, x, y []float64) { axpyGo(a, x, y) }

func add(dst, x []float64) { addGo(dst, x) }

func scale(a float64, x []float64) { scaleGo(a, x) }

func adam(x, grad, m, v []float64, beta1, beta2, rate, epsilon float64) {
	adamGo(x, grad, m, v, beta1, beta2, rate, epsilon)
}

func maximum(x []float64) float64 {
	return maxGo(x)
}

func sum(x []float64) float64 {
	return sumGo(x)
}

func exp(dst, x []float64) { expGo(dst, x) }

func expPlus(dst, x []float64, a float64, y []float64) { expPlusGo(dst, x, a, y) }

func expSum(dst, x []float64, shift float64) float64 {
	return expSumGo(dst, x, shift)
}

func sumExp(x []float64, shift float64) float64 {
	return sumExpGo(x, shift)
}

func logs(dst, x []float64) { logGo(dst, x) }

func softplus(dst, x []float64) { softplusGo(dst, x) }

func logistic(dst, x []float64) { logisticGo(dst, x) }

func logisticRow(a float64, e, grad []float64) (u float64, k int64, probSum float64) {
	return logisticRowGo(a, e, grad)
}

func slopeRow(a, c float64, e, grad []float64) float64 { return slopeRowGo(a, c, e, grad) }

func logisticRows(a, e, grad []float64, from []int32) (u float64, k int64) {
	return logisticRowsGo(a, e, grad, from)
}

func suffixRows(e []float64, width int) { suffixRowsGo(e, width) }
