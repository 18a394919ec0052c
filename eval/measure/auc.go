package measure

// auc is the area under the ROC curve: the share of pairs of a relevant and an irrelevant document in
// which the relevant one is ranked higher (Hanley and McNeil 1982). A tied pair counts one half.
// Documents that were not retrieved are tied below all others. The convention defines the value of a
// query without such a pair.
type auc struct{ binary }

func newAUC(s spec) Averager { return auc{newBinary(s)} }

var _ Additive = auc{}

// Value implements Measure.
func (m auc) Value(ranked []float64) (float64, bool) {
	var good, bad, inverted int64
	for _, l := range ranked {
		if m.relevant(l) {
			good++
			inverted += bad
		} else {
			bad++
		}
	}
	return m.ratio(2*inverted, good, bad)
}

// Average implements Averager.
func (m auc) Average(ranked []float64, ends []int) (float64, bool) {
	var good, bad, inverted2 int64 // twice the number of inverted pairs, so that it is whole
	start := 0
	for _, end := range withRest(ends, len(ranked)) {
		g := int64(m.count(ranked[start:end]))
		b := int64(end-start) - g
		inverted2 += g * (2*bad + b)
		good, bad = good+g, bad+b
		start = end
	}
	return m.ratio(inverted2, good, bad)
}

func (m auc) ratio(inverted2, good, bad int64) (float64, bool) {
	if good == 0 || bad == 0 {
		return m.convention.valueless()
	}
	pairs := 2 * good * bad
	return float64(pairs-inverted2) / float64(pairs), true
}

// GoodGain implements Additive.
func (m auc) GoodGain(_, a, good, bad int) float64 {
	if bad == 0 {
		return m.convention.empty / float64(good)
	}
	return float64(bad-a) / float64(bad) / float64(good)
}
