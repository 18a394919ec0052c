package tree

import "math/bits"

// levels grows a symmetric tree: each level divides all leaves by one split, that of the
// largest sum of gains. A leaf of which the split would leave a side without documents, or with
// too few or too little curvature, stays whole and takes part in the next level again. There are
// as many levels as the leaves suffice for if none stays whole.
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

// levelSplit returns the best split of all leaves, and the documents of each leaf by the codes
// of its slot if a least number of them is asked for. They are counted for those slots alone
// that would otherwise be taken.
func (g *Grower) levelSplit() (split, [][256]uint32) {
	g.blocks(len(g.index), func(b int) {
		for slot := b * blockFeatures; slot < min(len(g.matrix.slots), (b+1)*blockFeatures); slot++ {
			if g.splits[slot] = (split{slot: slot}); !g.levelBars(g.matrix.slots[slot]) {
				g.splits[slot] = g.levelBest(slot, nil)
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
			g.count(&counts[i], &g.leaves[i], best.slot)
		}
		of = best.slot
		if !counted[of] {
			counted[of], *best = true, g.levelBest(of, counts)
		}
	}
}

// levelBars reports whether a feature must not divide some leaf.
func (g *Grower) levelBars(feature int) bool {
	for i := range g.leaves {
		if g.bars(&g.leaves[i], feature) {
			return true
		}
	}
	return false
}

// levelBest returns the split of a slot with the largest sum of gains over the leaves that it
// divides. Counts, of each leaf's documents by code, are nil where they do not matter.
func (g *Grower) levelBest(slot int, counts [][256]uint32) split {
	var gains [2][256]float64 // by where missing values go, right or left, and cut
	var occurring codes
	sign := g.sign(g.matrix.slots[slot])
	cuts, some := len(g.matrix.bins.cuts[g.matrix.slots[slot]]), false
	for i := range g.leaves {
		s := g.levelSearcher(i, counts)
		of := &g.leaves[i].sums[slot/blockFeatures][slot%blockFeatures]
		missing, docs := of[missingCode], s.count(missingCode)
		s.addGains(gains[0][:cuts+1], of, 0, 0, sign) // the last: all others against the missing ones
		s.addGains(gains[1][:cuts], of, missing, docs, sign)
		some = some || missing != 0 || docs != 0
		if g.RandomThresholds {
			occurring.add(of)
		}
	}
	found := split{slot: slot, gain: g.LeastGain}
	from, to := 0, cuts+1
	if g.RandomThresholds {
		from, to = occurring.draw(mix(g.levelKey()^uint64(slot)), cuts, some)
	}
	for side := range gains {
		for c := from; c < to; c++ {
			if gain := gains[side][c]; gain > found.gain {
				found = split{gain: gain, slot: slot, cut: uint8(c), missingLeft: side == 1, found: true}
			}
		}
	}
	if found.found && !some {
		found.missingLeft = g.levelLeftIsLarger(slot, found.cut)
	}
	return found
}

// levelKey is the key of what is drawn for a level, told from the others by the nodes above it.
func (g *Grower) levelKey() uint64 { return mix(g.seed + uint64(len(g.tree.Nodes))) }

func (g *Grower) levelSearcher(leaf int, counts [][256]uint32) searcher {
	l := &g.leaves[leaf]
	s := g.searcher(l)
	if counts != nil {
		s.counts, s.all, s.leastDoc = &counts[leaf], uint32(l.to-l.from), uint32(g.LeafDocuments)
	}
	return s
}

// addGains adds the gain of every cut that divides a leaf, with what is on the left already.
func (s *searcher) addGains(gains []float64, of *[256]sums, left sums, docs uint32, sign int8) {
	gain := 0.0
	for c := range gains {
		if v := of[c]; v != 0 || s.counts != nil || c == 0 {
			left, docs = left+v, docs+s.count(c)
			gain, _ = s.weigh(left, docs, sign)
		}
		gains[c] += gain
	}
}

// levelLeftIsLarger reports whether the documents up to a cut have at least half of the
// curvature.
func (g *Grower) levelLeftIsLarger(slot int, cut uint8) bool {
	var left, all uint64
	for i := range g.leaves {
		l := &g.leaves[i]
		all += uint64(l.total.curvature())
		for _, v := range l.sums[slot/blockFeatures][slot%blockFeatures][:int(cut)+1] {
			left += uint64(v.curvature())
		}
	}
	return 2*left >= all
}

// divideLevel divides every leaf that the split divides. There are histograms of the parts if
// there is another level.
func (g *Grower) divideLevel(by *split, counts [][256]uint32, another bool) {
	for at := range len(g.leaves) {
		s := g.levelSearcher(at, counts)
		of := &g.leaves[at].sums[by.slot/blockFeatures][by.slot%blockFeatures]
		var left sums
		var docs uint32
		for c := range int(by.cut) + 1 {
			left, docs = left+of[c], docs+s.count(c)
		}
		if by.missingLeft {
			left, docs = left+of[missingCode], docs+s.count(missingCode)
		}
		if _, ok := s.weigh(left, docs, g.sign(g.matrix.slots[by.slot])); !ok {
			continue
		}
		g.leaves[at].best = *by
		parent, smaller, larger := g.divide(at)
		if !another {
			g.release(parent)
			continue
		}
		larger.sums, smaller.sums = parent.sums, g.take()
		g.blocks(smaller.to-smaller.from, func(b int) {
			smaller.sums[b].fill(g.matrix.blocks[b], g.index[smaller.from:smaller.to], g.packed[smaller.from:smaller.to])
			larger.sums[b].less(&smaller.sums[b])
		})
	}
}
