package kernel

import "math"

// Axpy adds a·x to y with one rounding per element. The slices have the same length.
func Axpy(a float64, x, y []float64) {
	mustMatch(len(y), len(x))
	axpy(a, x, y)
}

func axpyGo(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = math.FMA(a, v, y[i])
	}
}

// Add adds x to dst. The slices have the same length and may be the same slice.
func Add(dst, x []float64) {
	mustMatch(len(dst), len(x))
	add(dst, x)
}

func addGo(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += v
	}
}

// Scale multiplies x by a.
func Scale(a float64, x []float64) { scale(a, x) }

func scaleGo(a float64, x []float64) {
	for i := range x {
		x[i] *= a
	}
}
