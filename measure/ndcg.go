package measure

// ndcg is normalised discounted cumulative gain,
//
//	NDCG@k = DCG@k / (the highest DCG@k that the query's documents can have)
//
// (Järvelin and Kekäläinen 2002; the exponential gain is from Burges et al.,
// Learning to Rank Using Gradient Descent, 2005). Conventions differ in all but
// this ratio.
type ndcg struct {
	base
	k int // 0 for no cut-off
}

func newNDCG(s spec) Averager { return ndcg{newBase(s), s.k} }

var _ Additive = ndcg{}

// Value implements Measure.
func (m ndcg) Value(ranked []float64) (float64, bool) {
	p, fixed, ok := m.prepare(ranked)
	if p == nil {
		return fixed, ok
	}
	defer p.scratch.put()
	var sum float64
	for i, l := range ranked[:len(p.ideal)] {
		if l > 0 {
			sum += p.gains.of(l) * p.discount[i]
		}
	}
	return sum / p.best(), true
}

// Average implements Averager: every place of a group has the group's mean gain.
func (m ndcg) Average(ranked []float64, ends []int) (float64, bool) {
	p, fixed, ok := m.prepare(ranked)
	if p == nil {
		return fixed, ok
	}
	defer p.scratch.put()
	k, sum, start := len(p.ideal), 0.0, 0
	for _, end := range ends {
		if start >= k {
			break
		}
		gain := p.gains.mean(ranked[start:end])
		for i := start; gain > 0 && i < min(end, k); i++ {
			sum += gain * p.discount[i]
		}
		start = end
	}
	return sum / p.best(), true
}

// GoodGain implements Additive.
func (m ndcg) GoodGain(i, a, good, bad int) float64 {
	n := good + bad
	k := cutoff(m.k, n)
	if i+a >= k || m.convention.shortZero && m.k > n {
		return 0
	}
	t := m.convention.discount.table(n)
	return t.at[i+a] / t.sum[min(good, k)]
}

// prepared is what one query's NDCG needs besides its ranking.
type prepared struct {
	ideal    []float64 // the highest grades, as many as the cut-off counts
	gains    gains
	discount []float64
	scratch  *scratch
}

// prepare returns the query's ideal, or nil and the value when that is settled
// without.
func (m ndcg) prepare(ranked []float64) (p *prepared, value float64, ok bool) {
	s := getScratch()
	k := cutoff(m.k, len(ranked))
	ideal := descending(s, ranked, k)
	if len(ideal) == 0 || ideal[0] == 0 {
		s.put()
		value, ok = m.convention.valueless()
		return nil, value, ok
	}
	if m.convention.shortZero && m.k > len(ranked) {
		s.put()
		return nil, 0, true
	}
	s.prepared = prepared{
		ideal:    ideal,
		gains:    m.convention.gain.upTo(ideal[0]),
		discount: m.convention.discount.table(k).at,
		scratch:  s,
	}
	return &s.prepared, 0, true
}

// best returns the ideal DCG.
func (p *prepared) best() float64 {
	var sum float64
	for i, l := range p.ideal {
		if l == 0 {
			break
		}
		sum += p.gains.of(l) * p.discount[i]
	}
	return sum
}

// mean returns the mean gain of a tie group.
func (g gains) mean(group []float64) float64 {
	var sum float64
	for _, l := range group {
		sum += g.of(l)
	}
	return sum / float64(len(group))
}
