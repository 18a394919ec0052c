package ranking

import (
	"fmt"
	"iter"
	"math"
)

// Gain is a measure of a ranking that is a sum over the good (relevant) documents. The term of a good
// depends only on its rank among the goods and on the number of bads above it. AUC, AP, NDCG, MRR and
// precision are such measures.
type Gain interface {
	// GoodGain returns the term of the i-th good from the top, counted from 0, with a bads above
	// it. good and bad are the numbers of good and bad documents of the query.
	GoodGain(i, a, good, bad int) float64
}

// goods yields two numbers for every good document, from the top: its rank i among the goods, from
// 0, and the number a of bads above it.
func (o *Order) goods() iter.Seq2[int, int] {
	return func(yield func(i, a int) bool) {
		for k := range o.Blocks() {
			from, to := o.cuts[k], o.cuts[k+1]
			for i := from.goods; i < to.goods; i++ {
				if !yield(int(i), int(from.at-from.goods)) {
					return
				}
			}
		}
	}
}

// Gain returns the gain G(y) of the ranking. Its loss is Δ(y) = 1 − G(y).
func (o *Order) Gain(g Gain) float64 {
	var sum float64
	for i, a := range o.goods() {
		sum += g.GoodGain(i, a, len(o.pairs.Good), len(o.pairs.Bad))
	}
	return sum
}

// Tracker updates the gain of an Order that changes by flips. An update takes constant time.
//
// The gain is summed in fixed point, in units of 2⁻⁶⁰. So the sum has no rounding errors, and the
// gain of a ranking does not depend on the flips that led to the ranking. A gain of zero is exactly
// zero, so log E[G] is −Inf if all gains are zero. In floating point, an error of 10⁻¹⁷ would make
// log E[G] finite.
type Tracker struct {
	gain      Gain
	good, bad int
	terms     []int64 // term of each good, from the top
	sum       int64
}

// NewTracker returns a tracker that starts with the current ranking of o. It returns an error if
// the gain of the best or the worst ranking of o's documents is not between 0 and 1.
func NewTracker(g Gain, o *Order) (*Tracker, error) {
	good, bad := len(o.pairs.Good), len(o.pairs.Bad)
	t := &Tracker{gain: g, good: good, bad: bad, terms: make([]int64, good)}
	for _, a := range []int{0, bad} {
		var sum float64
		for i := range good {
			sum += g.GoodGain(i, a, good, bad)
		}
		if !(sum >= -gainSlack && sum <= 1+gainSlack) {
			return nil, fmt.Errorf("gain of a ranking of %d good documents with %d of %d bad ones above is %v, expected 0 to 1",
				good, a, bad, sum)
		}
	}
	t.Reset(o)
	return t, nil
}

// gainSlack is the tolerance for rounding errors in the terms of a gain.
const gainSlack = 1e-9

// Reset computes the gain from the current ranking of o.
func (t *Tracker) Reset(o *Order) {
	t.sum = 0
	for i, a := range o.goods() {
		t.terms[i] = t.term(i, a)
		t.sum += t.terms[i]
	}
}

// Apply updates the gain after a flip. A flip changes the number of bads above one good, and so only
// the term of this good.
func (t *Tracker) Apply(f Flip) {
	term := t.term(int(f.Rank), int(f.Above))
	t.sum += term - t.terms[f.Rank]
	t.terms[f.Rank] = term
}

// Value returns the gain of the current ranking.
func (t *Tracker) Value() float64 { return float64(t.sum) * 0x1p-60 }

func (t *Tracker) term(i, a int) int64 {
	return int64(math.Round(t.gain.GoodGain(i, a, t.good, t.bad) * 0x1p60))
}
