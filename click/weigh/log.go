package weigh

import (
	"slices"
	"strconv"

	"github.com/listwise/listwise/click"
)

// Log gathers pages. Its memory grows with the distinct cells of package click and, with Keep, with the distinct
// pages. Counts.Mem limits it.
type Log struct {
	click.Counts

	// Value returns the value of a page by which its propensities differ (By of an Estimate). nil means none.
	Value func(*click.Page) string

	// drawn has, for pages with orders, how often a pair could have been expected in a slot less how often it was
	// there.
	drawn click.Cells

	names  map[place]string // of slots in Counts, with Value
	places []place          // by these names, which are numbers
}

// place is a slot of the pages with a value.
type place struct{ value, slot string }

// Memory of a pair and of a cell that orders add.
const (
	pairBytes = 150
	cellBytes = 64
)

// Add counts a page, which must have clicks. Its slices are not kept.
func (l *Log) Add(p *click.Page) error {
	page := *p
	if l.Value != nil {
		page.Slots = l.placesOf(p)
	}
	if err := l.Counts.Add(&page); err != nil || len(p.Orders) == 0 {
		return err
	}
	return l.addOrders(&page)
}

// placesOf returns the names in Counts of the slots of a page.
func (l *Log) placesOf(p *click.Page) []string {
	if l.names == nil {
		l.names = map[place]string{}
	}
	slots := make([]string, len(p.Docs))
	value := l.Value(p)
	for r := range slots {
		at := place{value, p.SlotName(r)}
		name, ok := l.names[at]
		if !ok {
			name = strconv.Itoa(len(l.places))
			l.names[at] = name
			l.places = append(l.places, at)
		}
		slots[r] = name
	}
	return slots
}

// place returns the value and the slot of a slot of Counts.
func (l *Log) place(slot int) place {
	name := l.Slots()[slot]
	if l.Value == nil {
		return place{slot: name}
	}
	n, _ := strconv.Atoi(name)
	return l.places[n]
}

// complete is the least sum of the probabilities of orders from which they are all that could have been shown.
const complete = 1 - 1e-6

// addOrders counts where the rankings that could have been shown would have put documents. Orders whose
// probabilities are not complete are ignored.
func (l *Log) addOrders(p *click.Page) error {
	sum := 0.0
	for _, o := range p.Orders {
		sum += o.Probability
	}
	if sum < complete {
		return nil
	}
	pairs, cells := l.Pairs(), len(l.drawn.List)
	add := func(docs []string, weight float64) {
		for r, d := range docs[:min(len(docs), len(p.Docs))] {
			l.drawn.Add(click.Cell{Pair: int32(l.Pair(p.Query, d)), Slot: uint16(l.Slot(p.SlotName(r)))}, weight, false)
		}
	}
	for _, o := range p.Orders {
		add(o.Docs, float64(p.Weight*(o.Probability/sum)))
	}
	add(p.Docs, -p.Weight)
	if l.Mem == nil {
		return nil
	}
	return l.Mem.Take(pairBytes*int64(l.Pairs()-pairs)+cellBytes*int64(len(l.drawn.List)-cells), "counts of clicks")
}

// pagesOf returns the weight of the pages of each query.
func (l *Log) pagesOf() map[string]float64 {
	pages := make(map[string]float64, l.Queries())
	for i, c := range l.Cells.List {
		if c.Rank == 0 {
			query, _ := l.Name(int(c.Pair))
			pages[query] += l.Cells.Counts[i].Shown
		}
	}
	return pages
}

// slotsNamed returns the names of some slots of Counts, without repetition.
func (l *Log) slotsNamed(slots []int) []string {
	var names []string
	for _, s := range slots {
		at := l.place(s)
		name := at.slot
		if at.value != "" {
			name += " of " + at.value
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
