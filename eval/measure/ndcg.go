package measure

import "math"

// ndcg is normalised discounted cumulative gain,
//
//	NDCG@k = DCG@k / (the highest DCG@k that the query's documents can have)
//
// (Järvelin and Kekäläinen 2002). The exponential gain is from Burges et al., Learning to Rank Using
// Gradient Descent, 2005. The convention defines gain and discount.
type ndcg struct {
	base
	k int // 0 for no cutoff
}

func newNDCG(s spec) Averager { return ndcg{newBase(s), s.k} }

var (
	_ Additive = ndcg{}
	_ Swapper  = ndcg{}
)

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
			sum += float64(p.gains.of(l) * p.discount[i])
		}
	}
	return sum / p.best(), true
}

// Average implements Averager. The expected gain at each rank of a group is the group's mean gain.
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
			sum += float64(gain * p.discount[i])
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

// prepared contains the part of a query's NDCG that does not depend on the ranking.
type prepared struct {
	ideal    []float64 // highest grades in descending order, one for each rank that counts
	gains    gains
	discount []float64
	scratch  *scratch
}

// prepare returns the part of NDCG that does not depend on the ranking. It returns nil and the value if
// NDCG is the same for all rankings.
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
		sum += float64(p.gains.of(l) * p.discount[i])
	}
	return sum
}

// mean returns the mean gain of a group of documents with equal scores.
func (g gains) mean(group []float64) float64 {
	var sum float64
	for _, l := range group {
		sum += g.of(l)
	}
	return sum / float64(len(group))
}

// ndcgSwaps are swaps under NDCG@k. Let x be the gain of a document divided by the ideal DCG. Let d be
// the discount, or 0 beyond rank k. Then
//
//	NDCG = Σ_r x_r d_r,   loss of a swap = (x_a − x_b)(d_a − d_b)
//
// This is eq. 9 of Burges, Ragno and Le (2006) without the sigmoid.
type ndcgSwaps struct {
	grades    []float64 // by document
	gains     []float64 // by document; nil if all grades are whole and small
	gain      gainKind
	ideal     float64
	discounts []float64 // of the ranks that count
}

// Swaps implements Swapper.
func (m ndcg) Swaps(grades []float64) (Swaps, error) {
	c, cut := m.convention, cutoff(m.k, len(grades))
	ideal := c.IdealDCG(grades, cut)
	if math.IsInf(ideal, 1) {
		return nil, overflowError(grades)
	}
	s := ndcgSwaps{grades: grades, gain: c.gain, ideal: ideal, discounts: c.discount.table(cut).at[:cut]}
	if _, whole := histogram(grades); !whole {
		s.gains = make([]float64, len(grades))
		for i, g := range grades {
			s.gains[i] = c.Gain(g) / ideal
		}
	}
	return s, nil
}

// Counts returns the gains or, if all grades are whole and small, the grades. Prepare then computes the
// gains, which saves the memory for them while a loss is bound to the query.
func (s ndcgSwaps) Counts() []float64 {
	if s.gains != nil {
		return s.gains
	}
	return s.grades
}

func (s ndcgSwaps) Work(int) int { return 0 }

func (s ndcgSwaps) Prepare(x, _ []float64) (ranks int) {
	if s.gains == nil {
		var gains [smallGrade + 1]float64 // of the grades 0 to known−1
		known := 0
		for r, grade := range x {
			for ; known <= int(grade); known++ {
				gains[known] = s.gain.of(float64(known)) / s.ideal
			}
			x[r] = gains[int(grade)&smallGrade]
		}
	}
	return len(s.discounts)
}

// Some implements SomeSwaps.
func (s ndcgSwaps) Some(loss, x, _ []float64, a int, ranks []int32) {
	own, top := x[a], s.discounts[a]
	loss = loss[:len(ranks)]
	for k, b := range ranks {
		drop := top
		if int(b) < len(s.discounts) {
			drop = top - s.discounts[b]
		}
		loss[k] = (own - x[b]) * drop
	}
}

func (s ndcgSwaps) Row(loss, x, _ []float64, a, to int) {
	own, top := x[a], s.discounts[a]
	end := max(a+1, min(to, len(s.discounts)))
	for b := a + 1; b < end; b++ {
		loss[b] = (own - x[b]) * (top - s.discounts[b])
	}
	loss, x = loss[:to], x[:to]
	for b := end; b < len(x); b++ {
		loss[b] = (own - x[b]) * top
	}
}
