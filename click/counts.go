package click

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"unsafe"

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

	clicked []bool   // of the last page
	ranks   []uint16 // the slots of the ranks of pages without slots

	seed  maphash.Seed
	lists []list // by hash, see bucketOf; their number is a power of two
	used  int    // of the lists
	other list   // a list that is too long for lists
}

// list is a ranking whose pairs and cells are known, so that they need not be looked up.
type list struct {
	hash  uint64 // of the query, the documents and the slots; 0 if the list is free
	pairs []int32
	slots []uint16
	cells [][]int32 // for each last click above, the cells of the ranks below; −1 where a cell is not known
}

// lists is the largest number of lists that are remembered. listDocs is the largest number of their documents.
const (
	lists    = 1 << 15
	listDocs = 32
)

// MaxSlots is the largest number of slots of a log.
const MaxSlots = 1 << 16

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
}

// Add counts a place.
func (c *Cells) Add(cell Cell, weight float64, clicked bool) {
	c.count(c.number(cell), weight, clicked)
}

// count counts a place of a known cell.
func (c *Cells) count(i int32, weight float64, clicked bool) {
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
	l, err := c.list(p)
	if err != nil {
		return err
	}
	c.Pages++
	c.Weight += p.Weight
	c.Ranks = max(c.Ranks, len(p.Docs))
	above := 0
	cells := c.cellsBelow(l, above)
	for r, pair := range l.pairs {
		clicked := p.Clicked(r)
		i := cells[r]
		if i < 0 {
			i = c.Cells.number(Cell{Pair: pair, Slot: l.slots[r], Rank: uint16(r), Above: uint16(above)})
			cells[r] = i
		}
		c.Cells.count(i, p.Weight, clicked)
		if clicked {
			if above = r + 1; above < len(l.pairs) {
				cells = c.cellsBelow(l, above)
			}
		}
	}
	if c.Keep {
		c.clicked = c.clicked[:0]
		for r := range l.pairs {
			c.clicked = append(c.clicked, p.Clicked(r))
		}
		c.Pattern = c.Patterns.Add(l.pairs, l.slots, c.clicked, p.Weight)
	}
	return c.Mem.Take(c.held()-held, "counts of clicks")
}

// cellsBelow returns the cells of a list below a last click, by rank.
func (c *Counts) cellsBelow(l *list, above int) []int32 {
	for len(l.cells) <= above {
		l.cells = append(l.cells, nil)
	}
	if l.cells[above] == nil {
		l.cells[above] = make([]int32, len(l.pairs))
		for r := range l.cells[above] {
			l.cells[above][r] = -1
		}
		if l != &c.other {
			c.bytes += int64(4*len(l.pairs)) + 24
		}
	}
	return l.cells[above]
}

// list returns the pairs and slots of a page. A list is known by a hash of 64 bits with a random seed: with 10⁸
// pages, the probability that one is taken for another is below 10⁻¹¹.
func (c *Counts) list(p *Page) (*list, error) {
	l, hash := &c.other, uint64(1)
	if len(p.Docs) <= listDocs {
		if 2*c.used >= len(c.lists) && len(c.lists) < lists {
			c.growLists()
		}
		hash = c.hash(p)
		at := bucketOf(hash, c.lists)
		if l = &at[0]; l.hash == hash {
			return l, nil
		}
		if at[1].hash == hash {
			return &at[1], nil
		}
		if l.hash != 0 && (at[1].hash == 0 || hash>>63 == 1) {
			l = &at[1]
		}
		if l.hash == 0 {
			c.used++
		}
	}
	l.hash, l.cells = 0, nil
	l.pairs, l.slots = l.pairs[:0], l.slots[:0]
	q := c.docs(p.Query)
	for r, d := range p.Docs {
		slot, err := c.slot(p, r)
		if err != nil {
			return nil, err
		}
		l.pairs, l.slots = append(l.pairs, c.pair(q, d)), append(l.slots, slot)
	}
	l.hash = hash
	return l, nil
}

// bucketOf returns the two places where a list with this hash may be.
func bucketOf(hash uint64, lists []list) []list {
	i := 2 * (hash % uint64(len(lists)/2))
	return lists[i : i+2]
}

// growLists makes room for more lists.
func (c *Counts) growLists() {
	if c.lists == nil {
		c.seed = maphash.MakeSeed()
	}
	more := make([]list, max(lists/64, 2*len(c.lists)))
	for _, l := range c.lists {
		at := bucketOf(l.hash, more)
		switch {
		case l.hash == 0:
		case at[0].hash == 0:
			at[0] = l
		default: // a bucket is divided between two, so this one is free
			at[1] = l
		}
	}
	c.bytes += int64(len(more)-len(c.lists)) * int64(unsafe.Sizeof(list{}))
	c.lists = more
}

// hash returns a hash of the query, the documents and the slots of a page, which is not 0.
func (c *Counts) hash(p *Page) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2⁶⁴ over the golden ratio
	h := maphash.String(c.seed, p.Query)
	for _, list := range [2][]string{p.Docs, p.Slots} {
		h += uint64(len(list))
		for _, text := range list {
			high, low := bits.Mul64(h^odd, maphash.String(c.seed, text)|1)
			h = high ^ low
		}
	}
	return max(h, 1)
}

// held returns the memory of the counts.
func (c *Counts) held() int64 {
	return c.bytes + cellBytes*int64(len(c.Cells.List)) + patternBytes*int64(c.Patterns.Len()) + placeBytes*int64(c.Patterns.Places())
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

// Moved returns the number of pairs that stood in two slots or more.
func (c *Counts) Moved() (n int) {
	const none, several = -1, -2
	in := make([]int, c.Pairs()) // the slot of each pair
	for i := range in {
		in[i] = none
	}
	for _, cell := range c.Cells.List {
		switch slot := &in[cell.Pair]; *slot {
		case none:
			*slot = int(cell.Slot)
		case int(cell.Slot), several:
		default:
			*slot = several
			n++
		}
	}
	return n
}
