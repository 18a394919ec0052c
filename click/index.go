package click

import (
	"strconv"
	"strings"
)

// Index numbers the pairs of a query and a document, and the slots, from 0 in the order of their
// first use. The zero value is empty and ready to use.
type Index struct {
	queries map[string]*docs
	pairs   []pair

	slots     map[string]int
	slotNames []string

	bytes int64 // memory of all of these
}

type pair struct {
	query string
	doc   string
}

type docs struct {
	name string
	of   map[string]int32
}

// Memory of a query, a pair and a slot, without their names.
const (
	queryBytes = 400
	pairBytes  = 100
	slotBytes  = 100
)

// Pair returns the number of a pair, a new one if it has none yet.
func (x *Index) Pair(query, doc string) int { return int(x.pair(x.docs(query), doc)) }

// docs returns the documents of a query.
func (x *Index) docs(query string) *docs {
	d := x.queries[query]
	if d == nil {
		if x.queries == nil {
			x.queries = map[string]*docs{}
		}
		query = strings.Clone(query) // it may be part of a line
		d = &docs{name: query, of: map[string]int32{}}
		x.queries[query] = d
		x.bytes += queryBytes + int64(len(query))
	}
	return d
}

func (x *Index) pair(d *docs, doc string) int32 {
	n, ok := d.of[doc]
	if !ok {
		n = int32(len(x.pairs))
		doc = strings.Clone(doc)
		d.of[doc] = n
		x.pairs = append(x.pairs, pair{d.name, doc})
		x.bytes += pairBytes + int64(len(doc))
	}
	return n
}

// Lookup returns the number of a pair, -1 if it has none.
func (x *Index) Lookup(query, doc string) int {
	if d := x.queries[query]; d != nil {
		if n, ok := d.of[doc]; ok {
			return int(n)
		}
	}
	return -1
}

// Pairs returns the number of pairs.
func (x *Index) Pairs() int { return len(x.pairs) }

// Queries returns the number of queries.
func (x *Index) Queries() int { return len(x.queries) }

// Name returns the query and the document of a pair.
func (x *Index) Name(pair int) (query, doc string) { return x.pairs[pair].query, x.pairs[pair].doc }

// Slot returns the number of a slot, a new one if it has none yet.
func (x *Index) Slot(name string) int {
	n, ok := x.slots[name]
	if !ok {
		if x.slots == nil {
			x.slots = map[string]int{}
		}
		n = len(x.slotNames)
		name = strings.Clone(name)
		x.slots[name] = n
		x.slotNames = append(x.slotNames, name)
		x.bytes += slotBytes + int64(len(name))
	}
	return n
}

// LookupSlot returns the number of a slot, -1 if it has none.
func (x *Index) LookupSlot(name string) int {
	if n, ok := x.slots[name]; ok {
		return n
	}
	return -1
}

// Slots returns the names of the slots by their numbers. The caller must not change them.
func (x *Index) Slots() []string { return x.slotNames }

// SlotName returns the name of the slot of a rank: its own, or the rank counted from 1.
func (p *Page) SlotName(rank int) string {
	if p.Slots != nil {
		return p.Slots[rank]
	}
	return strconv.Itoa(rank + 1)
}
