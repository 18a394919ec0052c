package measure

// meanNDCG is the mean of NDCG over all cutoffs, as in LETOR 4.0:
//
//	MeanNDCG = 1/n Σ_{k=1..n} NDCG@k     for a query of n documents.
type meanNDCG struct{ ndcg }

func newMeanNDCG(s spec) Averager { return meanNDCG{ndcg{base: newBase(s)}} }

var _ Additive = meanNDCG{}

// Value implements Measure.
func (m meanNDCG) Value(ranked []float64) (float64, bool) {
	p, fixed, ok := m.prepare(ranked)
	if p == nil {
		return fixed, ok
	}
	defer p.scratch.put()
	var dcg, best, sum float64
	for i, l := range ranked {
		dcg += float64(p.gains.of(l) * p.discount[i])
		best += float64(p.gains.of(p.ideal[i]) * p.discount[i])
		sum += dcg / best
	}
	return sum / float64(len(ranked)), true
}

// Average implements Averager. The ideal DCGs are constants. The expected gain at each rank of a group
// is the group's mean gain.
func (m meanNDCG) Average(ranked []float64, ends []int) (float64, bool) {
	p, fixed, ok := m.prepare(ranked)
	if p == nil {
		return fixed, ok
	}
	defer p.scratch.put()
	var dcg, best, sum float64
	start := 0
	for _, end := range withRest(ends, len(ranked)) {
		gain := 0.0 // for documents that were not retrieved
		if end <= lastEnd(ends) {
			gain = p.gains.mean(ranked[start:end])
		}
		for i := start; i < end; i++ {
			dcg += float64(gain * p.discount[i])
			best += float64(p.gains.of(p.ideal[i]) * p.discount[i])
			sum += dcg / best
		}
		start = end
	}
	return sum / float64(len(ranked)), true
}

// Swaps implements Swapper. It overrides the embedded ndcg's formula, which is wrong for meanNDCG.
func (m meanNDCG) Swaps(grades []float64) (Swaps, error) {
	return anySwaps{m, grades, len(grades)}, nil
}

// GoodGain implements Additive. The document at rank i+a, from 0, contributes to every NDCG@k with k >
// i+a. GoodGain takes time proportional to good + bad.
func (m meanNDCG) GoodGain(i, a, good, bad int) float64 {
	t := m.convention.discount.table(good + bad)
	var sum float64
	for k := i + a + 1; k <= good+bad; k++ {
		sum += 1 / t.sum[min(good, k)]
	}
	return t.at[i+a] * sum / float64(good+bad)
}
