package tree

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// ceiling is what bounds gains from above: what kernel.DivisionBound is called with, in units of
// the integers.
type ceiling struct {
	l2, least float32 // least curvature, less what rounding may take
	scale     float64 // of what it returns, with room for its rounding; 0 if it cannot be used
}

// ceiling does not hold for bounded values of leaves without curvature.
func (o *Options) ceiling(unit quanta, bounded bool) ceiling {
	l2, least := o.L2/unit.curvature, o.LeafCurvature/unit.curvature
	scale := unit.gradient / unit.curvature * unit.gradient * (1 + 0x1p-18)
	if l2 != 0 && l2 < 0x1p-20 || l2 > 0x1p40 || !(scale > 1e-200 && scale < 1e200) || bounded && l2 == 0 && least == 0 {
		return ceiling{}
	}
	return ceiling{l2: float32(l2), least: float32(least * (1 - 0x1p-20)), scale: scale}
}

// open returns an open split of a slot whose sums by code are given, or none where no cut can
// have the least gain. L1, bounds of the leaves' values and a choice of cuts are left out of
// account: they only take from gains.
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

// boundFrom bounds the strengths of cuts with what is on the left already.
func (s *searcher) boundFrom(of *[256]sums, n int, left sums) float32 {
	return kernel.DivisionBound(uint64s(of[:n]), uint64(left), uint64(s.total), s.ceiling.l2, s.ceiling.least)
}
