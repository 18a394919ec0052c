package measure

// wta is winner takes all: 1 if the first document is relevant, otherwise 0 (1 minus the cost in
// Burges, Ragno and Le, Learning to Rank with Nonsmooth Cost Functions, 2006, section 2).
type wta struct{ binary }

func newWTA(s spec) Averager {
	s.k = 1 // only rank 1 counts
	return wta{newBinary(s)}
}

var _ Additive = wta{}

// Value implements Measure.
func (m wta) Value(ranked []float64) (float64, bool) {
	if m.count(ranked) == 0 {
		return m.convention.valueless()
	}
	if m.relevant(ranked[0]) {
		return 1, true
	}
	return 0, true
}

// Average implements Averager.
func (m wta) Average(ranked []float64, ends []int) (float64, bool) {
	if m.count(ranked) == 0 {
		return m.convention.valueless()
	}
	if len(ends) == 0 { // nothing was retrieved
		return 0, true
	}
	return float64(m.count(ranked[:ends[0]])) / float64(ends[0]), true
}

// GoodGain implements Additive.
func (m wta) GoodGain(i, a, _, _ int) float64 {
	if i+a > 0 {
		return 0
	}
	return 1
}
