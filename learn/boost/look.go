package boost

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// look looks at documents of bins of a column, those that may reach half of what the highest may above least, and lowers
// the column's ceiling. It returns false where searching the column is the lesser work.
func (s *largeSearch) look(f int, least float64, potential []float64) bool {
	const part = 4 // of the documents are more work than that
	c := &s.columns[f]
	marks, docs := c.reaching(least+float64((c.ceiling-least)/2), s.up)
	switch {
	case s.orders.has(f):
		order, _ := s.orders.of(f)
		c.lookInOrder(&marks, order, potential)
	case c.seenDocs+docs > len(s.rows)/part:
		return false
	default:
		s.lookByCode(f, &marks, potential)
	}
	c.seenDocs += docs
	c.raise(s.up)
	return true
}

// lookByCode looks at the marked bins of a column whose order is not there.
func (s *largeSearch) lookByCode(f int, marks *[256]bool, potential []float64) {
	c, keys := &s.columns[f], ascending(s.marked(f, marks), s.sorter.spare)
	codes := s.codesOf(f)
	for len(keys) > 0 {
		code := codes[uint32(keys[0])]
		n := int(c.docs[code])
		s.bin = slices.Grow(s.bin[:0], n)[:n]
		putOrder(s.bin, keys[:n])
		c.look(int(code), s.bin, potential)
		keys = keys[n:]
	}
}

// marked returns the documents of the marked bins of a column with the keys of their values in the upper halves, in the memory
// of the sorter.
func (s *largeSearch) marked(f int, marks *[256]bool) (keys []uint64) {
	var taken [256]uint8
	for code, marked := range marks {
		if marked {
			taken[code] = 1
		}
	}
	parts := make([][]uint64, parallel.Workers(s.workers, (len(s.rows)+markedPart-1)/markedPart))
	parallel.For(len(parts), s.workers, func(_, i int) {
		parts[i] = s.markedOf(f, &taken, i*len(s.rows)/len(parts), (i+1)*len(s.rows)/len(parts))
	})
	keys = parts[0]
	for _, more := range parts[1:] {
		keys = append(keys, more...) // in place: parts lie where their documents do, or further to the front
	}
	return keys
}

// markedPart is the number of documents that are worth a goroutine.
const markedPart = 1 << 17

// markedOf is marked for documents of a range. The numbers are put together first and the values
// fetched then: neither has a branch that the processor cannot foresee, so that it fetches many at a time.
func (s *largeSearch) markedOf(f int, taken *[256]uint8, from, to int) []uint64 {
	keys := putTaken(s.sorter.keys[from:to], s.codesOf(f)[from:to], taken, from)
	x, width := s.data.X()[f:], s.data.Features
	for i, doc := range keys {
		keys[i] = uint64(kernel.AscendingKey(x[s.rows[doc]*width]))<<32 | doc
	}
	if cuts := s.columns[f].cuts; cuts != nil {
		for i, key := range keys {
			keys[i] = uint64(interval(cuts, kernel.OfAscendingKey(uint32(key>>32))))<<32 | uint64(uint32(key))
		}
	}
	return keys
}

// putTaken puts the numbers, from one on, of the codes that are taken, which is 1 or else 0, and returns the part of keys
// that has them. Few are, so that eight are looked at together first.
func putTaken(keys []uint64, codes []uint8, taken *[256]uint8, from int) []uint64 {
	docs := 0
	for len(codes) > 0 {
		n := min(8, len(codes))
		if n == 8 {
			w := binary.LittleEndian.Uint64(codes)
			if taken[uint8(w)]|taken[uint8(w>>8)]|taken[uint8(w>>16)]|taken[uint8(w>>24)]|
				taken[uint8(w>>32)]|taken[uint8(w>>40)]|taken[uint8(w>>48)]|taken[uint8(w>>56)] == 0 {
				codes, from = codes[8:], from+8
				continue
			}
		}
		for i, code := range codes[:n] {
			keys[docs] = uint64(from + i)
			docs += int(taken[code])
		}
		codes, from = codes[n:], from+n
	}
	return keys[:docs]
}

// ascending sorts keys by their upper halves; the lower ones ascend. It may return them in the spare memory.
func ascending(keys, spare []uint64) []uint64 {
	const few = 2 * digits
	if len(keys) < few {
		slices.Sort(keys)
		return keys
	}
	var counts [3][digits]uint32
	for _, key := range keys {
		counts[0][key>>32%digits]++
		counts[1][key>>(32+digitBits)%digits]++
		counts[2][key>>(32+2*digitBits)]++
	}
	other := spare[:len(keys)]
	for pass := range counts {
		starts, at, shift := &counts[pass], uint32(0), 32+pass*digitBits
		if slices.Contains(starts[:], uint32(len(keys))) {
			continue // all have the same digit
		}
		for d, n := range starts {
			starts[d], at = at, at+n
		}
		for _, key := range keys {
			d := key >> shift % digits
			other[starts[d]] = key
			starts[d]++
		}
		keys, other = other, keys
	}
	return keys
}

// raise sets the ceiling to the highest of the bins'.
func (c *largeColumn) raise(up bool) {
	c.ceiling = math.Inf(-1)
	for code := range c.codes {
		if reach := c.reach(code, up); reach > c.ceiling {
			c.ceiling, c.highestSeen = reach, c.seen[code] || !c.parts[code]
		}
	}
}

// reach returns the ceiling of a bin.
func (c *largeColumn) reach(code int, up bool) float64 {
	edge, rise, fall := c.edges[code], 0.0, 0.0
	if c.parts[code] {
		rise, fall = c.rise[code], c.fall[code]
	}
	if up {
		return edge + rise + c.error
	}
	return max(edge+rise, fall-edge) + c.error
}

// reaching marks the bins that thresholds lie within and whose ceilings are not below high, unless they were looked
// at in this round, and returns the number of their documents.
func (c *largeColumn) reaching(high float64, up bool) (marks [256]bool, docs int) {
	for code := range c.codes {
		if c.parts[code] && !c.seen[code] && c.reach(code, up) >= high {
			marks[code] = true
			docs += int(c.docs[code])
		}
	}
	return marks, docs
}

// attained returns a number that the best edge is not below, of the bins that were looked at in this round.
func (c *largeColumn) attained(up bool) float64 {
	least := math.Inf(-1)
	for code := range c.codes {
		if c.seen[code] {
			least = max(least, c.reach(code, up))
		}
	}
	return least - float64(2*c.error)
}

// lookInOrder looks at the marked bins, given the column's order.
func (c *largeColumn) lookInOrder(marks *[256]bool, order []uint32, potential []float64) {
	for code, n := range c.docs[:c.codes] {
		if marks[code] {
			c.look(code, order[:n], potential)
		}
		order = order[n:]
	}
}

// look sets how far edges rise and fall within a bin, given the order of its documents.
func (c *largeColumn) look(code int, order []uint32, potential []float64) {
	var sum, rise, fall float64
	for i := len(order) - 1; i > 0; i-- {
		sum += potential[order[i]&^first]
		if order[i] >= first {
			rise, fall = max(rise, sum), max(fall, -sum)
		}
	}
	c.rise[code], c.fall[code], c.seen[code] = rise, fall, true
}
