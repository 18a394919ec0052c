package kernel

// Dot returns Σ x[i]·y[i], for slices of the same length.
func Dot(x, y []float64) float64 {
	mustMatch(len(y), len(x))
	return dot(x, y)
}

func dotGo(x, y []float64) float64 {
	var s lanes
	s.multiplyAdd(x, y)
	return s.sum()
}

// Dot32 returns Σ x[i]·w[i] with x widened to float64, for slices of the same
// length.
func Dot32(x []float32, w []float64) float64 {
	mustMatch(len(w), len(x))
	return dot32(x, w)
}

// dot32Go has eight lanes, so that four rows of a matrix fit the registers. Eight elements at a time go to
// all lanes. Of the rest, four go to the first four lanes, and the remaining ones, padded with zeros, to
// the last four.
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

// Lane32 returns the lane that element i of n is added to by [Dot32]. Elements of which one is 0 change no lane, so
// that the others, each in its lane and in their order, have the same sum.
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
