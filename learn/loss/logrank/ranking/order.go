// Package ranking represents rankings of one query's good (relevant) documents against its bad
// (irrelevant) ones. LogRank's losses distinguish no others: exchanging two documents of the same class
// changes nothing.
//
// Start reading at [Order], a ranking of the two classes as alternating blocks
// that is changed one pair at a time. The package must not know of features,
// scores, models, or of how rankings are chosen.
package ranking

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/learn/loss/bipartite"
)

// Order is a ranking of goods against bads: alternating blocks of documents of
// one class, best first, in which the order within a block is irrelevant. These
// are exactly the valid y ∈ {±1}^(n⁺n⁻) of LogRank (section 4): the labelings of
// good–bad pairs that some total order induces.
//
// One pair (g, b) can be flipped without leaving the valid rankings if and only if g and b lie in adjacent
// blocks. Reordering within the two blocks makes them neighbours, which then change places. Blocks X, Y
// thus become X∖x, {y}, {x}, Y∖y. The one-document blocks join neighbours of their class where X∖x or Y∖y
// is empty.
//
// All documents are in one array and the blocks' boundaries in another, so a flip takes two swaps and a
// change of at most three neighbouring boundaries. An Order is not safe for concurrent use.
type Order struct {
	pairs bipartite.Classes
	docs  []int32
	// cuts are the boundaries, ascending, with 0 and len(docs) at the ends:
	// block k is docs[cuts[k].at:cuts[k+1].at].
	cuts []cut
}

// cut is a place between two documents.
type cut struct {
	at    int32 // documents above
	goods int32 // good documents above
}

// NewOrder returns the ideal ranking y* of pairs: all goods, then all bads. Both
// classes must have a member.
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

// Restart changes the order to the first j of bads, then all goods, then the
// other bads; bads holds the bad documents in any order. With j = 0 it is the
// ideal ranking, Δ = 0; with j = len(bads) the worst, Δ = 1.
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

// Block returns the documents of block k, counted from 0 at the top, and whether
// they are good. The slice is a view that the next change invalidates.
func (o *Order) Block(k int) (docs []int32, good bool) {
	from, to := o.cuts[k], o.cuts[k+1]
	return o.docs[from.at:to.at], to.goods > from.goods
}

// Boundary is the place between two adjacent blocks.
type Boundary struct {
	Upper, Lower int  // number of documents of the block above and below
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

// Flip is one change of an order: a document of one class rises above one of the
// other. It moves a single good past a single bad, so among the goods in rank
// order only one has a different number of bads above it.
type Flip struct {
	Up, Down int32 // the document that rises and the one that it passes
	Inverts  bool  // the bad rises above the good; otherwise the good above the bad
	Rank     int32 // the place of the good among the goods, from 0, before and after
	Above    int32 // the number of bads above it after the flip
}

// Flip exchanges document x of block k with document y of block k+1, both
// counted from 0 within their blocks.
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

// moveCuts replaces the boundary below block k by the three around a flip there. The outer two appear only
// if their block keeps documents (left, right). Otherwise they coincide with the neighbouring boundary.
// That boundary vanishes, since both its sides are now of one class, unless it is an end of the ranking.
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
