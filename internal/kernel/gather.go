package kernel

// Gather sets dst[i] = scale·s[docs[i]].
func Gather[T uint16 | int32](dst, s []float64, docs []T, scale float64) {
	dst = dst[:len(docs)]
	for i, d := range docs {
		dst[i] = scale * s[d]
	}
}

// Scatter sets s[docs[i]] = scale·x[i].
func Scatter(s, x []float64, docs []int32, scale float64) {
	x = x[:len(docs)]
	for i, d := range docs {
		s[d] = scale * x[i]
	}
}

// Fill sets all elements of x to v.
func Fill(x []float64, v float64) {
	for i := range x {
		x[i] = v
	}
}
