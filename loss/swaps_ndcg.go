package loss

import (
	"math"

	"github.com/listwise/listwise/measure"
)

// ndcgSwaps are swaps under NDCG@k. With x the gain of a document divided by the
// ideal DCG, and d the discount, 0 beyond rank k,
//
//	NDCG = Σ_r x_r d_r,   loss of a swap = (x_a − x_b)(d_a − d_b)
//
// which is eq. 9 of Burges, Ragno and Le (2006) without its sigmoid.
type ndcgSwaps struct {
	gains     []float64 // by document
	discounts []float64 // of the ranks that count
}

func newNDCGSwaps(c measure.Convention, grades []float64, cut int) (swaps, error) {
	s := ndcgSwaps{gains: make([]float64, len(grades)), discounts: make([]float64, cut)}
	ideal := c.IdealDCG(grades, cut)
	if math.IsInf(ideal, 1) {
		return nil, overflowError(grades)
	}
	for i, g := range grades {
		s.gains[i] = c.Gain(g) / ideal
	}
	for r := range s.discounts {
		s.discounts[r] = c.Discount(r + 1)
	}
	return s, nil
}

func (s ndcgSwaps) counts() []float64 { return s.gains }

func (s ndcgSwaps) work(int) int { return 0 }

func (s ndcgSwaps) prepare(_, _ []float64) (ranks int) { return len(s.discounts) }

func (s ndcgSwaps) row(loss, x, _ []float64, a, to int) {
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
