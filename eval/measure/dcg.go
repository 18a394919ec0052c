package measure

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/eval/stats"
)

// dcg is discounted cumulative gain without normalisation,
//
//	DCG@k = Σ_{r ≤ k} gain(grade at rank r) · discount(r)
//
// with the gain and the discount of the convention (Järvelin and Kekäläinen,
// Cumulated Gain-Based Evaluation of IR Techniques, 2002).
type dcg struct {
	base
	k int // 0 for no cutoff
}

func newDCG(s spec) Averager { return dcg{newBase(s), s.k} }

var (
	_ Additive   = dcg{}
	_ gradeLimit = dcg{}
)

// checkGrade implements gradeLimit. It rejects grades for which the sum of gains could overflow.
func (m dcg) checkGrade(highest float64) error {
	if m.convention.gain.upTo(highest).scaled {
		return fmt.Errorf("%s overflows at grade %g; use ndcg", m.name, highest)
	}
	return nil
}

// values returns the range of values for RangeOf.
func (m dcg) values() stats.Interval { return stats.Interval{Low: 0, High: math.Inf(1)} }

// Value implements Measure.
func (m dcg) Value(ranked []float64) (float64, bool) {
	k := cutoff(m.k, len(ranked))
	discount := m.convention.discount.table(k).at
	var sum float64
	for i, l := range ranked[:k] {
		if l > 0 {
			sum += float64(m.convention.gain.of(l) * discount[i])
		}
	}
	return m.orValueless(sum, ranked)
}

// Average implements Averager. The expected gain at each rank of a group is the group's mean gain.
func (m dcg) Average(ranked []float64, ends []int) (float64, bool) {
	k := cutoff(m.k, len(ranked))
	discount := m.convention.discount.table(k).at
	sum, start := 0.0, 0
	for _, end := range ends {
		if start >= k {
			break
		}
		gain := gains{kind: m.convention.gain}.mean(ranked[start:end])
		for i := start; gain > 0 && i < min(end, k); i++ {
			sum += float64(gain * discount[i])
		}
		start = end
	}
	return m.orValueless(sum, ranked)
}

// orValueless returns sum, and whether the query counts in means. If no document has a gain, it returns
// 0 even if the convention has another value for such queries: those values are for normalised
// measures.
func (m dcg) orValueless(sum float64, ranked []float64) (float64, bool) {
	if sum > 0 {
		return sum, true
	}
	return 0, anyGain(ranked) || !m.convention.skip
}

// GoodGain implements Additive for grades 0 and 1.
func (m dcg) GoodGain(i, a, good, bad int) float64 {
	if i+a >= cutoff(m.k, good+bad) {
		return 0
	}
	return m.convention.discount.table(good + bad).at[i+a]
}
