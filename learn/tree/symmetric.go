package tree

import "math/bits"

// levels grows a symmetric tree. Each level applies the same split to all leaves: the split with the largest sum of
// gains. A leaf is not split if a side would have no documents, too few documents or too little curvature. The next
// level considers this leaf again. The number of levels is the largest for which a complete tree has at most Leaves
// leaves.
func (g *Grower) levels() {
	most := bits.Len(uint(g.Leaves)) - 1
	if g.Depth > 0 {
		most = min(most, g.Depth)
	}
	for level := range most {
		if g.leaves[0].sums == nil {
			return // no features, or no documents
		}
		best, counts := g.levelSplit()
		if !best.found {
			return
		}
		g.divideLevel(&best, counts, level+1 < most)
	}
}

// levelSplit returns the split of all leaves with the largest sum of gains. If leaves need a minimum number of
// documents, it also returns each leaf's number of documents by code in the split's slot. It counts documents only for
// a split that is the best one before counting.
func (g *Grower) levelSplit() (split, [][256]uint32) {
	g.blocks(len(g.index), func(_ *gatherer, from, to int) {
		for _, slots := range g.matrix.within[from:to] {
			for _, slot := range slots {
				if g.splits[slot] = (split{slot: slot}); !g.levelBars(g.matrix.slots[slot]) {
					g.splits[slot] = g.levelBest(slot, nil)
				}
			}
		}
	})
	if g.LeafDocuments < 2 {
		return *bestOf(g.splits), nil
	}
	counts, of := make([][256]uint32, len(g.leaves)), -1
	counted := make([]bool, len(g.splits))
	for {
		best := bestOf(g.splits)
		if !best.found || best.slot == of {
			return *best, counts
		}
		for i := range g.leaves {
			g.countCodes(&counts[i], &g.leaves[i], best.slot)
		}
		of = best.slot
		if !counted[of] {
			counted[of], *best = true, g.levelBest(of, counts)
		}
	}
}

// levelBars reports whether some leaf must not be split by a feature, so that the level must not use the feature.
func (g *Grower) levelBars(feature int) bool {
	for i := range g.leaves {
		if g.bars(&g.leaves[i], feature) {
			return true
		}
	}
	return false
}

// levelBest returns the split of a slot with the largest sum of gains over the leaves that the split divides. counts
// has each leaf's number of documents by code, or is nil if the number of documents does not matter.
func (g *Grower) levelBest(slot int, counts [][256]uint32) split {
	var all, spare [256]sums
	var memory [256]uint8
	some := false
	for i := range g.leaves {
		s, of := g.levelSearcher(i, counts), g.histogramOf(i, slot, &spare)
		for c, v := range of {
			all[c] += v
		}
		some = some || s.someMissing(of)
	}
	c := g.candidates(slot, &all, some, g.levelKey(), &memory)
	for i := range g.leaves {
		s := g.levelSearcher(i, counts)
		some = some || s.others(&c) > 0
	}
	sign := g.sign(g.matrix.slots[slot])
	var gains [2][256]float64 // by side of missing values (right, left), then by candidate
	for i := range g.leaves {
		s, of := g.levelSearcher(i, counts), g.histogramOf(i, slot, &spare)
		s.addGains(&gains[0], of, &c, sign, false)
		if some {
			s.addGains(&gains[1], of, &c, sign, true)
		}
	}
	chance := c.chance(g.noise)
	found := split{slot: slot, gain: g.LeastGain + chance}
	for side := range gains {
		for k := c.from; k < c.to; k++ {
			if gain := gains[side][k]; gain > found.gain {
				found = split{gain: gain, slot: slot, cut: uint8(k), missingLeft: side == 1, found: true}
			}
		}
	}
	if !found.found {
		return found
	}
	found.gain -= chance
	if !some {
		var left, of uint64
		for _, v := range all {
			of += uint64(v.curvature())
		}
		for _, code := range c.order[:int(found.cut)+1] {
			left += uint64(all[code].curvature())
		}
		found.missingLeft = 2*left >= of
	}
	if c.categorical {
		found.bySet(c.order)
	}
	return found
}

func (g *Grower) histogramOf(leaf, slot int, memory *[256]sums) *[256]sums {
	return g.matrix.sumsOf(g.leaves[leaf].sums, slot, g.leaves[leaf].total, memory)
}

// levelKey returns the random seed of the next level. The number of nodes distinguishes levels.
func (g *Grower) levelKey() uint64 { return mix(g.seed + uint64(len(g.tree.Nodes))) }

func (g *Grower) levelSearcher(leaf int, counts [][256]uint32) searcher {
	l := &g.leaves[leaf]
	s := g.searcher(l)
	if counts != nil {
		s.counts, s.all, s.leastDoc = &counts[leaf], uint32(l.to-l.from), uint32(g.LeafDocuments)
	}
	return s
}

// addGains adds the gain of every candidate in the leaf of s to gains. of has the sums of the leaf. missingLeft selects
// the side of missing values. A candidate that cannot split the leaf has the gain 0.
func (s *searcher) addGains(gains *[256]float64, of *[256]sums, c *candidates, sign int8, missingLeft bool) {
	left, docs := s.withMissing(of, c, missingLeft)
	gain := 0.0
	for k, code := range c.order[:c.to] {
		if v := of[code]; v != 0 || s.counts != nil || k == 0 {
			left, docs = left+v, docs+s.count(int(code))
			gain, _ = s.weigh(left, docs, sign)
		}
		gains[k] += gain
	}
}

// divideLevel applies a split to every leaf in which both sides meet the limits of the options. If another level
// follows, it computes the histograms of the parts.
func (g *Grower) divideLevel(by *split, counts [][256]uint32, another bool) {
	var memory [256]sums
	for at := range len(g.leaves) {
		s := g.levelSearcher(at, counts)
		left, docs := s.leftOf(by, g.histogramOf(at, by.slot, &memory))
		if _, ok := s.weigh(left, docs, g.sign(g.matrix.slots[by.slot])); !ok {
			continue
		}
		g.leaves[at].best = *by
		parent, smaller, larger := g.divide(at, g.read(&g.leaves[at], by.slot))
		if !another {
			g.release(parent)
			continue
		}
		larger.sums = parent.sums
		g.part(smaller, larger, func(int, int) {})
	}
}
