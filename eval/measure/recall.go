package measure

// recall is R@k: the number of relevant documents among the first k ranks, divided by the number of
// relevant documents.
type recall struct {
	binary
	k int
}

func newRecall(s spec) Averager { return recall{newBinary(s), s.k} }

var _ Additive = recall{}

// Value implements Measure.
func (m recall) Value(ranked []float64) (float64, bool) {
	all := m.count(ranked)
	if all == 0 {
		return m.convention.valueless()
	}
	return float64(m.count(ranked[:cutoff(m.k, len(ranked))])) / float64(all), true
}

// Average implements Averager.
func (m recall) Average(ranked []float64, ends []int) (float64, bool) {
	all := m.count(ranked)
	if all == 0 {
		return m.convention.valueless()
	}
	return m.expectedHits(ranked, ends, m.k) / float64(all), true
}

// GoodGain implements Additive.
func (m recall) GoodGain(i, a, good, _ int) float64 {
	if i+a >= m.k {
		return 0
	}
	return 1 / float64(good)
}
