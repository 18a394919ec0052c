package kernel

// Codes sets dst[i] to the number of cuts below x[i], 0 for NaN. There are at most 255 cuts,
// in ascending order, none NaN.
func Codes(dst []uint8, x, cuts []float32) {
	mustMatch(len(dst), len(x))
	if len(cuts) > 255 {
		mustMatch(len(cuts), 255)
	}
	codes(dst, x, cuts)
}

// codesGo searches without branches, which no processor could predict.
func codesGo(dst []uint8, x, cuts []float32) {
	if len(cuts) == 0 {
		clear(dst)
		return
	}
	dst = dst[:len(x)]
	for i, v := range x {
		at := 0
		for n := len(cuts); n > 1; {
			half := n >> 1
			below := 0
			if cuts[at+half-1] < v {
				below = 1
			}
			at += half & -below
			n -= half
		}
		last := 0
		if cuts[at] < v {
			last = 1
		}
		dst[i] = uint8(at + last)
	}
}
