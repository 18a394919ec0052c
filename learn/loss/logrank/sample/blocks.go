package sample

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// blockWalk makes the transitions of Figure 2 without ever rejecting one.
//
// Figure 2 proposes a uniformly random pair (g, b), flips it with probability θ and starts again unless
// the result is a valid ranking. So the next state is reached with probability ∝ θ over the valid flips.
// These are the pairs of adjacent blocks, and θ is the same for all pairs of two blocks:
//
//	g above b: (2+n)θ = n⁻ − n_g + n_b + 1 = bads above g  + goods below b + 1
//	b above g: (2+n)θ = n⁺ + n_g − n_b + 1 = goods above b + bads below g  + 1
//
// So it suffices to draw the boundary between two blocks X and Y with
// probability ∝ |X||Y|θ and a pair x, y uniformly from X × Y. All weights are
// integers, and one integer random number chooses all three.
type blockWalk struct {
	order *ranking.Order
	upTo  []uint64 // weight of this boundary and those above it
}

// restart sets the walk to o, which it changes from then on.
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

// theta returns (2+n)θ of the pairs across a boundary, an integer from 1 to n+1.
func theta(b ranking.Boundary, good, bad int) int {
	if b.UpperGood {
		return b.Bads + (good - b.Goods) + 1
	}
	return b.Goods + (bad - b.Bads) + 1
}

// choose flips the pair that belongs to u, a number below the sum of weights:
// every pair owns as many numbers as its weight.
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
