package kernel

// Dot returns Σ x[i]·y[i], for slices of the same length.
func Dot(x, y []float64) float64 {
	mustMatch(len(y), len(x))
	return dot(x, y)
}

func dotGo(x, y []float64) float64 {
	var s lanes
	multiplyAdd(&s, x, y)
	return s.sum()
}

// Dot32 returns Σ x[i]·w[i] with x widened to float64, for slices of the same
// length.
func Dot32(x []float32, w []float64) float64 {
	mustMatch(len(w), len(x))
	return dot32(x, w)
}

func dot32Go(x []float32, w []float64) float64 {
	var s lanes
	multiplyAdd(&s, x, w)
	return s.sum()
}
