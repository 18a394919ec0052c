package ranking

import (
	"fmt"
	"iter"
	"math"
)

// Gain is a measure of a ranking that is a sum over the good documents. A term depends only on the
// document's number among the goods and on the number of bads above it. AUC, AP, NDCG, MRR and precision
// are such measures.
type Gain interface {
	// GoodGain returns the term of the i-th good from the top (from 0) with a
	// bads above it, of good goods and bad bads in all.
	GoodGain(i, a, good, bad int) float64
}

// goods yields, for every good from the top, its number i among the goods and
// the number a_(i) of bads above it.
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

// Gain returns G(y), the gain of the ranking; Δ(y) = 1 − G(y).
func (o *Order) Gain(g Gain) float64 {
	var sum float64
	for i, a := range o.goods() {
		sum += g.GoodGain(i, a, len(o.pairs.Good), len(o.pairs.Bad))
	}
	return sum
}

// Tracker keeps the gain of an Order up to date over flips, in constant time
// each.
//
// It sums in fixed point, in units of 2⁻⁶⁰. So the gain of a ranking does not depend on the flips that led
// to it, and a gain of zero is exactly zero. With a rounding error of 10⁻¹⁷, log E[G] would be finite
// instead of −Inf.
type Tracker struct {
	gain      Gain
	good, bad int
	terms     []int64 // of the i-th good from the top
	sum       int64
}

// NewTracker returns a tracker of g at the order's present state. It fails if g
// does not give numbers between 0 and 1 for rankings of these documents.
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

// gainSlack allows for rounding in the terms of a gain.
const gainSlack = 1e-9

// Reset turns to another state of the order.
func (t *Tracker) Reset(o *Order) {
	t.sum = 0
	for i, a := range o.goods() {
		t.terms[i] = t.term(i, a)
		t.sum += t.terms[i]
	}
}

// Apply follows one flip.
func (t *Tracker) Apply(f Flip) {
	term := t.term(int(f.Rank), int(f.Above))
	t.sum += term - t.terms[f.Rank]
	t.terms[f.Rank] = term
}

// Value returns the gain.
func (t *Tracker) Value() float64 { return float64(t.sum) * 0x1p-60 }

func (t *Tracker) term(i, a int) int64 {
	return int64(math.Round(t.gain.GoodGain(i, a, t.good, t.bad) * 0x1p60))
}
