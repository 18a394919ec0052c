package sample

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// blockWalk makes the transitions of Figure 2 without rejections.
//
// The walk of Figure 2 proposes a uniformly random pair (g, b) and flips it with probability θ. It
// proposes another pair if it did not flip or the result is not a valid ranking. So it chooses
// among the valid flips with probabilities ∝ θ. The valid flips are the pairs of documents in
// adjacent blocks, and θ is the same for all pairs of the same two blocks:
//
//	g above b: (2+n)θ = n⁻ − n_g + n_b + 1 = bads above g  + goods below b + 1
//	b above g: (2+n)θ = n⁺ + n_g − n_b + 1 = goods above b + bads below g  + 1
//
// So blockWalk draws the boundary between two blocks X and Y with probability ∝ |X||Y|θ, and a pair
// x, y uniformly from X × Y. All weights |X||Y|(2+n)θ are integers, so one random integer chooses
// the boundary, x and y.
type blockWalk struct {
	order *ranking.Order
	upTo  []uint64 // cumulative weights of the boundaries, from the top
}

// restart sets the walk to the state o. Each step changes o.
func (w *blockWalk) restart(o *ranking.Order) { w.order = o }

func (w *blockWalk) step(rng *rand.Rand) ranking.Flip {
	return w.choose(rng.Uint64N(w.weigh()))
}

// weigh computes the weights of all boundaries and returns their sum.
func (w *blockWalk) weigh() uint64 {
	pairs := w.order.Pairs()
	good, bad := len(pairs.Good), len(pairs.Bad)
	w.upTo = w.upTo[:0]
	var sum uint64
	for k := range w.order.Blocks() - 1 {
		b := w.order.Boundary(k)
		sum += uint64(b.Upper*b.Lower) * uint64(theta(b, good, bad))
		w.upTo = append(w.upTo, sum)
	}
	return sum
}

// theta returns (2+n)θ of the pairs of the two blocks at a boundary, an integer from 1 to n+1.
func theta(b ranking.Boundary, good, bad int) int {
	if b.UpperGood {
		return b.Bads + (good - b.Goods) + 1
	}
	return b.Goods + (bad - b.Bads) + 1
}

// choose flips the pair that belongs to the integer u, 0 ≤ u < the sum of the weights of all
// boundaries. The number of integers that belong to a pair is the weight of the pair, (2+n)θ.
func (w *blockWalk) choose(u uint64) ranking.Flip {
	k := 0
	for w.upTo[k] <= u {
		k++
	}
	if k > 0 {
		u -= w.upTo[k-1]
	}
	b := w.order.Boundary(k)
	pair := int(u % uint64(b.Upper*b.Lower))
	return w.order.Flip(k, pair/b.Lower, pair%b.Lower)
}
