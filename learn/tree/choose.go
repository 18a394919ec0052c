package tree

// choose sets the best split of a leaf, given the splits of all slots. Histograms do not count documents, so another
// pass must check that a split leaves LeafDocuments documents on both sides. Most leaves are never split, so this check
// is usually made only when a leaf is split. If it fails, chooseNext replaces the split by one with at most the same
// gain, so no leaf was split too early. The check is made at once in the first tree, after a tree in which many checks
// failed, and with random thresholds, which depend on the counts.
func (g *Grower) choose(l *leaf, splits []split) {
	if g.countAtOnce {
		g.chooseCounted(l, splits)
	} else if l.best = *g.searchBest(l, splits); !l.best.found {
		g.release(l)
	}
}

// enough reports whether the best split of a leaf has enough documents on both sides. codes are the documents' codes in
// the split's slot, which read returned.
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

// chooseCounted sets the best split of a leaf among the splits with enough documents on both sides. It counts documents
// only for a split that is the best one before counting.
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

// chooseNext replaces the best split of a leaf, which has too few documents on a side, by the best split with enough
// documents.
func (g *Grower) chooseNext(l *leaf) {
	g.searchers[0] = g.searcher(l)
	g.blocks(l.to-l.from, func(_ *gatherer, from, to int) { g.search(&g.searchers[0], from, to, l.sums, g.splits) })
	g.chooseCounted(l, g.splits)
}

// searchBest returns the best split of a leaf. splits has a split of each slot, which may be open: its gain is then an
// upper bound. searchBest searches only open slots whose bound is not below the best gain so far, and starts with the
// slot with the largest bound.
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

// resolve replaces an open split by the best split of its slot.
func (g *Grower) resolve(s *searcher, l *leaf, found *split) *split {
	if slot := found.slot; found.open {
		var memory [256]sums
		*found = g.find(s, slot, g.matrix.sumsOf(l.sums, slot, l.total, &memory))
	}
	return found
}

// bestOf returns the best of the splits of all slots.
func bestOf(splits []split) *split {
	best := &splits[0]
	for i := range splits[1:] {
		if splits[1+i].better(best) {
			best = &splits[1+i]
		}
	}
	return best
}

// count reports whether a split has enough documents on both sides. If not, it replaces *b by the best split of the
// same slot among the splits with enough documents.
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
	var memory [256]sums
	*b = g.find(&s, b.slot, g.matrix.sumsOf(l.sums, b.slot, l.total, &memory))
	return false
}

// surelyEnough reports whether the curvature proves that both sides of a split have enough documents. g.unit.most is
// the largest second derivative of a document, so a side with more curvature than LeafDocuments−1 times most has at
// least LeafDocuments documents.
func (g *Grower) surelyEnough(l *leaf, b *split) bool {
	var memory [256]sums
	of := g.matrix.sumsOf(l.sums, b.slot, l.total, &memory)
	var left sums
	for c := range of {
		if b.left(uint8(c)) {
			left += of[c]
		}
	}
	right, fewer := l.total-left, uint64(g.LeafDocuments-1)*uint64(g.unit.most)
	return uint64(left.curvature()) > fewer && uint64(right.curvature()) > fewer
}

// countCodes counts a leaf's documents by their code in a slot. It uses four arrays of counters in turn, because
// consecutive additions to the same counter would wait for each other if most documents have the same code.
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
