package measure

// rprec is R-precision: the share of relevant documents among the first R documents, for a query with R
// relevant documents (trec_eval's Rprec).
type rprec struct{ binary }

func newRPrec(s spec) Averager { return rprec{newBinary(s)} }

var _ Additive = rprec{}

// Value implements Measure.
func (m rprec) Value(ranked []float64) (float64, bool) {
	all := m.count(ranked)
	if all == 0 {
		return m.convention.valueless()
	}
	return float64(m.count(ranked[:all])) / float64(all), true
}

// Average implements Averager.
func (m rprec) Average(ranked []float64, ends []int) (float64, bool) {
	all := m.count(ranked)
	if all == 0 {
		return m.convention.valueless()
	}
	return m.expectedHits(ranked, ends, all) / float64(all), true
}

// GoodGain implements Additive.
func (m rprec) GoodGain(i, a, good, _ int) float64 {
	if i+a >= good {
		return 0
	}
	return 1 / float64(good)
}
