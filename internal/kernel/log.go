package kernel

import "github.com/listwise/listwise/internal/elementary"

// Log sets dst[i] = log(x[i]). The slices have the same length and may be the same slice. The error
// is below 0.9 units in the last place. Log returns −Inf for a zero, +Inf for +Inf, and NaN for a
// negative number or NaN.
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
