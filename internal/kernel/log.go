package kernel

import "github.com/listwise/listwise/internal/elementary"

// Log sets dst[i] = log(x[i]), for slices of the same length, which may be the
// same slice. The error is below 0.9 units in the last place. The logarithm of a
// zero is −Inf, of +Inf +Inf, of a negative number or NaN NaN.
func Log(dst, x []float64) {
	mustMatch(len(dst), len(x))
	logs(dst, x)
}

func logGo(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = elementary.Log(v)
	}
}
