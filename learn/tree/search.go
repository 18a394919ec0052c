package tree

// candidates are the divisions by a slot that are looked at: each sends the first codes of an
// order left and the others right, from the first from+1 codes on to the first to.
type candidates struct {
	order       []uint8
	from, to    int
	categorical bool
}

// identity is the order of numbers.
var identity = func() (order [256]uint8) {
	for c := range order {
		order[c] = uint8(c)
	}
	return order
}()

// candidates returns those of a slot with these sums by code, in a node or a level that has the
// key for what is drawn. The order of categories is put into memory.
func (g *Grower) candidates(slot int, of *[256]sums, missing bool, key uint64, memory *[256]uint8) candidates {
	f := g.matrix.slots[slot]
	c := candidates{order: identity[:len(g.matrix.bins.cuts[f])+1], categorical: g.matrix.bins.categories[f] != nil}
	if c.categorical {
		c.order = byRatio(memory, of, g.unit, g.CategorySmoothing)
	}
	c.to = len(c.order)
	if g.RandomThresholds {
		c.draw(mix(key^uint64(slot)), of, missing)
	}
	return c
}

// special reports whether the plain search of a feature, [searcher.best], is not enough.
func (g *Grower) special(feature int) bool {
	return g.RandomThresholds || g.bounded || g.matrix.bins.categories[feature] != nil
}

// bestAmong returns the best split of a slot among candidates: [searcher.best] is the same where
// the order is that of numbers and all are looked at. Sign is the feature's.
func (s *searcher) bestAmong(slot int, of *[256]sums, c *candidates, sign int8) split {
	found := split{slot: slot, gain: s.least}
	some := s.someMissing(of) || s.others(c) > 0
	s.scanAmong(&found, of, c, sign, false)
	if some {
		s.scanAmong(&found, of, c, sign, true)
	}
	if !found.found {
		return found
	}
	if !some {
		var left sums
		for _, code := range c.order[:int(found.cut)+1] {
			left += of[code]
		}
		found.missingLeft = 2*uint64(left.curvature()) >= uint64(s.total.curvature())
	}
	if c.categorical {
		found.settle(c.order)
	}
	return found
}

func (s *searcher) someMissing(of *[256]sums) bool {
	return of[missingCode] != 0 || s.count(missingCode) != 0
}

// scanAmong considers the candidates with missing values on one side.
func (s *searcher) scanAmong(found *split, of *[256]sums, c *candidates, sign int8, missingLeft bool) {
	left, docs := s.withMissing(of, c, missingLeft)
	for k, code := range c.order[:c.to] {
		left, docs = left+of[code], docs+s.count(int(code))
		if k < c.from {
			continue
		}
		if gain, ok := s.weigh(left, docs, sign); ok && gain > found.gain {
			*found = split{gain: gain, slot: found.slot, cut: uint8(k), missingLeft: missingLeft, found: true}
		}
	}
}

// withMissing returns what is on the left before the first code of the order.
func (s *searcher) withMissing(of *[256]sums, c *candidates, missingLeft bool) (left sums, docs uint32) {
	if !missingLeft {
		return 0, 0
	}
	return of[missingCode], s.count(missingCode) + s.others(c)
}

// others counts the documents of categories that are not in the order, since they have no sums:
// they go where missing values go.
func (s *searcher) others(c *candidates) uint32 {
	if !c.categorical || s.counts == nil {
		return 0
	}
	others := s.all - s.counts[missingCode]
	for _, code := range c.order {
		others -= s.counts[code]
	}
	return others
}

// weigh returns the gain of a division, and whether it is allowed: if both sides have documents,
// enough of them and of curvature, and values in the order of the feature's sign.
func (s *searcher) weigh(left sums, docs uint32, sign int8) (gain float64, ok bool) {
	right := s.total - left
	if left == 0 || right == 0 || s.counts != nil && (docs < s.leastDoc || s.all-docs < s.leastDoc) {
		return 0, false
	}
	lg, rg := float64(float64(left.gradient())*s.unit.gradient), float64(float64(right.gradient())*s.unit.gradient)
	lh, rh := float64(float64(left.curvature())*s.unit.curvature), float64(float64(right.curvature())*s.unit.curvature)
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
