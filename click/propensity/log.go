package propensity

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset/memory"
)

// Groups is the number of groups of units. A unit is a user, or a page without a user. The bootstrap and
// the standard errors of interventions take groups for independent, so a log is kept as counts by group.
const Groups = 100

// Log gathers pages for the estimates. Its memory grows with the distinct combinations of a pair, a slot, an
// arm and a group of units, not with the pages. With KeepClicked it also grows with the pages that have clicks.
type Log struct {
	// Interventions keeps only what shuffled and swapped pages say.
	Interventions bool
	// KeepClicked keeps pages with clicks, which dual learning needs.
	KeepClicked bool
	// Mem counts memory against a limit. nil means no limit.
	Mem *memory.Account
	// Value returns the value of a page by which Estimate makes estimates of parts of the log. nil means none.
	Value func(*click.Page) string

	// Pages and Weight are the number of pages and the sum of their weights.
	Pages  int
	Weight float64

	index  click.Index
	slots  []slotTotals
	groups [Groups]float64 // weight of the pages of each

	cells  []cell
	counts []count
	of     []int32 // open addressing: 1 + a cell, or 0; the length is a power of two

	edges  []edge
	edgeOf map[edgeKey]int32

	arms  []arm
	armOf map[armKey]uint16

	clicked clickedPages

	parts  map[string]*Log
	values []string // of the parts, in order of their first use
}

// slotTotals are sums over the pages with a slot.
type slotTotals struct{ shown, clicks, drawn, ranks float64 }

// cell is a pair in a slot, shown by an arm to a group of units.
type cell struct {
	pair  int32
	slot  uint16
	arm   uint16
	group uint8
}

// count is the weight of the pages of a cell, and of those with a click on the pair.
type count struct{ shown, clicked float64 }

type armKey struct{ experiment, arm, version string }

// arm is a ranker with the time of its pages.
type arm struct {
	armKey

	first, last int64 // µs
	timeless    bool  // a page has no time
}

// clickedPages are pages with clicks, one after another.
type clickedPages struct {
	starts []int32 // of each page
	groups []uint8
	weight []float64

	pairs   []int32
	slots   []uint16
	clicked []bool
}

// Memory of parts of a log.
const (
	cellBytes = 56
	pairBytes = 150
	pageBytes = 13
	restBytes = 7 // of a place of a page that is kept
	edgeBytes = 2 * Groups * 24
)

// Add counts a page, which must have clicks. Its slices are not kept.
func (l *Log) Add(p *click.Page) error {
	if p.Clicks == nil {
		return errNoClicks
	}
	if err := l.add(p, group(p.User, l.Pages)); err != nil {
		return err
	}
	if l.Value == nil {
		return nil
	}
	v := l.Value(p)
	part := l.parts[v]
	if part == nil {
		if l.parts == nil {
			l.parts = map[string]*Log{}
		}
		part = &Log{Interventions: l.Interventions, KeepClicked: l.KeepClicked, Mem: l.Mem}
		l.parts[v] = part
		l.values = append(l.values, v)
	}
	return part.add(p, group(p.User, l.Pages-1))
}

func (l *Log) add(p *click.Page, group uint8) error {
	l.Pages++
	l.Weight += p.Weight
	l.groups[group] += p.Weight
	slots := make([]uint16, len(p.Docs))
	for r := range p.Docs {
		n := l.index.Slot(p.SlotName(r))
		if n >= click.MaxSlots {
			return errSlots
		}
		slots[r] = uint16(n)
		if n == len(l.slots) {
			l.slots = append(l.slots, slotTotals{})
		}
		s := &l.slots[n]
		s.shown += p.Weight
		s.ranks += float64(p.Weight * float64(r))
		if p.Clicked(r) {
			s.clicks += p.Weight
		}
	}
	before := len(l.edges)
	l.addEdges(p, slots, group)
	if err := l.Mem.Take(edgeBytes*int64(len(l.edges)-before), "counts of clicks"); err != nil || l.Interventions {
		return err
	}
	return l.addCells(p, slots, group)
}

func (l *Log) addCells(p *click.Page, slots []uint16, group uint8) error {
	arm, err := l.arm(p)
	if err != nil {
		return err
	}
	pairs, cells := l.index.Pairs(), len(l.cells)
	page := make([]int32, len(p.Docs))
	for r, d := range p.Docs {
		page[r] = int32(l.index.Pair(p.Query, d))
		c := cell{page[r], slots[r], arm, group}
		i := l.number(c)
		l.counts[i].shown += p.Weight
		if p.Clicked(r) {
			l.counts[i].clicked += p.Weight
		}
	}
	more := pairBytes*int64(l.index.Pairs()-pairs) + cellBytes*int64(len(l.cells)-cells)
	if k := &l.clicked; l.KeepClicked && slices.ContainsFunc(p.Clicks, func(c int) bool { return c > 0 }) {
		k.starts, k.groups, k.weight = append(k.starts, int32(len(k.pairs))), append(k.groups, group), append(k.weight, p.Weight)
		k.pairs, k.slots = append(k.pairs, page...), append(k.slots, slots...)
		for r := range p.Docs {
			k.clicked = append(k.clicked, p.Clicked(r))
		}
		more += pageBytes + restBytes*int64(len(page))
	}
	return l.Mem.Take(more, "counts of clicks")
}

