//go:build arm64 && !noasm

package kernel

import "math"

// Every arm64 processor has NEON. The NEON loops of sums store the lanes, and Go code adds the
// lanes.

func dot(x, y []float64) float64 {
	var s lanes
	dotNEON((*[16]float64)(&s), x, y)
	return s.sum()
}

func dot32(x []float32, w []float64) float64 {
	var s [1]float64
	gemvNEON(s[:], x, w)
	return s[0]
}

func gemv(dst []float64, x []float32, w []float64) { gemvNEON(dst, x, w) }

func gemvT(grad []float64, x []float32, lambda []float64, _ *float32) { gemvTNEON(grad, x, lambda) }

func gemm(dst []float64, x []float32, w []float64, rows, columns int) {
	for len(dst) > 0 {
		gemvNEON(dst[:rows], x, w[:columns])
		dst, w = dst[rows:], w[columns:]
	}
}

func gemmT(grad []float64, x []float32, delta []float64, rows, columns int) {
	for len(delta) > 0 {
		gemvTNEON(grad[:columns], x, delta[:rows])
		grad, delta = grad[columns:], delta[rows:]
	}
}

func axpy(a float64, x, y []float64) { axpyNEON(a, x, y) }

func add(dst, x []float64) { addNEON(dst, x) }

func scale(a float64, x []float64) { scaleNEON(a, x) }

func adam(x, grad, m, v []float64, beta1, beta2, rate, epsilon float64) {
	adamNEON(x, grad, m, v, beta1, 1-beta1, beta2, 1-beta2, rate, epsilon)
}

func maximum(x []float64) float64 {
	var s [16]float64
	for i := range s {
		s[i] = math.Inf(-1)
	}
	maxNEON(&s, x)
	return maxGo(s[:])
}

func sum(x []float64) float64 {
	var s lanes
	sumNEON((*[16]float64)(&s), x)
	return s.sum()
}

func exp(dst, x []float64) { expNEON(dst, x) }

func expPlus(dst, x []float64, a float64, y []float64) { expPlusNEON(dst, x, a, y) }

func expSum(dst, x []float64, shift float64) float64 {
	dst = dst[:len(x)]
	expShiftNEON(dst, x, shift)
	return sum(dst)
}

// sumExp processes blocks of 128 elements. 128 is a multiple of the number of lanes, so blocks do
// not change the order of the additions.
func sumExp(x []float64, shift float64) float64 {
	var s lanes
	var block [128]float64
	for len(x) > 0 {
		n := min(len(x), len(block))
		expShiftNEON(block[:n], x[:n], shift)
		sumNEON((*[16]float64)(&s), block[:n])
		x = x[n:]
	}
	return s.sum()
}

func logs(dst, x []float64) { logNEON(dst, x) }

func softplus(dst, x []float64) { softplusNEON(dst, x) }

func logistic(dst, x []float64) { logisticNEON(dst, x) }

func logisticRow(a float64, e, grad []float64) (u float64, k int64, probSum float64) {
	var o odds
	logisticRowNEON(&o, a, e, grad)
	u, k = o.product()
	return u, k, o.probSum()
}

func slopeRow(a, c float64, e, grad []float64) float64 { return slopeRowGo(a, c, e, grad) }

func logisticRows(a, e, grad []float64, from []int32) (u float64, k int64) {
	var o odds
	left := factorsAtOnce
	for r, f := range from {
		o.sum = [8]float64{}
		left = logisticPaddedNEON(&o, a[r], &e[f], &grad[f], len(e)-RowPadding-int(f), left)
		a[r] = o.probSum()
	}
	o.normalise()
	u, k = o.product()
	return u, k
}

// suffixRows adds one row to another with vector instructions if rows have at least four elements.
func suffixRows(e []float64, width int) {
	if width < 4 {
		suffixRowsGo(e, width)
		return
	}
	for at := len(e) - 2*width; at >= 0; at -= width {
		addNEON(e[at:at+width], e[at+width:at+2*width])
	}
}
