package measure

// mrr is the reciprocal of the rank of the first relevant document. It is 0 if this rank is beyond the
// cutoff (Voorhees, The TREC-8 Question Answering Track Report, 1999).
type mrr struct {
	binary
	k int // 0 for no cutoff
}

func newMRR(s spec) Averager { return mrr{newBinary(s), s.k} }

var (
	_ Additive = mrr{}
	_ Swapper  = mrr{}
)

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

// Average implements Averager. Only the first group with relevant documents counts. Let r of its t
// documents be relevant. After j irrelevant documents, the next one is relevant with probability
// r/(t−j).
func (m mrr) Average(ranked []float64, ends []int) (float64, bool) {
	start := 0
	for _, end := range ends {
		r := m.count(ranked[start:end])
		if r == 0 {
			start = end
			continue
		}
		value, none := 0.0, 1.0 // none: the probability that all documents so far are irrelevant
		for i := start; none > 0 && i < min(end, cutoff(m.k, len(ranked))); i++ {
			first := float64(r) / float64(end-i)
			value += none * first / float64(i+1)
			none *= 1 - first
		}
		return value, true
	}
	if m.count(ranked[start:]) > 0 { // a relevant document was not retrieved
		return 0, true
	}
	return m.convention.valueless()
}

// GoodGain implements Additive. Only the first relevant document counts.
func (m mrr) GoodGain(i, a, good, bad int) float64 {
	if i > 0 || a >= cutoff(m.k, good+bad) {
		return 0
	}
	return 1 / float64(1+a)
}

// mrrSwaps are swaps under the reciprocal rank of the first relevant document. Let x be 1 for relevant
// documents and 0 for others. Let v_r be 1/(r+1), or 0 beyond the cutoff. Let c be the rank of the
// first relevant document below a. If no document above a is relevant,
//
//	loss = (x_a − x_b)(v_a − v_min(b,c)).
//
// If a is relevant and b is not, the first relevant rank moves from a to b or c. If b is relevant and a
// is not, it moves from c to a. Swaps below the first relevant document change nothing.
type mrrSwaps struct {
	relevant []float64 // by document
	cut      int       // number of ranks that count
}

// Swaps implements Swapper.
func (m mrr) Swaps(grades []float64) (Swaps, error) {
	return mrrSwaps{m.relevances(grades), cutoff(m.k, len(grades))}, nil
}

func (s mrrSwaps) Counts() []float64 { return s.relevant }

func (s mrrSwaps) Work(int) int { return 0 }

func (s mrrSwaps) Prepare(x, _ []float64) (ranks int) {
	for r, v := range x[:s.cut] {
		if v != 0 {
			return r + 1
		}
	}
	return s.cut
}

func (s mrrSwaps) Row(loss, x, _ []float64, a, to int) {
	own, top := x[a], 1/float64(a+1)
	best, found := 0.0, false // best: v of the first relevant rank after a, or of b
	for b := a + 1; b < to; b++ {
		if !found {
			if best = 0; b < s.cut {
				best = 1 / float64(b+1)
			}
			found = x[b] != 0
		}
		loss[b] = (own - x[b]) * (top - best)
	}
}