// number returns the number of a cell, a new one if it has none yet.
func (l *Log) number(c cell) int32 {
	if l.of == nil {
		l.of = make([]int32, 1024)
	}
	at := l.find(c)
	if i := l.of[at]; i > 0 {
		return i - 1
	}
	l.cells, l.counts = append(l.cells, c), append(l.counts, count{})
	n := int32(len(l.cells))
	l.of[at] = n
	if 4*len(l.cells) > 3*len(l.of) {
		l.of = make([]int32, 2*len(l.of))
		for k, other := range l.cells {
			l.of[l.find(other)] = int32(k + 1)
		}
	}
	return n - 1
}

// find returns the place in the table of a cell, or the free place where it belongs.
func (l *Log) find(c cell) int {
	h := uint64(uint32(c.pair)) | uint64(c.slot)<<32 | uint64(c.arm)<<48
	h = (h ^ uint64(c.group)<<56 ^ h>>31) * 0xbf58476d1ce4e5b9
	h = (h ^ uint64(c.group) ^ h>>29) * 0x94d049bb133111eb
	mask := len(l.of) - 1
	for at := int(h>>20) & mask; ; at = (at + 1) & mask {
		if i := l.of[at]; i == 0 || l.cells[i-1] == c {
			return at
		}
	}
}

// arm returns the number of the ranker of a page.
func (l *Log) arm(p *click.Page) (uint16, error) {
	k := armKey{p.Experiment, p.Arm, p.Version}
	n, ok := l.armOf[k]
	if !ok {
		if l.armOf == nil {
			l.armOf = map[armKey]uint16{}
		}
		if len(l.arms) > math.MaxUint16 {
			return 0, errArms
		}
		n = uint16(len(l.arms))
		l.armOf[k] = n
		l.arms = append(l.arms, arm{armKey: k, first: math.MaxInt64, last: math.MinInt64})
	}
	a, at := &l.arms[n], p.Time.UnixMicro()
	a.first, a.last, a.timeless = min(a.first, at), max(a.last, at), a.timeless || p.Time.IsZero()
	return n, nil
}

// group returns the group of a unit: of a user, or of the page of the given number.
func group(user string, page int) uint8 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(user) {
		h = (h ^ uint64(user[i])) * 1099511628211
	}
	if user == "" {
		h = uint64(page) + 1
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9 // the finaliser of SplitMix64
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return uint8((h ^ h>>31) % Groups)
}

// order returns the slots from top to bottom, by their mean rank and then by their names. At most limit slots are returned, all if it is 0.
func (l *Log) order(limit int) []int {
	order := make([]int, 0, len(l.slots))
	for i := range l.slots {
		if l.slots[i].shown > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := l.slots[a], l.slots[b]
		p, q := l.index.Slots()[a], l.index.Slots()[b]
		return cmp.Or(cmp.Compare(x.ranks/x.shown, y.ranks/y.shown), cmp.Compare(number(p), number(q)), cmp.Compare(p, q))
	})
	if limit > 0 && limit < len(order) {
		order = order[:limit]
	}
	return order
}

// number returns the number that a slot is named after, the largest if it is none.
func number(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// places returns the place of each slot in an order, −1 if it is not there.
func places(order []int, slots int) []int {
	at := make([]int, slots)
	for i := range at {
		at[i] = -1
	}
	for i, s := range order {
		at[s] = i
	}
	return at
}

// table has cells by pair and slot, with their counts by group.
type table struct {
	pairs  []int32 // of each cell
	slots  []int32 // place in the order
	starts []int32 // of each cell in groups, and the end of the last
	blocks []int32 // where cells of a pair begin, and the end of the last

	groups []uint8
	counts []count
}

// table returns the cells of the slots of an order. Arms are one if class is nil. Otherwise a pair that arms of
// different classes show counts as different pairs.
func (l *Log) table(order []int, class []int) *table {
	type placed struct {
		block, slot uint64 // class and pair; place and group
		cell        int32
	}
	at := places(order, len(l.slots))
	list := make([]placed, 0, len(l.cells))
	for i, c := range l.cells {
		k := 0
		if class != nil {
			k = class[c.arm]
		}
		if at[c.slot] >= 0 {
			list = append(list, placed{uint64(k)<<32 | uint64(c.pair), uint64(at[c.slot])<<8 | uint64(c.group), int32(i)})
		}
	}
	slices.SortFunc(list, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.slot, b.slot), cmp.Compare(a.cell, b.cell))
	})
	t := &table{}
	for i, p := range list {
		first := i == 0 || list[i-1].block != p.block
		if first {
			t.blocks = append(t.blocks, int32(len(t.pairs)))
		}
		if first || list[i-1].slot>>8 != p.slot>>8 {
			t.pairs, t.slots, t.starts = append(t.pairs, int32(uint32(p.block))), append(t.slots, int32(p.slot>>8)), append(t.starts, int32(len(t.groups)))
		}
		c := l.counts[p.cell]
		if n := len(t.counts) - 1; !first && list[i-1].slot == p.slot { // of another arm
			t.counts[n].shown += c.shown
			t.counts[n].clicked += c.clicked
			continue
		}
		t.groups, t.counts = append(t.groups, uint8(p.slot)), append(t.counts, c)
	}
	t.blocks, t.starts = append(t.blocks, int32(len(t.pairs))), append(t.starts, int32(len(t.groups)))
	return t
}

// sums returns the counts of each cell with weights of groups, nil if all are 1.
func (t *table) sums(weights []float64) []count {
	sums := make([]count, len(t.pairs))
	for i := range sums {
		for j := t.starts[i]; j < t.starts[i+1]; j++ {
			w := 1.0
			if weights != nil {
				w = weights[t.groups[j]]
			}
			sums[i].shown += float64(w * t.counts[j].shown)
			sums[i].clicked += float64(w * t.counts[j].clicked)
		}
	}
	return sums
}
