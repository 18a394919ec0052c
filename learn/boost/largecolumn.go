package boost

import (
	"math"
	"slices"
)

// largeColumn is the state of a feature in a largeSearch. An order lists the documents sorted by the feature. A run is
// a part of an order without a threshold inside: the documents of a run have equal values or, with cuts, values in the
// same interval between cuts.
type largeColumn struct {
	varies bool
	cuts   []float32 // thresholds; nil if every value is one
	runs   int       // number of runs in the order

	// codes is the number of bins. docs and parts describe each bin by its code.
	codes int
	docs  [256]uint32
	parts [256]bool // thresholds lie within the bin

	// For each bin, by code: edges is the edge of the threshold at the bin's upper end, and sums is the sum of the
	// bin's potentials in this round. rise is an upper bound on how far edges inside the bin are above the edge at the
	// upper end, and fall on how far they are below it.
	edges, sums, rise, fall [256]float64

	error       float64   // bound on the error of edges
	ceiling     float64   // upper bound on the size of all edges; +Inf before the first round
	seen        [256]bool // bins whose exact edges were computed in this round
	seenDocs    int       // number of documents in these bins
	highestSeen bool      // the bin with the highest bound has exact edges, or no threshold inside
	done        bool      // the whole column was searched in this round
	best        candidate
}

// choose divides the documents in order into bins with about the same number of documents. It does not divide runs.
func (c *largeColumn) choose(order []uint32) {
	share := uint32(1)
	if c.runs = runs(order); c.runs > 256 {
		share = uint32((len(order) + 255) / 256)
	}
	c.codes = 1
	for from := 0; from < len(order); {
		to := runEnd(order, from)
		if c.docs[c.codes-1] >= share && c.codes < 256 {
			c.codes++
		}
		c.parts[c.codes-1] = c.docs[c.codes-1] > 0
		c.docs[c.codes-1] += uint32(to - from)
		from = to
	}
}

// code sets codes[d] to the code of each document d.
func (c *largeColumn) code(order []uint32, codes []uint8) {
	for code, n := range c.docs[:c.codes] {
		for _, doc := range order[:n] {
			codes[doc&^first] = uint8(code)
		}
		order = order[n:]
	}
}

// bound updates the edges at the ends of bins, the bounds on the edges inside bins, and the ceiling, from the sums of a
// round.
func (c *largeColumn) bound(sums *[256]uint64, u *units, up bool) {
	var edge int64
	for code := c.codes - 1; code >= 0; code-- {
		docs := uint64(c.docs[code])
		grown := float64(float64(sums[code]&(1<<growthBits-1)+docs) * u.growth)
		sum := float64(float64(int64(sums[code])>>growthBits) * u.potential)
		c.rise[code] += grown
		c.fall[code] += max(0, grown-(sum-c.sums[code])+u.difference(docs))
		c.edges[code], c.sums[code] = float64(float64(edge)*u.potential), sum
		edge += int64(sums[code]) >> growthBits
	}
	c.error, c.seen, c.seenDocs, c.done = u.error, [256]bool{}, 0, false
	c.raise(up)
}

// first is the bit that marks the first document of a run in an order.
const first = 1 << 31

// runEnd returns the end of the run that begins at from.
func runEnd(order []uint32, from int) int {
	to := from + 1
	for to < len(order) && order[to] < first {
		to++
	}
	return to
}

// runStart returns the start of the run that ends at to.
func runStart(order []uint32, to int) int {
	from := to - 1
	for order[from] < first {
		from--
	}
	return from
}

// runs returns the number of runs in an order.
func runs(order []uint32) (n int) {
	for _, doc := range order {
		n += int(doc >> 31)
	}
	return n
}

// interval returns the number of thresholds below v.
func interval(cuts []float32, v float32) int {
	below, _ := slices.BinarySearch(cuts, v)
	return below
}

// raise sets the ceiling to the highest of the bins' bounds.
func (c *largeColumn) raise(up bool) {
	c.ceiling = math.Inf(-1)
	for code := range c.codes {
		if reach := c.reach(code, up); reach > c.ceiling {
			c.ceiling, c.highestSeen = reach, c.seen[code] || !c.parts[code]
		}
	}
}

// reach returns the upper bound on sizeOf the edges inside a bin and at its upper end.
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

// reaching marks the bins whose result of reach is at least high, and returns the number of their documents. It omits
// bins without a threshold inside, and bins whose exact edges were computed in this round.
func (c *largeColumn) reaching(high float64, up bool) (marks [256]bool, docs int) {
	for code := range c.codes {
		if c.parts[code] && !c.seen[code] && c.reach(code, up) >= high {
			marks[code] = true
			docs += int(c.docs[code])
		}
	}
	return marks, docs
}

// attained returns a lower bound on the largest sizeOf an edge of the column, from the bins whose exact edges were
// computed in this round.
func (c *largeColumn) attained(up bool) float64 {
	least := math.Inf(-1)
	for code := range c.codes {
		if c.seen[code] {
			least = max(least, c.reach(code, up))
		}
	}
	return least - float64(2*c.error)
}

// lookInOrder calls look for the marked bins, given the order of the column.
func (c *largeColumn) lookInOrder(marks *[256]bool, order []uint32, potential []float64) {
	for code, n := range c.docs[:c.codes] {
		if marks[code] {
			c.look(code, order[:n], potential)
		}
		order = order[n:]
	}
}

// look computes all edges inside a bin and sets rise and fall to their exact values. order has the documents of the
// bin, sorted by value.
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
