package measure

// success is Success@k: 1 if a relevant document is among the first k, otherwise 0. It is a measure of
// trec_eval, and the hit rate of recommender systems.
type success struct {
	binary
	k int
}

func newSuccess(s spec) Averager { return success{newBinary(s), s.k} }

var _ Additive = success{}

// Value implements Measure.
func (m success) Value(ranked []float64) (float64, bool) {
	k := cutoff(m.k, len(ranked))
	switch {
	case m.count(ranked[:k]) > 0:
		return 1, true
	case m.count(ranked[k:]) > 0:
		return 0, true
	}
	return m.convention.valueless()
}

// Average implements Averager. If r of a group's t documents are relevant, the first j ranks of the
// group contain no relevant document with probability Π_{x<j} (t−r−x)/(t−x).
func (m success) Average(ranked []float64, ends []int) (float64, bool) {
	if m.count(ranked) == 0 {
		return m.convention.valueless()
	}
	none, start := 1.0, 0
	for _, end := range ends {
		r := m.count(ranked[start:end])
		for i := start; r > 0 && i < min(end, m.k); i++ {
			left := float64(end - i)
			none *= max(0, left-float64(r)) / left
		}
		start = end
	}
	return 1 - none, true
}

// GoodGain implements Additive. Only the first relevant document counts.
func (m success) GoodGain(i, a, _, _ int) float64 {
	if i > 0 || a >= m.k {
		return 0
	}
	return 1
}
