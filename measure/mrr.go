package measure

// mrr is the reciprocal of the rank of the first relevant document, 0 if that
// lies beyond the cut-off (Voorhees, The TREC-8 Question Answering Track Report,
// 1999).
type mrr struct {
	binary
	k int // 0 for no cut-off
}

func newMRR(s spec) Averager { return mrr{newBinary(s), s.k} }

var _ Additive = mrr{}

// Value implements Measure.
func (m mrr) Value(ranked []float64) (float64, bool) {
	for i, l := range ranked {
		if !m.relevant(l) {
			continue
		}
		if i >= cutoff(m.k, len(ranked)) {
			return 0, true
		}
		return 1 / float64(i+1), true
	}
	return m.convention.valueless()
}

// Average implements Averager. In the first group with relevant documents, r
// of t, the place after j irrelevant ones is relevant with probability
// r/(t−j).
func (m mrr) Average(ranked []float64, ends []int) (float64, bool) {
	start := 0
	for _, end := range ends {
		r := m.count(ranked[start:end])
		if r == 0 {
			start = end
			continue
		}
		value, none := 0.0, 1.0 // none: the chance that no place so far is relevant
		for i := start; none > 0 && i < min(end, cutoff(m.k, len(ranked))); i++ {
			first := float64(r) / float64(end-i)
			value += none * first / float64(i+1)
			none *= 1 - first
		}
		return value, true
	}
	return m.convention.valueless()
}

// GoodGain implements Additive: only the first relevant document counts.
func (m mrr) GoodGain(i, a, good, bad int) float64 {
	if i > 0 || a >= cutoff(m.k, good+bad) {
		return 0
	}
	return 1 / float64(1+a)
}
