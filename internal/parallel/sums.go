package parallel

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
)

// Sums adds a value and a vector over many items in parallel, with the same bits for any number of
// workers. Items are grouped into blocks that do not depend on the workers. Each block adds its
// items in order to a value and a vector of its own. Run adds the blocks in order.
//
// Sums is meant for a regularised empirical risk, whose items are queries:
//
//	sums := parallel.NewSums(len(w), parallel.Split(costs, parallel.DefaultBlocks))
//	...
//	risk := sums.Run(workers, func(worker, from, to int, grad []float64) float64 {
//		var value float64
//		for q := from; q < to; q++ {
//			value += ... // the loss of query q; its gradient is added to grad
//		}
//		return value
//	})
//	// sums.Total now holds the gradient.
//
// To avoid allocating a closure at every Run, keep the function (such as a method value) with the
// Sums. A Sums serves one Run at a time.
type Sums struct {
	// Total is the sum of all blocks' vectors in the last Run. The caller may
	// change it; Run overwrites it.
	Total []float64

	cuts   []int
	stride int       // distance between the blocks' vectors in block
	block  []float64 // the blocks' vectors, one after the other
	value  []float64 // the blocks' values, one cache line apart

	crew crew
	fn   func(worker, from, to int, grad []float64) float64
	do   func(worker, block int)
}

// DefaultBlocks is a number of blocks that suffices for several dozen cores and is cheap to add.
const DefaultBlocks = 64

// line is the number of float64s in a cache line. Values that different cores write are at least
// this far apart.
const line = 8

// NewSums returns a Sums of vectors of length dim. Block b has the items cuts[b] ≤ i < cuts[b+1].
// cuts must not decrease; [Split] computes cuts for blocks of about equal cost. NewSums allocates
// about (len(cuts)−1) × dim float64s. Fewer than two cuts mean no items, and sums of zero.
func NewSums(dim int, cuts []int) *Sums {
	if !slices.IsSorted(cuts) {
		panic(fmt.Sprintf("parallel: decreasing cuts %v", cuts))
	}
	blocks := max(0, len(cuts)-1)
	s := &Sums{
		Total:  make([]float64, dim),
		cuts:   slices.Clone(cuts),
		stride: (dim + line - 1) / line * line,
		value:  make([]float64, blocks*line),
	}
	s.block = make([]float64, blocks*s.stride)
	s.do = s.runBlock
	return s
}

// Blocks returns the number of blocks.
func (s *Sums) Blocks() int { return len(s.value) / line }

// Run calls fn once for every block, from at most workers goroutines (GOMAXPROCS if workers ≤ 0).
// Worker 0 is the caller. Calls with the same worker number do not overlap. fn returns the sum of
// the values of the items from ≤ i < to and adds their vectors to grad. grad has length dim and is
// zero at first. Run sets s.Total to the sum of the vectors and returns the sum of the values. If
// fn panics, Run panics with a [*Panic], and s can be used again.
//
// Run does not allocate, except in the first call with as many workers.
func (s *Sums) Run(workers int, fn func(worker, from, to int, grad []float64) float64) float64 {
	s.fn = fn
	defer func() { s.fn = nil }()
	blocks := s.Blocks()
	s.crew.run(Workers(workers, blocks), blocks, s.do)

	clear(s.Total)
	var value float64
	for b := range blocks {
		value += s.value[b*line]
		kernel.Axpy(1, s.vector(b), s.Total)
	}
	return value
}

func (s *Sums) runBlock(worker, b int) {
	grad := s.vector(b)
	clear(grad)
	s.value[b*line] = s.fn(worker, s.cuts[b], s.cuts[b+1], grad)
}

func (s *Sums) vector(b int) []float64 {
	from := b * s.stride
	to := from + len(s.Total)
	return s.block[from:to:to]
}

// Split divides len(costs) items into contiguous blocks of about equal cost, at most the given
// number. Block b has the items cuts[b] ≤ i < cuts[b+1]. No block is empty. The first cut is 0, and
// the last is len(costs). costs may have any unit, such as a query's number of documents; a cost
// below 1 counts as 1. The result depends only on the arguments. If there are no items, the result
// is the single cut 0.
func Split(costs []int, blocks int) []int {
	if blocks < 1 {
		panic(fmt.Sprintf("parallel: %d blocks", blocks))
	}
	cost := func(i int) float64 { return float64(max(costs[i], 1)) }
	n := len(costs)
	blocks = min(blocks, n)
	var left float64
	for i := range n {
		left += cost(i)
	}
	cuts := make([]int, 1, blocks+1)
	i := 0
	for b := range blocks {
		// The block gets its share of the remaining cost, rounded to whole items. Each later block
		// gets at least one item.
		share := left / float64(blocks-b)
		last := n - (blocks - b - 1)
		for sum := 0.0; i < last; i++ {
			if i > cuts[b] && sum+float64(cost(i)/2) > share && b < blocks-1 {
				break
			}
			sum += cost(i)
			left -= cost(i)
		}
		cuts = append(cuts, i)
	}
	return cuts
}
