package tree

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// split is a way to divide a node.
type split struct {
	gain        float64
	slot        int
	cut         uint8
	missingLeft bool
	found       bool
	open        bool // not searched yet; gain is a bound

	categorical bool // codes in set go left, and all others right
	set         codeSet
}

// better reports whether s has a larger gain than t, or the same gain and a lower slot.
func (s *split) better(t *split) bool {
	return s.found && (!t.found || s.gain > t.gain || s.gain == t.gain && s.slot < t.slot)
}

// searcher finds the best split of one feature in one node.
type searcher struct {
	*Options
	unit     quanta
	total    sums // of the node
	parent   float64
	least    float64 // gain
	counts   *[256]uint32
	all      uint32 // documents of the node, where counts is not nil
	leastDoc uint32
	leaf     *leaf
	bounded  bool // the leaf's values are
	ceiling  ceiling
}

// strength is twice the reduction of the objective's approximation by a leaf of these sums: G²/(H + L2),
// with the gradient shrunk towards 0 by L1.
func (o *Options) strength(g, h float64) float64 {
	h += o.L2
	if h <= 0 {
		return 0
	}
	g = o.soft(g)
	return g * g / h
}

// soft shrinks a gradient towards 0 by L1.
func (o *Options) soft(g float64) float64 {
	switch {
	case g > o.L1:
		return g - o.L1
	case g < -o.L1:
		return g + o.L1
	}
	return 0
}

// best returns the best split of a slot with the given sums by code and number of thresholds. Missing
// values go to either side; if the node has none, to the side with the larger curvature. Only cuts between
// codes that occur are considered. Of equals it takes the lowest.
func (s *searcher) best(slot int, of *[256]sums, cuts int) split {
	found := split{slot: slot, gain: s.least}
	missing, missingDocs := of[missingCode], s.count(missingCode)
	some := missing != 0 || missingDocs != 0
	last := cuts
	if some {
		last++ // all others against the missing ones
	}
	s.scan(&found, of, last, 0, 0, false)
	if some {
		s.scan(&found, of, cuts, missing, missingDocs, true)
	} else if found.found {
		found.missingLeft = s.leftIsLarger(of, found.cut)
	}
	return found
}

// scan considers the cuts from the lowest on, given the sums on the left before the first.
func (s *searcher) scan(found *split, of *[256]sums, cuts int, left sums, docs uint32, missingLeft bool) {
	for c := range cuts {
		v := of[c]
		docs += s.count(c)
		if v == 0 && s.counts == nil && c > 0 {
			continue // the same division as at the cut before
		}
		left += v
		s.consider(found, left, docs, uint8(c), missingLeft)
	}
}

func (s *searcher) count(code int) uint32 {
	if s.counts == nil {
		return 0
	}
	return s.counts[code]
}

// consider takes a cut if it is allowed and better than the best so far.
func (s *searcher) consider(found *split, left sums, docs uint32, cut uint8, missingLeft bool) {
	if s.counts != nil && (docs < s.leastDoc || s.all-docs < s.leastDoc) {
		return
	}
	right := s.total - left
	lh, rh := float64(float64(left.curvature())*s.unit.curvature), float64(float64(right.curvature())*s.unit.curvature)
	if lh < s.LeafCurvature || rh < s.LeafCurvature {
		return
	}
	lg, rg := float64(float64(left.gradient())*s.unit.gradient), float64(float64(right.gradient())*s.unit.gradient)
	gain := s.strength(lg, lh) + s.strength(rg, rh) - s.parent
	if gain > found.gain {
		*found = split{gain: gain, slot: found.slot, cut: cut, missingLeft: missingLeft, found: true}
	}
}

// leftIsLarger reports whether the documents up to a cut have at least half of the node's curvature.
func (s *searcher) leftIsLarger(of *[256]sums, cut uint8) bool {
	var left sums
	for c := range int(cut) + 1 {
		left += of[c]
	}
	return 2*uint64(left.curvature()) >= uint64(s.total.curvature())
}

// ceiling holds the arguments with which kernel.DivisionBound bounds gains from above, in units of the
// integers.
type ceiling struct {
	l2, least float32 // least curvature, less what rounding may take
	scale     float64 // of what it returns, with room for its rounding; 0 if it cannot be used
}

// ceiling returns no bound for constrained leaves without curvature, where the bound does not hold.
func (o *Options) ceiling(unit quanta, bounded bool) ceiling {
	l2, least := o.L2/unit.curvature, o.LeafCurvature/unit.curvature
	scale := unit.gradient / unit.curvature * unit.gradient * (1 + 0x1p-18)
	if l2 != 0 && l2 < 0x1p-20 || l2 > 0x1p40 || !(scale > 1e-200 && scale < 1e200) || bounded && l2 == 0 && least == 0 {
		return ceiling{}
	}
	return ceiling{l2: float32(l2), least: float32(least * (1 - 0x1p-20)), scale: scale}
}

// open returns an open split of a slot with the given sums by code, or no split if no cut can have the
// least gain. The bound ignores L1, bounds of the leaves' values and random thresholds, which only lower
// gains.
func (s *searcher) open(slot int, of *[256]sums, cuts int) split {
	found := split{slot: slot, gain: math.Inf(1), open: true}
	if s.ceiling.scale == 0 {
		return found
	}
	n := min(len(of), (cuts+8)&^7)
	ratio := s.boundFrom(of, n, 0)
	if missing := of[missingCode]; missing != 0 {
		of[missingCode] = 0 // not to count twice where n reaches it
		ratio = max(ratio, s.boundFrom(of, n, missing))
		of[missingCode] = missing
	}
	found.gain = float64(float64(ratio)*s.ceiling.scale) - s.parent
	found.open = found.gain > s.least
	return found
}

// boundFrom bounds the strengths of the cuts, given the sums on the left before the first.
func (s *searcher) boundFrom(of *[256]sums, n int, left sums) float32 {
	return kernel.DivisionBound(uint64s(of[:n]), uint64(left), uint64(s.total), s.ceiling.l2, s.ceiling.least)
}
