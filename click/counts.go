package click

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/listwise/listwise/dataset/memory"
)

// Counts has what the pages of a log say, in numbers. Pages are added one by one, and the result depends
// on their order only in its numbering. Memory grows with the distinct cells and patterns, not with
// the pages.
type Counts struct {
	Index

	// Keep is set to keep Patterns, which cost more memory than Cells.
	Keep bool

	// Mem counts memory against a limit. nil means no limit.
	Mem *memory.Account

	Cells    Cells
	Patterns Patterns

	// Pages and Weight are the number of pages and the sum of their weights.
	Pages  int
	Weight float64
	Ranks  int // of the longest page

	// Pattern is the number of the pattern of the page that was added last, if Keep is set.
	Pattern int

	place placed   // of the last page
	ranks []uint16 // the slots of the ranks of pages without slots
}

// MaxSlots is the largest number of slots of a log.
const MaxSlots = 1 << 16

// placed is a page in numbers.
type placed struct {
	pairs   []int32
	slots   []uint16
	clicked []bool
}

// Cell is a group of places of pages that the models of a single place cannot tell apart: a pair at a rank in a
// slot, with a last click above.
type Cell struct {
	Pair  int32
	Slot  uint16
	Rank  uint16 // from 0
	Above uint16 // 1 + the rank of the last click above, 0 if there is none
}

// Count is the weight of the pages of a cell, and of those with a click on the pair.
type Count struct{ Shown, Clicked float64 }

// Cells are the cells of a log with their counts, in the order of their first use.
type Cells struct {
	List   []Cell
	Counts []Count
	table  []int32 // open addressing: 1 + a cell, or 0; the length is a power of two
	next   int32   // the cell behind the last one
}

// Add counts a place.
func (c *Cells) Add(cell Cell, weight float64, clicked bool) {
	i := c.next // pages of a query are often alike, so their cells are neighbours
	if int(i) >= len(c.List) || c.List[i] != cell {
		i = c.number(cell)
	}
	c.next = i + 1
	c.Counts[i].Shown += weight
	if clicked {
		c.Counts[i].Clicked += weight
	}
}

// number returns the number of a cell, a new one if it has none yet.
func (c *Cells) number(cell Cell) int32 {
	if len(c.table) == 0 {
		c.table = make([]int32, 1024)
	}
	at := c.find(cell)
	if i := c.table[at]; i > 0 {
		return i - 1
	}
	c.List, c.Counts = append(c.List, cell), append(c.Counts, Count{})
	c.table[at] = int32(len(c.List))
	if 2*len(c.List) > len(c.table) {
		c.table = make([]int32, 2*len(c.table))
		for k, other := range c.List {
			c.table[c.find(other)] = int32(k + 1)
		}
	}
	return int32(len(c.List) - 1)
}

// find returns the place in the table of a cell, or the free place where it belongs.
func (c *Cells) find(cell Cell) int {
	const odd = 0x9e3779b97f4a7c15 // 2⁶⁴ over the golden ratio
	high, low := bits.Mul64(uint64(uint32(cell.Pair))|uint64(cell.Slot)<<32|uint64(cell.Rank)<<48, odd)
	mask := len(c.table) - 1
	for at := int((high^low)+uint64(cell.Above)*(odd>>16)) & mask; ; at = (at + 1) & mask {
		if i := c.table[at]; i == 0 || c.List[i-1] == cell {
			return at
		}
	}
}

// Pattern is a distinct page: the pairs of its ranks, their slots, and which were clicked.
type Pattern struct {
	Pairs   []int32
	Slots   []uint16
	Clicked []bool
	Weight  float64 // of all pages with this pattern
}

// Patterns are the distinct pages of a log in the order of their first use.
type Patterns struct {
	starts  []int // of each pattern, and the end of the last
	pairs   []int32
	slots   []uint16
	clicked []bool
	weights []float64

	seed  maphash.Seed
	table []int32 // open addressing: 1 + a pattern, or 0; the length is a power of two
}

// Len returns the number of patterns.
func (p *Patterns) Len() int { return len(p.weights) }

// Places returns the number of places of all patterns.
func (p *Patterns) Places() int { return len(p.pairs) }

// Start returns the number of places of the patterns before pattern i.
func (p *Patterns) Start(i int) int { return p.starts[i] }

// At returns a pattern, whose slices the caller must not change.
func (p *Patterns) At(i int) Pattern {
	a, b := p.starts[i], p.starts[i+1]
	return Pattern{Pairs: p.pairs[a:b], Slots: p.slots[a:b], Clicked: p.clicked[a:b], Weight: p.weights[i]}
}

