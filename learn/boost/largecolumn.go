package boost

import (
	"math"
	"slices"

	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/kernel"
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

	// By code: the edge at the bin's upper end in this round, and the sum of the bin's potentials; how far
	// edges within the bin may be above and below that edge.
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

// first marks, in an order of documents, those that are the first of a run: of equal values, or of
// values between the same thresholds.
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

// sorter sorts columns, in memory of its own: 16 bytes a document.
type sorter struct{ keys, spare []uint64 }

// Digits of keys.
const (
	digitBits = 11
	digits    = 1 << digitBits
)

// room makes the memory for columns of n documents.
func (s *sorter) room(n int) {
	if len(s.keys) != n {
		s.keys, s.spare = block.NewWords(n), block.NewWords(n)
	}
}

// toKeys puts keys that ascend with the values, or the numbers of the thresholds below them, in place of the values'
// bits, and returns the least and the greatest.
func toKeys(values []uint32, cuts []float32) (least, greatest uint32) {
	least = math.MaxUint32
	for i, bits := range values {
		v := math.Float32frombits(bits)
		key := kernel.AscendingKey(v)
		if cuts != nil {
			key = uint32(interval(cuts, v))
		}
		values[i] = key
		least, greatest = min(least, key), max(greatest, key)
	}
	return least, greatest
}

// sort sets order to the documents by key, those of equal keys in order. The memory of the keys may be that of
// the order; it, and that of room, is overwritten.
func (s *sorter) sort(order, keys []uint32) {
	s.room(len(keys))
	var counts [3][digits]uint32
	for _, key := range keys {
		counts[0][key%digits]++
		counts[1][key>>digitBits%digits]++
		counts[2][key>>(2*digitBits)]++
	}
	for pass := range counts {
		at := uint32(0)
		for d, n := range counts[pass] {
			counts[pass][d], at = at, at+n
		}
	}
	starts := &counts[0]
	for i, key := range keys {
		d := key % digits
		s.keys[starts[d]] = uint64(key)<<32 | uint64(uint32(i))
		starts[d]++
	}
	starts = &counts[1]
	for _, key := range s.keys {
		d := key >> (32 + digitBits) % digits
		s.spare[starts[d]] = key
		starts[d]++
	}
	s.finish(order, &counts[2])
}

// finish is sort's last pass. Before a document of a key come, of those with the same highest digit, the documents of
// lesser keys and then those of the same, so that the one before says whether it is the first of a run.
func (s *sorter) finish(order []uint32, starts *[digits]uint32) {
	var before [digits]uint64
	for d := range before {
		before[d] = math.MaxUint64 // the key of no number
	}
	for _, key := range s.spare {
		d := key >> (32 + 2*digitBits) % digits
		doc := uint32(key)
		if (key^before[d])>>32 != 0 {
			doc |= first
		}
		before[d] = key
		order[starts[d]] = doc
		starts[d]++
	}
}

// resort is sort, after sort, by the numbers of the thresholds below the values.
func (s *sorter) resort(order, keys []uint32, cuts []float32) {
	for _, key := range s.spare {
		order[uint32(key)] = uint32(interval(cuts, kernel.OfAscendingKey(uint32(key>>32))))
	}
	copy(keys, order)
	s.sort(order, keys)
}

// putOrder keeps the documents of sorted keys.
func putOrder(order []uint32, sorted []uint64) {
	for i, key := range sorted {
		order[i] = uint32(key)
		if i == 0 || key>>32 != sorted[i-1]>>32 {
			order[i] |= first
		}
	}
}
