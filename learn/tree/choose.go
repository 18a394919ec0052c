package tree

// choose gives a leaf the best of the splits, one for each slot. Most leaves are never divided, so
// documents on both sides are counted only when one is. If too few are left, the next best split has no
// larger gain, so that the order of leaves stays the same. Documents are counted at once with random
// thresholds, which depend on the counts, in the first tree, and after a tree in which many splits failed.
func (g *Grower) choose(l *leaf, splits []split) {
	if g.countAtOnce {
		g.chooseCounted(l, splits)
	} else if l.best = *g.searchBest(l, splits); !l.best.found {
		g.release(l)
	}
}

// enough reports whether a leaf's best split leaves enough documents on both sides. codes come from read.
func (g *Grower) enough(l *leaf, codes []uint8) bool {
	if g.LeafDocuments < 2 {
		return true
	}
	goes, left := goesLeft(&l.best), 0
	for _, code := range codes {
		left += int(goes[code])
	}
	return min(left, len(codes)-left) >= g.LeafDocuments
}

// chooseCounted gives a leaf the best of the splits that leave enough documents on both sides. It counts
// documents only for splits that would be chosen.
func (g *Grower) chooseCounted(l *leaf, splits []split) {
	l.counted = true
	for {
		best := g.searchBest(l, splits)
		if !best.found || g.count(l, best) {
			l.best = *best
			break
		}
	}
	if !l.best.found {
		g.release(l)
	}
}

// chooseNext gives a leaf another split after its best one left too few documents.
func (g *Grower) chooseNext(l *leaf) {
	g.searchers[0] = g.searcher(l)
	g.blocks(l.to-l.from, func(_ *gatherer, from, to int) { g.search(&g.searchers[0], from, to, l.sums, g.splits) })
	g.chooseCounted(l, g.splits)
}

// searchBest returns the best split of a leaf. It searches only the slots whose bound allows the best
// split, the slot with the largest bound first.
func (g *Grower) searchBest(l *leaf, splits []split) *split {
	most := &splits[0]
	for i := range splits {
		if splits[i].gain > most.gain {
			most = &splits[i]
		}
	}
	s := g.searcher(l)
	best := g.resolve(&s, l, most)
	for i := range splits {
		if found := &splits[i]; !best.found || found.gain >= best.gain {
			if g.resolve(&s, l, found).better(best) {
				best = found
			}
		}
	}
	return best
}

// resolve finds the best split of a slot that has only a bound.
func (g *Grower) resolve(s *searcher, l *leaf, found *split) *split {
	if slot := found.slot; found.open {
		*found = g.find(s, slot, &l.sums[slot/blockFeatures][slot%blockFeatures])
	}
	return found
}

// bestOf returns the best of splits, one for each slot.
func bestOf(splits []split) *split {
	best := &splits[0]
	for i := range splits[1:] {
		if splits[1+i].better(best) {
			best = &splits[1+i]
		}
	}
	return best
}

// count reports whether a split leaves enough documents on both sides. If not, it replaces the split by
// the best one of its slot that does.
func (g *Grower) count(l *leaf, b *split) bool {
	if g.LeafDocuments < 2 || g.surelyEnough(l, b) {
		return true
	}
	var counts [256]uint32
	g.countCodes(&counts, l, b.slot)
	n, left := uint32(l.to-l.from), uint32(0)
	for c, docs := range counts {
		if b.left(uint8(c)) {
			left += docs
		}
	}
	if least := uint32(g.LeafDocuments); left >= least && n-left >= least {
		return true
	}
	g.failed++
	s := g.searcher(l)
	s.counts, s.all, s.leastDoc = &counts, n, uint32(g.LeafDocuments)
	slot := b.slot
	*b = g.find(&s, slot, &l.sums[slot/blockFeatures][slot%blockFeatures])
	return false
}

// surelyEnough reports whether both sides have more curvature than too few documents can have.
func (g *Grower) surelyEnough(l *leaf, b *split) bool {
	of := &l.sums[b.slot/blockFeatures][b.slot%blockFeatures]
	var left sums
	for c := range of {
		if b.left(uint8(c)) {
			left += of[c]
		}
	}
	right, fewer := l.total-left, uint64(g.LeafDocuments-1)*uint64(g.unit.most)
	return uint64(left.curvature()) > fewer && uint64(right.curvature()) > fewer
}

// countCodes counts a leaf's documents by code of a slot. It uses four tables in turn. If most documents
// have one code, an addition to a single table would wait for the one before.
func (g *Grower) countCodes(counts *[256]uint32, l *leaf, slot int) {
	var others [3][256]uint32
	*counts = [256]uint32{}
	codes := g.read(l, slot)
	for ; len(codes) >= 4; codes = codes[4:] {
		counts[codes[0]]++
		others[0][codes[1]]++
		others[1][codes[2]]++
		others[2][codes[3]]++
	}
	for _, code := range codes {
		counts[code]++
	}
	for code := range counts {
		counts[code] += others[0][code] + others[1][code] + others[2][code]
	}
}
