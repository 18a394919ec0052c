package measure

import "github.com/listwise/listwise/internal/elementary"

// rbp is rank-biased precision. For a user who continues from one rank to the next with probability p,
// it is
//
//	RBP = (1 − p) Σ_{relevant at rank r} p^{r−1}
//
// (Moffat and Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, 2008). It is
// below 1 for every finite list.
type rbp struct {
	binary
	p float64
}

func newRBP(s spec) Averager { return rbp{newBinary(s), s.persistence} }

var _ Additive = rbp{}

// Value implements Measure.
func (m rbp) Value(ranked []float64) (float64, bool) {
	sum, weight, found := 0.0, 1-m.p, false
	for _, l := range ranked {
		if m.relevant(l) {
			sum += weight
			found = true
		}
		weight *= m.p
	}
	if !found {
		return m.convention.valueless()
	}
	return sum, true
}

// Average implements Averager. Each rank of a group is relevant with a probability equal to the group's
// share of relevant documents.
func (m rbp) Average(ranked []float64, ends []int) (float64, bool) {
	if m.count(ranked) == 0 {
		return m.convention.valueless()
	}
	sum, weight, start := 0.0, 1-m.p, 0
	for _, end := range ends {
		share := float64(m.count(ranked[start:end])) / float64(end-start)
		for range end - start {
			sum += float64(share * weight)
			weight *= m.p
		}
		start = end
	}
	return sum, true
}

// GoodGain implements Additive.
func (m rbp) GoodGain(i, a, _, _ int) float64 {
	return (1 - m.p) * elementary.Pow(m.p, float64(i+a))
}
