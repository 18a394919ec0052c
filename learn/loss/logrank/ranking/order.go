// Package ranking represents rankings of one query's good (relevant) and bad (irrelevant)
// documents. The order of documents of the same class is ignored, because LogRank's losses do not
// depend on it.
//
// Start reading at [Order], which stores a ranking of the two classes as alternating blocks and
// changes it by one pair at a time. n⁺ and n⁻ are the numbers of good and bad documents. The
// package must not depend on features, scores, models, or on how rankings are chosen.
package ranking

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/learn/loss/bipartite"
)

// Order is a ranking of goods and bads in alternating blocks of documents of one class, best first. The
// order within a block is irrelevant. An Order represents exactly the valid y ∈ {±1}^(n⁺n⁻) of LogRank
// (section 4): the labelings of good–bad pairs that some total order induces.
//
// A flip of one pair (g, b) gives a valid ranking if and only if g and b are in adjacent blocks.
// Let x be in block X and y in the next block Y. A flip moves x to the end of X and y to the start
// of Y, and then exchanges x and y. The blocks X, Y thus become X∖x, {y}, {x}, Y∖y. If X∖x is
// empty, {y} joins the block above X. If Y∖y is empty, {x} joins the block below Y.
//
// One array contains all documents, and another the boundaries of blocks. So a flip takes three
// swaps of documents and a change of at most three adjacent boundaries. An Order is not safe for
// concurrent use.
type Order struct {
	pairs bipartite.Classes
	docs  []int32
	// cuts are the boundaries, ascending, with 0 and len(docs) at the ends:
	// block k is docs[cuts[k].at:cuts[k+1].at].
	cuts []cut
}

// cut is a boundary between two blocks.
type cut struct {
	at    int32 // number of documents above
	goods int32 // number of good documents above
}

// NewOrder returns the ideal ranking y* of pairs: all goods, then all bads. It panics if a class is
// empty.
func NewOrder(pairs bipartite.Classes) *Order {
	if pairs.Pairs() == 0 {
		panic("ranking: an order needs both good and bad documents")
	}
	blocks := 2*min(len(pairs.Good), len(pairs.Bad)) + 1
	o := &Order{
		pairs: pairs,
		docs:  make([]int32, pairs.Docs()),
		cuts:  make([]cut, 0, blocks+1),
	}
	o.Restart(pairs.Bad, 0)
	return o
}

// Restart changes the order to the first j of bads, then all goods, then the remaining bads. bads
// must contain all bad documents, in any order. j = 0 gives the ideal ranking, and j = len(bads)
// gives the worst ranking.
func (o *Order) Restart(bads []int32, j int) {
	good, n := len(o.pairs.Good), len(o.docs)
	if len(bads) != len(o.pairs.Bad) || j < 0 || j > len(bads) {
		panic(fmt.Sprintf("ranking: %d of %d bad documents on top, of a query with %d", j, len(bads), len(o.pairs.Bad)))
	}
	copy(o.docs, bads[:j])
	copy(o.docs[j:], o.pairs.Good)
	copy(o.docs[j+good:], bads[j:])
	o.cuts = append(o.cuts[:0], cut{})
	if j > 0 {
		o.cuts = append(o.cuts, cut{int32(j), 0})
	}
	if j < len(bads) {
		o.cuts = append(o.cuts, cut{int32(j + good), int32(good)})
	}
	o.cuts = append(o.cuts, cut{int32(n), int32(good)})
}

// Pairs returns the classes that are ranked.
func (o *Order) Pairs() bipartite.Classes { return o.pairs }

// Blocks returns the number of blocks, at least 2.
func (o *Order) Blocks() int { return len(o.cuts) - 1 }

// Block returns the documents of block k, counted from 0 at the top, and whether they are good. The
// slice is valid until the next change of the order.
func (o *Order) Block(k int) (docs []int32, good bool) {
	from, to := o.cuts[k], o.cuts[k+1]
	return o.docs[from.at:to.at], to.goods > from.goods
}

// Boundary is the place between two adjacent blocks.
type Boundary struct {
	Upper, Lower int  // numbers of documents of the block above and of the block below
	UpperGood    bool // the upper block is good, so the lower one is bad
	Goods, Bads  int  // numbers of documents above the boundary, Upper included
}

// Boundary returns the boundary below block k, 0 ≤ k < Blocks()−1.
func (o *Order) Boundary(k int) Boundary {
	above, c, below := o.cuts[k], o.cuts[k+1], o.cuts[k+2]
	return Boundary{
		Upper:     int(c.at - above.at),
		Lower:     int(below.at - c.at),
		UpperGood: c.goods > above.goods,
		Goods:     int(c.goods),
		Bads:      int(c.at - c.goods),
	}
}

// Flip describes one change of an order: a document of one class rises above a document of the
// other class. Only for the good document of this pair does the number of bads above it change.
type Flip struct {
	Up, Down int32 // the document that rises, and the document that falls
	Inverts  bool  // true if the bad rises above the good, false if the good rises above the bad
	Rank     int32 // rank of the good among the goods, from 0; the flip does not change it
	Above    int32 // number of bads above the good after the flip
}

// Flip swaps document x of block k with document y of block k+1, both counted from 0 within their
// blocks.
func (o *Order) Flip(k, x, y int) Flip {
	above, c, below := o.cuts[k], o.cuts[k+1], o.cuts[k+2]
	e := c.at
	last, first := &o.docs[e-1], &o.docs[e]
	o.docs[int(above.at)+x], *last = *last, o.docs[int(above.at)+x]
	o.docs[int(e)+y], *first = *first, o.docs[int(e)+y]
	*last, *first = *first, *last

	f := Flip{Up: *last, Down: *first, Inverts: c.goods > above.goods}
	upperGood, lowerGood := int32(0), int32(1)
	if f.Inverts {
		upperGood, lowerGood = 1, 0
		f.Rank = c.goods - 1
		f.Above = e - c.goods + 1
	} else {
		f.Rank = c.goods
		f.Above = e - c.goods - 1
	}
	o.moveCuts(k, [3]cut{
		{e - 1, c.goods - upperGood},
		{e, c.goods - upperGood + lowerGood},
		{e + 1, c.goods + lowerGood},
	}, e-1 > above.at, e+1 < below.at)
	return f
}

// moveCuts replaces the boundary below block k by the three boundaries around, which a flip at this
// boundary causes. left reports whether block k still has documents, and right whether block k+1
// has. If block k has none, around[0] coincides with the boundary above block k. Both boundaries
// are removed, since the documents on their two sides are of the same class. But if this boundary
// is the start of the ranking, it remains. The same holds for around[2], the boundary below block
// k+1 and the end of the ranking.
func (o *Order) moveCuts(k int, around [3]cut, left, right bool) {
	from, to := k+1, k+2
	first, end := 0, 3
	if !left {
		first = 1
		if k > 0 {
			from--
		}
	}
	if !right {
		end = 2
		if k+2 < len(o.cuts)-1 {
			to++
		}
	}
	o.cuts = slices.Replace(o.cuts, from, to, around[first:end]...)
}
