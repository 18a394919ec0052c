package kernel

// Codes sets dst[i] to the code of x[i]: the number of cuts that are less than x[i], and 0 for NaN.
// cuts has at most 255 elements in ascending order, none of them NaN.
func Codes(dst []uint8, x, cuts []float32) {
	mustMatch(len(dst), len(x))
	if len(cuts) > 255 {
		mustMatch(len(cuts), 255)
	}
	codes(dst, x, cuts)
}

// codesGo is a binary search without branches, because the branches would be unpredictable.
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
