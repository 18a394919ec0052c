package tree

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// split is a split of a node by the feature of a slot.
type split struct {
	gain        float64
	slot        int
	cut         uint8
	missingLeft bool
	found       bool
	open        bool // the slot was not searched yet, and gain is an upper bound on its gains

	categorical bool // codes in set go left, and all other codes go right
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
	total    sums         // sums over all documents of the node
	parent   float64      // strength of the node
	noise    float64      // result of [noise]
	least    float64      // smallest allowed gain
	counts   *[256]uint32 // number of documents with each code, or nil
	all      uint32       // number of documents of the node, if counts is not nil
	leastDoc uint32       // smallest number of documents on a side, if counts is not nil
	leaf     *leaf
	bounded  bool // monotone constraints bound leaf values
	ceiling  ceiling
}

// strength returns G²/(H + L2), where G is the gradient g after soft thresholding by L1, and H is the curvature h. A
// leaf with these sums reduces the quadratic approximation of the objective by half the strength. The strength is 0 if
// H + L2 is not positive.
func (o *Options) strength(g, h float64) float64 {
	h += o.L2
	if h <= 0 {
		return 0
	}
	g = o.soft(g)
	return g * g / h
}

// soft returns g after soft thresholding: g moves towards 0 by L1 and stops at 0.
func (o *Options) soft(g float64) float64 {
	switch {
	case g > o.L1:
		return g - o.L1
	case g < -o.L1:
		return g + o.L1
	}
	return 0
}

// best returns the best split of a slot with a numeric feature. of has the sums over the node's documents with each
// code, and cuts is the number of thresholds. best considers only cuts between codes that occur, with missing values on
// either side. If the node has no missing values, the split sends missing values to the side with the larger curvature.
// Among splits of equal gain, best returns the split with missing values on the right, and then the lowest cut.
func (s *searcher) best(slot int, of *[256]sums, cuts int) split {
	found := split{slot: slot, gain: s.least}
	missing, missingDocs := of[missingCode], s.count(missingCode)
	some := missing != 0 || missingDocs != 0
	last := cuts
	if some {
		last++ // the last cut separates missing values from all others
	}
	s.scan(&found, of, last, 0, 0, false)
	if some {
		s.scan(&found, of, cuts, missing, missingDocs, true)
	} else if found.found {
		found.missingLeft = s.leftIsLarger(of, found.cut)
	}
	return found
}

// scan considers the cuts in ascending order. left has the sums over the documents that are left of all cuts, and docs
// is their number. These are the documents with missing values if missingLeft is set, and otherwise none.
func (s *searcher) scan(found *split, of *[256]sums, cuts int, left sums, docs uint32, missingLeft bool) {
	for c := range cuts {
		v := of[c]
		docs += s.count(c)
		if v == 0 && s.counts == nil && c > 0 {
			continue // the code does not occur, so the split is the same as before
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

// consider sets found to the split with the given cut if the options allow this split and its gain is larger. left has
// the sums over the documents on the left side, and docs is their number.
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

// leftIsLarger reports whether the documents with codes up to cut have at least half of the node's curvature. of has
// the sums over the node's documents with each code.
func (s *searcher) leftIsLarger(of *[256]sums, cut uint8) bool {
	var left sums
	for c := range int(cut) + 1 {
		left += of[c]
	}
	return 2*uint64(left.curvature()) >= uint64(s.total.curvature())
}

// ceiling has the arguments of kernel.DivisionBound, which computes an upper bound on gains. The arguments are in units
// of the integer sums.
type ceiling struct {
	l2, least float32 // L2, and the smallest curvature of a leaf, reduced by a margin for rounding
	scale     float64 // factor of the result, with a margin for rounding; 0 if there is no bound
}

// ceiling returns the arguments for sums in the given units, or the zero value if DivisionBound cannot give a bound.
// This is so if an argument is outside its range, or if monotone constraints bound leaf values and neither L2 nor
// LeafCurvature is set.
func (o *Options) ceiling(unit quanta, bounded bool) ceiling {
	l2, least := o.L2/unit.curvature, o.LeafCurvature/unit.curvature
	scale := unit.gradient / unit.curvature * unit.gradient * (1 + 0x1p-18)
	if l2 != 0 && l2 < 0x1p-20 || l2 > 0x1p40 || !(scale > 1e-200 && scale < 1e200) || bounded && l2 == 0 && least == 0 {
		return ceiling{}
	}
	return ceiling{l2: float32(l2), least: float32(least * (1 - 0x1p-20)), scale: scale}
}

// open returns an open split of a slot, whose gain is an upper bound on the gains of the slot. If the bound does not
// exceed the smallest allowed gain, the slot needs no search, and the result is neither open nor found. of has the sums
// over the node's documents with each code. The bound ignores L1, monotone constraints and random thresholds, because
// they only reduce gains.
func (s *searcher) open(slot int, of *[256]sums, cuts int) split {
	found := split{slot: slot, gain: math.Inf(1), open: true}
	if s.ceiling.scale == 0 {
		return found
	}
	n := min(len(of), (cuts+8)&^7)
	ratio := s.boundFrom(of, n, 0)
	if missing := of[missingCode]; missing != 0 {
		of[missingCode] = 0 // n may include this code, which would count it twice
		ratio = max(ratio, s.boundFrom(of, n, missing))
		of[missingCode] = missing
	}
	found.gain = float64(float64(ratio)*s.ceiling.scale) - s.parent
	found.open = found.gain > s.least
	return found
}

// boundFrom returns an upper bound on the total strength of both sides, over all cuts. left has the sums over the
// documents that are left of all cuts.
func (s *searcher) boundFrom(of *[256]sums, n int, left sums) float32 {
	return kernel.DivisionBound(uint64s(of[:n]), uint64(left), uint64(s.total), s.ceiling.l2, s.ceiling.least)
}
