package sample

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// literalWalk makes the transitions of Figure 2 as printed, line by line, on the labels y_gb. It is
// independent of blockWalk, and a test compares the two. If the walk accepts few proposals, a step
// takes thousands of proposals.
type literalWalk struct {
	pairs bipartite.Classes
	place []int32 // index of a document within its class
	above []bool  // whether y_gb = +1, at index g·n⁻ + b, where g and b are indices within the classes
	ng    []int32 // number of bads below good g
	nb    []int32 // number of goods below bad b
}

func newLiteralWalk(pairs bipartite.Classes) *literalWalk {
	w := &literalWalk{
		pairs: pairs,
		place: make([]int32, pairs.Docs()),
		above: make([]bool, pairs.Pairs()),
		ng:    make([]int32, len(pairs.Good)),
		nb:    make([]int32, len(pairs.Bad)),
	}
	for _, class := range [][]int32{pairs.Good, pairs.Bad} {
		for i, d := range class {
			w.place[d] = int32(i)
		}
	}
	return w
}

func (w *literalWalk) restart(o *ranking.Order) {
	clear(w.above)
	clear(w.nb)
	bad := int32(len(w.nb))
	below := make([]bool, bad) // whether the bad is above the current block
	var seen int32
	for k := range o.Blocks() {
		docs, good := o.Block(k)
		for _, d := range docs {
			i := w.place[d]
			if !good {
				below[i] = true
				seen++
				continue
			}
			w.ng[i] = bad - seen
			for b, isAbove := range below {
				w.above[i*bad+int32(b)] = !isAbove
				if isAbove {
					w.nb[b]++
				}
			}
		}
	}
}

func (w *literalWalk) step(rng *rand.Rand) ranking.Flip {
	good, bad := len(w.ng), len(w.nb)
	for {
		idx := rng.IntN(len(w.above))
		g, b := idx/bad, idx%bad
		ng, nb := w.ng[g], w.nb[b]
		inverts := w.above[idx]
		theta := float64(good+int(ng)-int(nb)+1) / float64(2+good+bad)
		if inverts {
			theta = float64(bad-int(ng)+int(nb)+1) / float64(2+good+bad)
		}
		if rng.Float64() < theta && w.valid(g, b) {
			return w.flip(g, b)
		}
	}
}

// valid reports whether flipping the pair gives a ranking, that is, whether g and b are in adjacent
// blocks. If g is above b, this is so if all bads below g are in b's block or below it: n_g = #{b':
// n_b' ≤ n_b}. If b is above g, the condition is the same with g and b exchanged.
func (w *literalWalk) valid(g, b int) bool {
	if w.above[g*len(w.nb)+b] {
		return w.ng[g] == atMost(w.nb, w.nb[b])
	}
	return w.nb[b] == atMost(w.ng, w.ng[g])
}

// atMost returns the number of counts that are at most limit.
func atMost(counts []int32, limit int32) (n int32) {
	for _, c := range counts {
		if c <= limit {
			n++
		}
	}
	return n
}

func (w *literalWalk) flip(g, b int) ranking.Flip {
	idx := g*len(w.nb) + b
	f := ranking.Flip{Up: w.pairs.Good[g], Down: w.pairs.Bad[b], Inverts: w.above[idx]}
	good, bad := int32(len(w.ng)), int32(len(w.nb))
	ng := w.ng[g]
	if f.Inverts {
		// g becomes the last of the goods with the same number of bads below them.
		f.Up, f.Down = f.Down, f.Up
		f.Rank = good - atMost(w.ng, ng-1) - 1
		w.ng[g]--
		w.nb[b]++
	} else {
		f.Rank = good - atMost(w.ng, ng)
		w.ng[g]++
		w.nb[b]--
	}
	f.Above = bad - w.ng[g]
	w.above[idx] = !f.Inverts
	return f
}
