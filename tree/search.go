package tree

// bestAmong returns the best split of a slot among the thresholds that the options allow, one
// after the other: [searcher.best] is the same where they allow all.
func (s *searcher) bestAmong(slot int, of *[256]sums, cuts int) split {
	found := split{slot: slot, gain: s.least}
	missing, missingDocs := of[missingCode], s.count(missingCode)
	some := missing != 0 || missingDocs != 0
	from, to := 0, cuts+1
	if s.RandomThresholds {
		var occurring codes
		occurring.add(of)
		from, to = occurring.draw(mix(s.key^uint64(slot)), cuts, some)
	}
	s.scanAmong(&found, of, from, to, 0, 0, false)
	if some {
		s.scanAmong(&found, of, from, min(to, cuts), missing, missingDocs, true)
	} else if found.found {
		found.missingLeft = s.leftIsLarger(of, found.cut)
	}
	return found
}

// scanAmong considers the cuts from one up to another, with what is on the left already.
func (s *searcher) scanAmong(found *split, of *[256]sums, from, to int, left sums, docs uint32, missingLeft bool) {
	for c := range to {
		left, docs = left+of[c], docs+s.count(c)
		if c < from || !s.divides(left, docs) {
			continue
		}
		if gain := s.gainOf(left, docs); gain > found.gain {
			*found = split{gain: gain, slot: found.slot, cut: uint8(c), missingLeft: missingLeft, found: true}
		}
	}
}

// gainOf is the gain of a division, 0 if it is not allowed.
func (s *searcher) gainOf(left sums, docs uint32) float64 {
	if !s.divides(left, docs) {
		return 0
	}
	right := s.total - left
	lg, rg := float64(left.gradient())*s.unit.gradient, float64(right.gradient())*s.unit.gradient
	lh, rh := float64(left.curvature())*s.unit.curvature, float64(right.curvature())*s.unit.curvature
	return s.strength(lg, lh) + s.strength(rg, rh) - s.parent
}

// divides reports whether both sides of a division have documents, and enough of them and of
// curvature.
func (s *searcher) divides(left sums, docs uint32) bool {
	right := s.total - left
	if left == 0 || right == 0 || s.counts != nil && (docs < s.leastDoc || s.all-docs < s.leastDoc) {
		return false
	}
	return float64(left.curvature())*s.unit.curvature >= s.LeafCurvature && float64(right.curvature())*s.unit.curvature >= s.LeafCurvature
}
