package measure

// precision is P@k: the number of relevant documents among the first k ranks, divided by k even if the
// list is shorter.
type precision struct {
	binary
	k int
}

func newPrecision(s spec) Averager { return precision{newBinary(s), s.k} }

var _ Additive = precision{}

// Value implements Measure.
func (m precision) Value(ranked []float64) (float64, bool) {
	hits := m.count(ranked[:cutoff(m.k, len(ranked))])
	if hits == 0 && m.count(ranked) == 0 {
		return m.convention.valueless()
	}
	return float64(hits) / float64(m.k), true
}

// Average implements Averager.
func (m precision) Average(ranked []float64, ends []int) (float64, bool) {
	if m.count(ranked) == 0 {
		return m.convention.valueless()
	}
	return m.expectedHits(ranked, ends, m.k) / float64(m.k), true
}

// GoodGain implements Additive.
func (m precision) GoodGain(i, a, _, _ int) float64 {
	if i+a >= m.k {
		return 0
	}
	return 1 / float64(m.k)
}

// expectedHits returns the expected number of relevant documents among the first k ranks. A group that
// straddles the cutoff contributes its proportional part.
func (b binary) expectedHits(ranked []float64, ends []int, k int) float64 {
	hits, start := 0.0, 0
	for _, end := range ends {
		if start >= k {
			break
		}
		r := float64(b.count(ranked[start:end]))
		if end > k {
			r = r * float64(k-start) / float64(end-start)
		}
		hits += r
		start = end
	}
	return hits
}
