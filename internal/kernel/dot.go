package kernel

// Dot returns Σ x[i]·y[i]. The slices have the same length.
func Dot(x, y []float64) float64 {
	mustMatch(len(y), len(x))
	return dot(x, y)
}

func dotGo(x, y []float64) float64 {
	var s lanes
	s.multiplyAdd(x, y)
	return s.sum()
}

// Dot32 returns Σ x[i]·w[i] with x widened to float64. The slices have the same length.
func Dot32(x []float32, w []float64) float64 {
	mustMatch(len(w), len(x))
	return dot32(x, w)
}

// dot32Go uses eight lanes, so that the lanes of four rows of a matrix fit the registers. Eight
// elements at a time go to all lanes. If four or more elements remain, four go to the first four
// lanes. The last one to three elements are padded with zeros and go to the last four lanes.
func dot32Go(x []float32, w []float64) float64 {
	var s [8]float64
	for len(x) >= 8 {
		fmaTo(s[:], x[:8], w[:8])
		x, w = x[8:], w[8:]
	}
	if len(x) >= 4 {
		fmaTo(s[:4], x[:4], w[:4])
		x, w = x[4:], w[4:]
	}
	if len(x) > 0 {
		fmaTo(s[4:4+len(x)], x, w)
		for l := 4 + len(x); l < 8; l++ {
			s[l] += 0
		}
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// Lanes32 is the number of lanes of [Dot32].
const Lanes32 = 8

// Lane32 returns the lane, from 0, to which [Dot32] adds product i of n. A product of 0 changes no
// lane. So the sum over the nonzero elements of a sparse vector has the bits of Dot32, if the
// caller adds each product to its lane, in order.
func Lane32(i, n int) int {
	rest := n % Lanes32
	switch at := i - (n - rest); {
	case at < 0:
		return i % Lanes32
	case rest < Lanes32/2:
		return at + Lanes32/2
	default:
		return at
	}
}