// Add counts a page and returns the number of its pattern.
func (p *Patterns) Add(pairs []int32, slots []uint16, clicked []bool, weight float64) int {
	if p.table == nil {
		p.seed, p.table, p.starts = maphash.MakeSeed(), make([]int32, 1024), []int{0}
	}
	at := p.find(pairs, slots, clicked)
	if i := p.table[at]; i != 0 {
		p.weights[i-1] += weight
		return int(i - 1)
	}
	p.pairs, p.slots, p.clicked = append(p.pairs, pairs...), append(p.slots, slots...), append(p.clicked, clicked...)
	p.starts = append(p.starts, len(p.pairs))
	p.weights = append(p.weights, weight)
	p.table[at] = int32(len(p.weights))
	if 2*len(p.weights) > len(p.table) {
		p.table = make([]int32, 2*len(p.table))
		for i := range p.weights {
			q := p.At(i)
			p.table[p.find(q.Pairs, q.Slots, q.Clicked)] = int32(i + 1)
		}
	}
	return len(p.weights) - 1
}

// find returns the place in the table of a pattern, or the free place where it belongs.
func (p *Patterns) find(pairs []int32, slots []uint16, clicked []bool) int {
	h := maphash.Hash{}
	h.SetSeed(p.seed)
	for r, d := range pairs {
		b := [7]byte{byte(d), byte(d >> 8), byte(d >> 16), byte(d >> 24), byte(slots[r]), byte(slots[r] >> 8)}
		if clicked[r] {
			b[6] = 1
		}
		_, _ = h.Write(b[:]) // a hash returns no error
	}
	mask := len(p.table) - 1
	for at := int(h.Sum64()) & mask; ; at = (at + 1) & mask {
		i := p.table[at]
		if i == 0 {
			return at
		}
		q := p.At(int(i - 1))
		if slices.Equal(q.Pairs, pairs) && slices.Equal(q.Slots, slots) && slices.Equal(q.Clicked, clicked) {
			return at
		}
	}
}

// Memory of a cell and of a pattern with their places in tables, and of a place of a pattern.
const (
	cellBytes    = 64
	patternBytes = 48
	placeBytes   = 12
)

// Add counts a page, which must have clicks. Its slices are not kept.
func (c *Counts) Add(p *Page) error {
	if p.Clicks == nil {
		return bad("a page without clicks", "clicks or clicked")
	}
	held := c.held()
	if err := c.number(p); err != nil {
		return err
	}
	c.Pages++
	c.Weight += p.Weight
	c.Ranks = max(c.Ranks, len(p.Docs))
	above := uint16(0)
	for r, pair := range c.place.pairs {
		c.Cells.Add(Cell{Pair: pair, Slot: c.place.slots[r], Rank: uint16(r), Above: above}, p.Weight, c.place.clicked[r])
		if c.place.clicked[r] {
			above = uint16(r + 1)
		}
	}
	if c.Keep {
		c.Pattern = c.Patterns.Add(c.place.pairs, c.place.slots, c.place.clicked, p.Weight)
	}
	if more := c.held() - held; more > 0 && c.Mem != nil {
		return c.Mem.Take(more, "counts of clicks")
	}
	if more := c.held() - held; more > 0 && c.Mem != nil {
		return c.Mem.Take(more, "counts of clicks")
	}
	return nil
}

// held returns the memory of the counts.
func (c *Counts) held() int64 {
	return c.bytes + cellBytes*int64(len(c.Cells.List)) + patternBytes*int64(c.Patterns.Len()) + placeBytes*int64(c.Patterns.Places())
}

// number writes the numbers of a page to c.place.
func (c *Counts) number(p *Page) error {
	q := c.docs(p.Query)
	c.place = placed{c.place.pairs[:0], c.place.slots[:0], c.place.clicked[:0]}
	for r, d := range p.Docs {
		slot, err := c.slot(p, r)
		if err != nil {
			return err
		}
		c.place.pairs = append(c.place.pairs, c.pairAt(q, r, d))
		c.place.slots = append(c.place.slots, slot)
		c.place.clicked = append(c.place.clicked, p.Clicked(r))
	}
	return nil
}

// pairAt returns the pair of a document at a rank. Many pages of a query have the same document there.
func (c *Counts) pairAt(q *docs, rank int, doc string) int32 {
	if rank < len(q.last) && c.pairs[q.last[rank]].doc == doc {
		return q.last[rank]
	}
	n := c.pair(q, doc)
	if rank == len(q.last) {
		q.last = append(q.last, n)
	}
	q.last[rank] = n
	return n
}

// slot returns the number of the slot of a rank.
func (c *Counts) slot(p *Page, r int) (uint16, error) {
	if p.Slots == nil && r < len(c.ranks) {
		return c.ranks[r], nil
	}
	n := c.Slot(p.SlotName(r))
	if n >= MaxSlots {
		return 0, bad(fmt.Sprintf("slot %q", p.SlotName(r)), fmt.Sprintf("at most %d slots in a log", MaxSlots))
	}
	if p.Slots == nil {
		c.ranks = append(c.ranks, uint16(n)) // r is its length, since ranks come in order
	}
	return uint16(n), nil
}
