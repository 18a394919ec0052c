package model

import (
	"slices"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/parallel"
)

// Data is a log arranged for fitting. Pairs are numbered so that those of a query are adjacent.
// Parallel sums go over ranges of pairs or queries, so the bits of a fit do not depend on the workers.
type Data struct {
	names names
	slots []string
	ranks int
	pages int

	queries []int32 // first pair of each query, and the end

	// of the pairs
	shown, clicked []float64
	clicks         float64

	list   []click.Cell // by pair
	counts []click.Count
	starts []int32 // first cell of each pair, and the end

	patterns
}

// names are the pairs of a model. number maps their numbers in the index to those of the model; nil
// means that they are equal.
type names struct {
	index  *click.Index
	number []int32
	pairs  []int32 // the inverse of number
}

func (n *names) len() int { return len(n.pairs) }

// find returns the number of a pair, -1 if it has none.
func (n *names) find(query, doc string) int32 {
	if i := n.index.Lookup(query, doc); i >= 0 && i < len(n.number) {
		return n.number[i]
	}
	return -1
}

// name returns the query and the document of a pair.
func (n *names) name(pair int32) (query, doc string) { return n.index.Name(int(n.pairs[pair])) }

// patterns are the distinct pages of a log, grouped by query.
type patterns struct {
	page   []int32 // first place of each pattern, and the end
	pair   []int32 // of each place
	click  []bool
	weight []float64 // of each pattern
	last   []int32   // rank of the last click of each pattern, -1 without clicks
	of     []int32   // first pattern of each query, and the end
}

// Memory of a pair, a cell, a pattern and a place of a pattern, with what a fit needs.
const (
	pairBytes    = 128
	cellBytes    = 56
	patternBytes = 24
	placeBytes   = 5
)

// Arrange arranges a log. Models whose examination goes down the page need patterns, which the counts
// have if Keep is set. The counts must not change while the data or its models are used.
func Arrange(c *click.Counts) (*Data, error) {
	held := pairBytes*c.Pairs() + cellBytes*len(c.Cells.List) + patternBytes*c.Patterns.Len() + placeBytes*c.Patterns.Places()
	if err := c.Mem.Take(int64(held), "fits of click models"); err != nil {
		return nil, err
	}
	d := &Data{slots: slices.Clone(c.Slots()), ranks: c.Ranks, pages: c.Pages}
	of := d.number(&c.Index)
	n := c.Pairs()
	d.shown, d.clicked = make([]float64, n), make([]float64, n)
	d.starts = make([]int32, n+1)
	for i, cell := range c.Cells.List {
		pair := d.names.number[cell.Pair]
		d.starts[pair+1]++
		d.shown[pair] += c.Cells.Counts[i].Shown
		d.clicked[pair] += c.Cells.Counts[i].Clicked
	}
	for _, v := range d.clicked {
		d.clicks += v
	}
	sum(d.starts)
	d.list, d.counts = make([]click.Cell, len(c.Cells.List)), make([]click.Count, len(c.Cells.List))
	next := slices.Clone(d.starts)
	for i, cell := range c.Cells.List {
		cell.Pair = d.names.number[cell.Pair]
		at := next[cell.Pair]
		next[cell.Pair]++
		d.list[at], d.counts[at] = cell, c.Cells.Counts[i]
	}
	d.arrangePatterns(&c.Patterns, of)
	return d, nil
}

// number numbers the pairs by query. It returns the query of each pair of the index.
func (d *Data) number(index *click.Index) (of []int32) {
	n := index.Pairs()
	of = make([]int32, n)
	d.queries = make([]int32, index.Queries()+1)
	queries := make(map[string]int32, index.Queries())
	for i := range n {
		query, _ := index.Name(i)
		q, ok := queries[query]
		if !ok {
			q = int32(len(queries))
			queries[query] = q
		}
		of[i] = q
		d.queries[q+1]++
	}
	d.queries = d.queries[:len(queries)+1] // a query without pairs has no number
	sum(d.queries)
	d.names = names{index, make([]int32, n), make([]int32, n)}
	next := slices.Clone(d.queries)
	for i, q := range of {
		d.names.number[i] = next[q]
		d.names.pairs[next[q]] = int32(i)
		next[q]++
	}
	return of
}

func (d *Data) arrangePatterns(p *click.Patterns, of []int32) {
	n := p.Len()
	if n == 0 {
		return
	}
	d.of = make([]int32, len(d.queries))
	for i := range n {
		d.of[of[p.At(i).Pairs[0]]+1]++
	}
	sum(d.of)
	order, next := make([]int32, n), slices.Clone(d.of)
	for i := range n {
		q := of[p.At(i).Pairs[0]]
		order[next[q]] = int32(i)
		next[q]++
	}
	d.page, d.weight, d.last = make([]int32, 1, n+1), make([]float64, n), make([]int32, n)
	d.pair, d.click = make([]int32, 0, p.Places()), make([]bool, 0, p.Places())
	for k, i := range order {
		page := p.At(int(i))
		d.weight[k], d.last[k] = page.Weight, -1
		for r, pair := range page.Pairs {
			d.pair = append(d.pair, d.names.number[pair])
			if page.Clicked[r] {
				d.last[k] = int32(r)
			}
		}
		d.click = append(d.click, page.Clicked...)
		d.page = append(d.page, int32(len(d.pair)))
	}
}

// sum replaces counts by their running sums.
func sum(counts []int32) {
	for i := range counts[1:] {
		counts[i+1] += counts[i]
	}
}

// cuts divides items, given by their first parts, into blocks for sums of vectors of length dim.
func cuts(starts []int32, dim int) []int {
	n := len(starts) - 1
	costs := make([]int, n)
	for i := range costs {
		costs[i] = int(starts[i+1] - starts[i])
	}
	blocks := parallel.DefaultBlocks
	if dim > 0 {
		blocks = min(blocks, max(1, int(starts[n])/(4*dim))) // so that adding the vectors is cheap
	}
	return parallel.Split(costs, blocks)
}
