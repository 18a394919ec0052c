package tree

// candidates are the splits of a slot that a search considers. Candidate k, for from ≤ k < to, sends the first k+1
// codes of order left and the remaining codes right.
type candidates struct {
	order       []uint8
	from, to    int
	categorical bool
}

// identity is the order of codes of numeric features, which is ascending.
var identity = func() (order [256]uint8) {
	for c := range order {
		order[c] = uint8(c)
	}
	return order
}()

// candidates returns the candidates of a slot in a node or level. of[c] has the sums of gradients and second
// derivatives over the documents with code c, and missing reports whether values are missing. key is the random seed
// of the node or level. For a categorical feature, the order in the result is a slice of *memory.
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

// draw reduces the candidates to a single one, drawn uniformly among the splits with codes of nonzero sums on both
// sides. If there are missing values, these splits include the one of missing from present values. If there is no such
// split, no candidate remains.
func (c *candidates) draw(key uint64, of *[256]sums, missing bool) {
	lowest, highest := -1, 0
	for k, code := range c.order {
		if of[code] == 0 {
			continue
		}
		if highest = k; lowest < 0 {
			lowest = k
		}
	}
	n := highest - lowest
	if missing {
		n++
	}
	if lowest < 0 || n == 0 {
		c.from, c.to = 0, 0
		return
	}
	c.from = lowest + int(key%uint64(n))
	c.to = c.from + 1
}

// mix is a hash function, the finaliser of the random number generator SplitMix64. It maps adjacent numbers to
// seemingly random numbers.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// special reports whether a feature needs bestAmong instead of the faster [searcher.best].
func (g *Grower) special(feature int) bool {
	return g.RandomThresholds || g.bounded || g.matrix.bins.categories[feature] != nil
}

// bestAmong returns the best split of a slot among the candidates. sign is the feature's monotone constraint. For a
// numeric feature with all candidates and no constraint, bestAmong and [searcher.best] return the same split.
func (s *searcher) bestAmong(slot int, of *[256]sums, c *candidates, sign int8) split {
	chance := c.chance(s.noise)
	found := split{slot: slot, gain: s.least + chance}
	some := s.someMissing(of) || s.others(c) > 0
	s.scanAmong(&found, of, c, sign, false)
	if some {
		s.scanAmong(&found, of, c, sign, true)
	}
	if !found.found {
		return found
	}
	found.gain -= chance
	if !some {
		var left sums
		for _, code := range c.order[:int(found.cut)+1] {
			left += of[code]
		}
		found.missingLeft = 2*uint64(left.curvature()) >= uint64(s.total.curvature())
	}
	if c.categorical {
		found.bySet(c.order)
	}
	return found
}

func (s *searcher) someMissing(of *[256]sums) bool {
	return of[missingCode] != 0 || s.count(missingCode) != 0
}

// scanAmong considers the candidates with missing values on the given side.
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

// withMissing returns the sums over the documents that all candidates send left, and the number of these documents.
// They are the documents with missing values if missingLeft is set, and otherwise none.
func (s *searcher) withMissing(of *[256]sums, c *candidates, missingLeft bool) (left sums, docs uint32) {
	if !missingLeft {
		return 0, 0
	}
	return of[missingCode], s.count(missingCode) + s.others(c)
}

// others returns the number of documents whose category is not in the order because the category's sums are 0. These
// documents go to the side of missing values.
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

// weigh returns the gain of a split. left has the sums over the documents on the left side, and docs is their number.
// ok is false if a side has too few documents or too little curvature, or if the values of the sides violate the
// monotone constraint sign.
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
