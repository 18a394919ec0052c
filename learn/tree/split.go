package tree

// split is a way to divide a node.
type split struct {
	gain        float64
	slot        int
	cut         uint8
	missingLeft bool
	found       bool
	open        bool // not found yet; gain is a bound on what will be

	categorical bool // codes in set go left, and all others right
	set         codeSet
}

// better reports whether s is to be taken before t: the larger gain, the lower slot of equals.
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

// strength is what a leaf of these sums takes off twice the objective's approximation,
// G²/(H + L2), with the gradient pulled to 0 by L1.
func (o *Options) strength(g, h float64) float64 {
	h += o.L2
	if h <= 0 {
		return 0
	}
	g = o.soft(g)
	return g * g / h
}

// soft pulls a gradient to 0 by L1.
func (o *Options) soft(g float64) float64 {
	switch {
	case g > o.L1:
		return g - o.L1
	case g < -o.L1:
		return g + o.L1
	}
	return 0
}

// best returns the best split of a slot whose sums by code are given; cuts is the number of
// its thresholds. Missing values go to either side; where the node has none, to the side with
// the larger curvature. Only cuts between codes that occur are looked at, and the lowest of
// equals is taken.
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

// scan considers the cuts from the lowest on, with what is on the left already.
func (s *searcher) scan(found *split, of *[256]sums, cuts int, left sums, docs uint32, missingLeft bool) {
	for c := range cuts {
		v := of[c]
		docs += s.count(c)
		if v == 0 && s.counts == nil && c > 0 {
			continue // what counts is divided as at the cut before
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

// consider takes a cut if it is allowed and better than what was found.
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

// leftIsLarger reports whether the documents up to a cut have at least half of the node's
// curvature.
func (s *searcher) leftIsLarger(of *[256]sums, cut uint8) bool {
	var left sums
	for c := range int(cut) + 1 {
		left += of[c]
	}
	return 2*uint64(left.curvature()) >= uint64(s.total.curvature())
}
