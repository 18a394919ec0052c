package measure

// ap is average precision. With R relevant documents, at the ranks r_1 < … < r_R,
//
//	AP = 1/R Σ_i i/r_i
//
// (Buckley and Voorhees, Retrieval System Evaluation, 2005). R counts the
// relevant documents of the list, as in the LETOR scripts. Its mean over queries
// is MAP.
type ap struct{ binary }

func newAP(s spec) Averager { return ap{newBinary(s)} }

var _ Additive = ap{}

// Value implements Measure.
func (m ap) Value(ranked []float64) (float64, bool) {
	seen, sum := 0, 0.0
	for i, l := range ranked {
		if m.relevant(l) {
			seen++
			sum += float64(seen) / float64(i+1)
		}
	}
	if seen == 0 {
		return m.convention.valueless()
	}
	return sum / float64(seen), true
}

// Average implements Averager. In a group of t documents, r of them relevant,
// below R' relevant ones, the place after j others of the group is relevant with
// probability r/t, and then j(r−1)/(t−1) of those others are on average.
func (m ap) Average(ranked []float64, ends []int) (float64, bool) {
	seen, start, sum := 0, 0, 0.0
	for _, end := range ends {
		r, t := m.count(ranked[start:end]), end-start
		if r > 0 {
			chance := float64(r) / float64(t)
			step := float64(r-1) / float64(max(t-1, 1))
			for i := start; i < end; i++ {
				above := float64(seen) + float64(i-start)*step
				sum += chance * (above + 1) / float64(i+1)
			}
		}
		seen += r
		start = end
	}
	if seen == 0 {
		return m.convention.valueless()
	}
	return sum / float64(seen), true
}

// GoodGain implements Additive.
func (m ap) GoodGain(i, a, good, _ int) float64 {
	return float64(i+1) / float64(i+1+a) / float64(good)
}
