package kernel

import (
	"fmt"
	"math"
)

// Pairs is a list of pairs of documents of one query. In pair i, document plus[i] rises in the
// ranking and document minus[i] falls. A typical list contains the steps of random walks over
// rankings, where a step exchanges two neighbours. Pairs represents the matrix D with one row per
// pair and one column per document, where element i of D·s is s[plus[i]] − s[minus[i]]. The methods
// compute products of D and of its transpose with vectors.
//
// [NewPairs] checks the indices once. Pairs also stores, for each document, the list of its pairs.
// Products with the transpose use these lists, which takes half as long as adding every pair to the
// sums of two documents in memory. A pair takes 8 bytes plus padding, or 16 bytes if 16 bits are
// too few to number the pairs or documents. Pairs is immutable and may be used concurrently.
type Pairs struct {
	documents, count int
	lists            lists
	narrow           *pairNumbers[uint16] // exactly one of narrow and wide is set
	wide             *pairNumbers[int32]
}

// pairNumbers has the indices of Pairs as integers of type I.
type pairNumbers[I uint16 | int32] struct {
	plus, minus []I // documents of each pair
	at          []I // pair numbers of all lists, see [lists]
	// up[d] is the number of the list of pairs in which document d rises. down[d] is the number of
	// the list of pairs in which document d falls.
	up, down []I
}

// NewPairs returns the pairs (plus[i], minus[i]) of documents, which are numbered from 0. It panics
// if the slices differ in length or an index is out of range.
func NewPairs(documents int, plus, minus []int32) *Pairs {
	p := newWidePairs(documents, plus, minus)
	if largest := max(documents, len(plus), p.lists.sums()); largest < 1<<16 {
		w := p.wide
		p.narrow = &pairNumbers[uint16]{narrow(w.plus), narrow(w.minus), narrow(w.at), narrow(w.up), narrow(w.down)}
		p.wide = nil
	}
	return p
}

func newWidePairs(documents int, plus, minus []int32) *Pairs {
	mustMatch(len(minus), len(plus))
	mustIndex(plus, documents)
	mustIndex(minus, documents)
	p := &Pairs{documents: documents, count: len(plus)}
	p.wide = &pairNumbers[int32]{plus: append([]int32(nil), plus...), minus: append([]int32(nil), minus...)}
	p.lists, p.wide.at, p.wide.up, p.wide.down = newLists(documents, plus, minus)
	return p
}

// mustIndex panics unless all indices are at least 0 and less than n.
func mustIndex(index []int32, n int) {
	for i, d := range index {
		if d < 0 || int(d) >= n {
			panic(fmt.Sprintf("kernel: pair %d has index %d where %d documents are", i, d, n))
		}
	}
}

// narrow converts x to 16 bits. The result has capacity for eight more elements, so that vector
// loads may extend beyond its end.
func narrow(x []int32) []uint16 {
	y := make([]uint16, len(x), len(x)+8)
	for i, v := range x {
		y[i] = uint16(v)
	}
	return y
}

// Len returns the number of pairs.
func (p *Pairs) Len() int { return p.count }

// PrefixDiff computes running sums of a·D·s down the columns of e, a row-major matrix of width
// columns. The caller has set the first row, where the sums start. PrefixDiff sets all other rows:
//
//	e[width+i] = e[i] + a·(s[plus[i]] − s[minus[i]])
//
// The difference is rounded once, and the multiply-add once. The number of pairs is a multiple of
// width, and e has one row more than the pairs fill. LogRank with sampled rankings uses PrefixDiff
// for the energies of random walks: a column is a walk, and a row is one step of all walks.
func (p *Pairs) PrefixDiff(e []float64, a float64, s []float64, width int) {
	mustMatch(len(s), p.documents)
	mustMatch(len(e), width+p.count)
	switch {
	case checkRows(len(e), width) <= 1:
	case p.narrow != nil:
		prefixDiff(e, a, s, p.narrow.plus, p.narrow.minus, width)
	default:
		prefixDiffGo(e, a, s, p.wide.plus, p.wide.minus, width)
	}
}

func prefixDiffGo[I uint16 | int32](e []float64, a float64, s []float64, plus, minus []I, width int) {
	next := e[width:][:len(plus)]
	minus = minus[:len(plus)]
	for i := range next {
		next[i] = math.FMA(a, s[plus[i]]-s[minus[i]], e[i])
	}
}

// AddSquares updates a running sum for each document. A pair adds 1 to the sum of the document that
// rises and −1 to the sum of the document that falls. AddSquares adds the change of each sum's
// square, times the pair's element of factors, to dst. The pairs are arranged in rows of width
// elements, as in [Pairs.PrefixDiff], and AddSquares uses only the pairs of one column. For these
// pairs, in order, it computes
//
//	dst[plus] += factor·((sum[plus]+1)² − sum[plus]²),    sum[plus] += 1
//	dst[minus] += factor·((sum[minus]−1)² − sum[minus]²), sum[minus] −= 1
//
// dst and sum have one element per document. factors has at least one element per pair.
func (p *Pairs) AddSquares(dst, sum, factors []float64, width, column int) {
	mustMatch(len(dst), p.documents)
	mustMatch(len(sum), p.documents)
	if n := p.narrow; n != nil {
		addSquares(dst, sum, factors, n.plus, n.minus, width, column)
		return
	}
	addSquares(dst, sum, factors, p.wide.plus, p.wide.minus, width, column)
}

func addSquares[I uint16 | int32](dst, sum, factors []float64, plus, minus []I, width, column int) {
	minus, factors = minus[:len(plus)], factors[:len(plus)]
	for k := column; k < len(plus); k += width {
		f, up, down := factors[k], plus[k], minus[k]
		dst[up] += float64(f * (float64(2*sum[up]) + 1))
		sum[up]++
		dst[down] += float64(f * (1 - float64(2*sum[down])))
		sum[down]--
	}
}

// Work returns the length of the work slice that TransposeDiff needs.
func (p *Pairs) Work() int { return p.lists.sums() + 1 }

// TransposeDiff sets dst to a·Dᵀ·c. dst[d] is a·(R − F), where R is the sum of c over the pairs in
// which document d rises and F the sum over the pairs in which it falls. c has one element per pair
// and an additional last element, which TransposeDiff sets to 0. work has Work() elements of any
// content.
func (p *Pairs) TransposeDiff(dst []float64, a float64, c, work []float64) {
	mustMatch(len(dst), p.documents)
	mustMatch(len(c), p.count+1)
	mustMatch(len(work), p.Work())
	c[p.count] = 0
	work[len(work)-1] = 0
	if n := p.narrow; n != nil {
		addLists(work, c, n.at, p.lists.steps)
		p.lists.join(work)
		gatherDiff(dst, a, work, n.up, n.down)
		return
	}
	addListsGo(work, c, p.wide.at, p.lists.steps)
	p.lists.join(work)
	gatherDiffGo(dst, a, work, p.wide.up, p.wide.down)
}

// gatherDiffGo sets dst[i] = a·(s[plus[i]] − s[minus[i]]).
func gatherDiffGo[I uint16 | int32](dst []float64, a float64, s []float64, plus, minus []I) {
	plus, minus = plus[:len(dst)], minus[:len(dst)]
	for i := range dst {
		dst[i] = a * (s[plus[i]] - s[minus[i]])
	}
}
