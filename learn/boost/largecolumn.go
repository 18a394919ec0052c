package boost

import (
	"math"
	"slices"
)

// largeColumn is a feature of a largeSearch.
type largeColumn struct {
	varies bool
	cuts   []float32 // the thresholds where they are not the values, else nil
	runs   int       // of the order

	// Bins, by code.
	codes int
	docs  [256]uint32
	parts [256]bool // thresholds lie within the bin

	// By code: the edge at the bin's upper end and the sum of its potentials in this round; how far edges
	// within the bin may be above and below that edge.
	edges, sums, rise, fall [256]float64

	error       float64   // of the edges
	ceiling     float64   // no edge is above; +Inf before the first round
	seen        [256]bool // bins that were looked at in this round
	seenDocs    int       // documents of these
	highestSeen bool      // the bin that reaches highest was, or no threshold lies within it
	done        bool      // searched in this round
	best        candidate
}

// choose chooses bins of whole runs with about as many documents each.
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

// bound sets the edges and the ceiling from the sums of a round.
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

// first marks the first document of a run in an order. A run has equal values, or values between the same
// two thresholds.
const first = 1 << 31

// runEnd returns where the run ends that begins at from.
func runEnd(order []uint32, from int) int {
	to := from + 1
	for to < len(order) && order[to] < first {
		to++
	}
	return to
}

// runStart returns where the run begins that ends at to.
func runStart(order []uint32, to int) int {
	from := to - 1
	for order[from] < first {
		from--
	}
	return from
}

// runs returns the number of runs.
func runs(order []uint32) (n int) {
	for _, doc := range order {
		n += int(doc >> 31)
	}
	return n
}

// interval returns the number of thresholds below a value.
func interval(cuts []float32, v float32) int {
	below, _ := slices.BinarySearch(cuts, v)
	return below
}

// raise sets the ceiling to the highest of the bins' ceilings.
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

// reaching marks the bins whose ceilings are at least high, and returns the number of their documents.
// Bins without a threshold inside, or looked at in this round, are left out.
func (c *largeColumn) reaching(high float64, up bool) (marks [256]bool, docs int) {
	for code := range c.codes {
		if c.parts[code] && !c.seen[code] && c.reach(code, up) >= high {
			marks[code] = true
			docs += int(c.docs[code])
		}
	}
	return marks, docs
}

// attained returns a lower bound of the best edge, from the bins that were looked at in this round.
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
