package boost

import (
	"math"
	"slices"
)

// largeColumn is a feature of a largeSearch.
type largeColumn struct {
	varies bool
	cuts   []float32 // thresholds; nil if every value is one
	runs   int       // number of runs in the order

	// Bins, by code: their number, their numbers of documents, and whether thresholds are inside a bin.
	codes int
	docs  [256]uint32
	parts [256]bool // thresholds lie within the bin

	// By code: the edge at the bin's upper end, and the sum of the bin's potentials in this round. rise and fall
	// bound how far edges inside the bin are above and below the edge at the upper end.
	edges, sums, rise, fall [256]float64

	error       float64   // bound on the error of edges
	ceiling     float64   // upper bound on the size of all edges; +Inf before the first round
	seen        [256]bool // bins whose exact edges were computed in this round
	seenDocs    int       // number of documents in these bins
	highestSeen bool      // the bin with the highest bound has exact edges, or no threshold inside
	done        bool      // the whole column was searched in this round
	best        candidate
}

// choose divides the order into bins of whole runs with about the same number of documents.
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

// code sets the documents' codes.
func (c *largeColumn) code(order []uint32, codes []uint8) {
	for code, n := range c.docs[:c.codes] {
		for _, doc := range order[:n] {
			codes[doc&^first] = uint8(code)
		}
		order = order[n:]
	}
}

// bound updates the edges, their bounds and the ceiling from the sums of a round.
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

// first marks the first document of a run in an order. The values of a run are equal or, with cuts, in the same
// interval between thresholds.
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

// reach returns the upper bound on the size of the edges of a bin.
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

// reaching marks the bins whose bounds are at least high, and returns the number of their documents. It leaves out
// bins without a threshold inside, and bins with exact edges.
func (c *largeColumn) reaching(high float64, up bool) (marks [256]bool, docs int) {
	for code := range c.codes {
		if c.parts[code] && !c.seen[code] && c.reach(code, up) >= high {
			marks[code] = true
			docs += int(c.docs[code])
		}
	}
	return marks, docs
}

// attained returns a lower bound on the best edge, from the bins whose exact edges were computed in this round.
func (c *largeColumn) attained(up bool) float64 {
	least := math.Inf(-1)
	for code := range c.codes {
		if c.seen[code] {
			least = max(least, c.reach(code, up))
		}
	}
	return least - float64(2*c.error)
}

// lookInOrder computes the exact edges of the marked bins, given the order of the column.
func (c *largeColumn) lookInOrder(marks *[256]bool, order []uint32, potential []float64) {
	for code, n := range c.docs[:c.codes] {
		if marks[code] {
			c.look(code, order[:n], potential)
		}
		order = order[n:]
	}
}

// look computes the exact rise and fall of the edges inside a bin, given the order of the bin's documents.
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
