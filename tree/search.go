package tree

// bestAmong returns the best split of a slot among the thresholds that the options allow, one
// after the other: [searcher.best] is the same where they allow all. Sign is the feature's.
func (s *searcher) bestAmong(slot int, of *[256]sums, cuts int, sign int8) split {
	found := split{slot: slot, gain: s.least}
	missing, missingDocs := of[missingCode], s.count(missingCode)
	some := missing != 0 || missingDocs != 0
	from, to := 0, cuts+1
	if s.RandomThresholds {
		var occurring codes
		occurring.add(of)
		from, to = occurring.draw(mix(s.leaf.key^uint64(slot)), cuts, some)
	}
	s.scanAmong(&found, of, from, to, sign, false)
	if some {
		s.scanAmong(&found, of, from, min(to, cuts), sign, true)
	} else if found.found {
		found.missingLeft = s.leftIsLarger(of, found.cut)
	}
	return found
}

// scanAmong considers the cuts from one up to another, with missing values on one side.
func (s *searcher) scanAmong(found *split, of *[256]sums, from, to int, sign int8, missingLeft bool) {
	var left sums
	var docs uint32
	if missingLeft {
		left, docs = of[missingCode], s.count(missingCode)
	}
	for c := range to {
		left, docs = left+of[c], docs+s.count(c)
		if c < from {
			continue
		}
		if gain, ok := s.weigh(left, docs, sign); ok && gain > found.gain {
			*found = split{gain: gain, slot: found.slot, cut: uint8(c), missingLeft: missingLeft, found: true}
		}
	}
}

// weigh returns the gain of a division, and whether it is allowed: if both sides have documents,
// enough of them and of curvature, and values in the order of the feature's sign.
func (s *searcher) weigh(left sums, docs uint32, sign int8) (gain float64, ok bool) {
	right := s.total - left
	if left == 0 || right == 0 || s.counts != nil && (docs < s.leastDoc || s.all-docs < s.leastDoc) {
		return 0, false
	}
	lg, rg := float64(left.gradient())*s.unit.gradient, float64(right.gradient())*s.unit.gradient
	lh, rh := float64(left.curvature())*s.unit.curvature, float64(right.curvature())*s.unit.curvature
	if lh < s.LeafCurvature || rh < s.LeafCurvature {
		return 0, false
	}
	if !s.bounded {
		return s.strength(lg, lh) + s.strength(rg, rh) - s.parent, true
	}
	a, b := s.value(lg, lh, s.leaf.bounds), s.value(rg, rh, s.leaf.bounds)
	if sign > 0 && a > b || sign < 0 && a < b {
		return 0, false
	}
	return s.strengthAt(lg, lh, a) + s.strengthAt(rg, rh, b) - s.parent, true
}
