package tree

import (
	"math"
	"slices"
)

// Grower grows trees on one matrix. It reuses its memory for each tree. A Grower must not be used by several
// goroutines at once.
type Grower struct {
	matrix *Matrix
	Options

	unit    quanta
	ceiling ceiling  // arguments of the upper bound on gains
	noise   float64  // result of [noise]
	index   []uint32 // rows of the tree's documents; the rows of a leaf are adjacent
	packed  []sums   // gradient and second derivative of each row; invalid for rows not in index
	spare   struct { // memory for splitting a leaf
		index  []uint32
		codes  []uint8
		counts []int
		goes   [256]uint8
		parent leaf // the leaf that was split last
	}
	leaves    []leaf
	free      [][]histogram
	gatherers []gatherer  // one for each worker
	searchers [2]searcher // searchers of the current node and of its sibling
	splits    []split     // best split, or open split, of each slot for the current node
	second    []split     // the same for the sibling of the current node
	tree      *Tree
	bag       []bool // marks the rows in index; nil if index has all rows
	barred    []bool // marks the features excluded from splits; nil if there are none
	seed      uint64 // random seed of thresholds

	bounded bool // some feature has a monotone constraint

	failed      int  // number of best splits of this tree with too few documents on a side
	countAtOnce bool // count documents when a split is chosen instead of when the leaf is split
}

// leaf is a leaf of the growing tree.
type leaf struct {
	from, to int // range of its documents in index
	total    sums
	depth    int
	node     int // index of its parent node; −1 for the root
	isLeft   bool
	key      uint64 // key of its random draws
	bounds
	interaction
	sums    []histogram // one for each block; nil if the leaf will not be split or [Grower.thin] released them
	best    split
	counted bool // chooseCounted has checked that best has enough documents on both sides
}

// NewGrower returns a grower of trees on a matrix. It returns an error if an option is out of range.
func NewGrower(m *Matrix, o Options) (*Grower, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := o.checkConstraints(m.bins.Features()); err != nil {
		return nil, err
	}
	if err := o.checkCategories(m.bins); err != nil {
		return nil, err
	}
	return &Grower{
		matrix: m, Options: o, bounded: slices.ContainsFunc(o.Monotone, func(sign int8) bool { return sign != 0 }), index: make([]uint32, 0, m.rows), packed: make([]sums, m.rows),
		splits: make([]split, len(m.slots)), second: make([]split, len(m.slots)),
	}, nil
}

// Bar excludes features from the splits of the next trees. features has an element for each feature, which is true if
// the feature is excluded. nil excludes none.
func (g *Grower) Bar(features []bool) { g.barred = features }

// Seed sets the random seed of thresholds for the next trees. The random threshold of a leaf depends only on the
// seed, the path to the leaf and the feature.
func (g *Grower) Seed(seed uint64) { g.seed = seed }

// Grow returns a tree that divides the documents into leaves such that one value per leaf approximates λ/second.
// [Grower.Values] returns these values. Grow uses the documents in rows, which must be in increasing order, or all
// documents if rows is nil. The gain of a split is its increase of
//
//	Σ_leaves G²/(H + L2),   G = Σλ and H = Σsecond over the documents of a leaf.
//
// This sum is twice the approximate reduction of the objective by a Newton step (Chen and Guestrin, XGBoost, KDD
// 2016, eq. 7, here without L1). Each split has the largest gain that the options allow. lambda and second have an
// element for each row of the matrix. All must be finite, and second must not be negative.
func (g *Grower) Grow(lambda, second []float64, rows []uint32) *Tree {
	g.begin(lambda, second, rows)
	if g.Growth == Symmetric {
		g.levels()
	}
	for g.Growth != Symmetric && len(g.leaves) < g.Leaves {
		at := g.next()
		if at < 0 {
			break
		}
		l := &g.leaves[at]
		g.restore(l)
		codes := g.read(l, l.best.slot)
		if !l.counted && !g.enough(l, codes) {
			g.chooseNext(l)
			continue
		}
		g.searchBoth(g.divide(at, codes))
		g.thin()
	}
	for i := range g.leaves {
		g.release(&g.leaves[i])
	}
	g.tree.Leaves = len(g.leaves)
	return g.tree
}

// next returns the index of the leaf to split next, or −1 if there is none.
func (g *Grower) next() int {
	at := -1
	for i := range g.leaves {
		if g.leaves[i].best.found && (at < 0 || g.before(&g.leaves[i], &g.leaves[at])) {
			at = i
		}
	}
	return at
}

// before reports whether the leaf l is split before the leaf other, which has a lower index in g.leaves.
func (g *Grower) before(l, other *leaf) bool {
	if g.Growth == DepthWise && l.depth != other.depth {
		return l.depth < other.depth
	}
	return l.best.gain > other.best.gain
}

// begin starts a tree with the root as its only leaf.
func (g *Grower) begin(lambda, second []float64, rows []uint32) {
	g.countAtOnce = g.RandomThresholds || 4*g.failed >= len(g.leaves) // also true for the first tree, where failed and leaves are 0
	g.tree, g.failed = &Tree{Leaves: 1}, 0
	g.index, g.bag = g.index[:0], nil
	if rows == nil {
		for i := range g.matrix.rows {
			g.index = append(g.index, uint32(i))
		}
	} else {
		g.index = append(g.index, rows...)
		g.bag = make([]bool, g.matrix.rows)
		for _, r := range rows {
			g.bag[r] = true
		}
	}
	g.unit = quantise(g.packed, g.index, lambda, second)
	g.ceiling = g.Options.ceiling(g.unit, g.bounded)
	g.noise = noise(g.index, lambda, second)
	root := leaf{to: len(g.index), node: -1, key: mix(g.seed), bounds: unbounded()}
	for _, r := range g.index {
		root.total += g.packed[r]
	}
	g.leaves = append(g.leaves[:0], root)
	if len(g.matrix.slots) == 0 || len(g.index) == 0 {
		return
	}
	top := &g.leaves[0]
	top.sums = g.take()
	g.searchers[0] = g.searcher(top)
	g.fill(top, func(from, to int) {
		if g.Growth != Symmetric {
			g.search(&g.searchers[0], from, to, top.sums, g.splits)
		}
	})
	if g.Growth != Symmetric {
		g.choose(top, g.splits)
	}
}

// divide splits a leaf by its best split. codes are the codes of the leaf's documents, which [Grower.read] returns. The
// left part replaces the leaf in g.leaves, and the right part is appended. divide returns a copy of the old leaf, which
// is valid until the next call, and both parts. The parts have no histograms yet.
func (g *Grower) divide(at int, codes []uint8) (parent, smaller, larger *leaf) {
	l := &g.spare.parent
	*l = g.leaves[at]
	b := &l.best
	slot := b.slot
	f := g.matrix.slots[slot]
	node := Node{Feature: f, MissingLeft: b.missingLeft, Left: -1 - at, Right: -1 - len(g.leaves), slot: slot, cut: b.cut, Threshold: math.MaxFloat32}
	if cuts := g.matrix.bins.cuts[f]; b.categorical {
		set := b.set
		node.Threshold, node.Categories, node.set = 0, g.matrix.bins.categoriesOf(f, &set), &set
	} else if int(b.cut) < len(cuts) {
		node.Threshold = cuts[b.cut]
	}
	number := g.tree.attach(node, l.node, l.isLeft)
	middle := l.from + g.partition(l, b, codes)
	left := leaf{from: l.from, to: middle, depth: l.depth + 1, node: number, isLeft: true, key: mix(l.key + 1)}
	right := leaf{from: middle, to: l.to, depth: l.depth + 1, node: number, key: mix(l.key + 2)}
	var memory [256]sums
	for code, s := range g.matrix.sumsOf(l.sums, slot, l.total, &memory) {
		if b.left(uint8(code)) {
			left.total += s
		}
	}
	right.total = l.total - left.total
	left.bounds, right.bounds = l.divided(g.sign(f), g.leafValue(&left, l.bounds), g.leafValue(&right, l.bounds))
	left.interaction = g.after(l.interaction, f, g.matrix.bins.Features())
	right.interaction = left.interaction
	g.leaves = append(g.leaves, right)
	g.leaves[at] = left
	smaller, larger = &g.leaves[at], &g.leaves[len(g.leaves)-1]
	if smaller.to-smaller.from > larger.to-larger.from {
		smaller, larger = larger, smaller
	}
	return l, smaller, larger
}

// searchBoth computes the histograms and the best splits of two siblings. The larger sibling reuses the memory of the
// parent's histograms.
func (g *Grower) searchBoth(parent, smaller, larger *leaf) {
	if len(g.leaves) == g.Leaves || g.Depth > 0 && smaller.depth >= g.Depth {
		g.release(parent)
		return
	}
	if !g.divisible(smaller) && !g.divisible(larger) {
		g.release(parent)
		return
	}
	larger.sums, parent.sums = parent.sums, nil
	if !g.divisible(smaller) {
		g.searchLarger(smaller, larger)
		return
	}
	g.searchers = [2]searcher{g.searcher(smaller), g.searcher(larger)}
	g.part(smaller, larger, func(from, to int) {
		g.search(&g.searchers[0], from, to, smaller.sums, g.splits)
		g.search(&g.searchers[1], from, to, larger.sums, g.second)
	})
	g.choose(smaller, g.splits)
	g.choose(larger, g.second)
}

// searchLarger finds the best split of the larger sibling if the smaller sibling will not be split. The smaller sibling
// then needs no histograms. searchLarger subtracts its documents one by one from the parent's histograms, which become
// the histograms of the larger sibling.
func (g *Grower) searchLarger(smaller, larger *leaf) {
	g.searchers[1] = g.searcher(larger)
	g.add(larger.sums, smaller, true, func(from, to int) {
		g.search(&g.searchers[1], from, to, larger.sums, g.second)
	})
	g.choose(larger, g.second)
}

// divisible reports whether a leaf has enough documents and curvature for a split.
func (g *Grower) divisible(l *leaf) bool {
	curvature := float64(float64(l.total.curvature()) * g.unit.curvature)
	return l.to-l.from >= 2*g.LeafDocuments && curvature*(1+1e-9) >= 2*g.LeafCurvature
}

func (g *Grower) searcher(l *leaf) searcher {
	s := searcher{Options: &g.Options, unit: g.unit, total: l.total, noise: g.noise, least: g.LeastGain, leaf: l, ceiling: g.ceiling}
	gradient, curvature := float64(float64(l.total.gradient())*g.unit.gradient), float64(float64(l.total.curvature())*g.unit.curvature)
	if s.bounded = g.bounded; s.bounded {
		s.parent = g.strengthAt(gradient, curvature, g.leafValue(l, l.bounds))
	} else {
		s.parent = g.strength(gradient, curvature)
	}
	return s
}

// search sets found for the slots of the blocks from ≤ b < to. For a numeric feature, found gets an open split: an
// upper bound on the gain, see [searcher.open]. For a categorical feature, found gets the best split. h has the
// histograms of the node.
func (g *Grower) search(s *searcher, from, to int, h []histogram, found []split) {
	var memory [256]sums
	for _, slots := range g.matrix.within[from:to] {
		for _, slot := range slots {
			f := g.matrix.slots[slot]
			if g.bars(s.leaf, f) {
				found[slot] = split{slot: slot}
				continue
			}
			of := g.matrix.sumsOf(h, slot, s.total, &memory)
			if g.matrix.bins.categories[f] != nil { // sets of categories have no bound
				found[slot] = g.find(s, slot, of)
				continue
			}
			found[slot] = s.open(slot, of, len(g.matrix.bins.cuts[f]))
		}
	}
}

// find returns the best split of the leaf s.leaf by the feature of a slot. of has the sums of the leaf's documents with
// each code.
func (g *Grower) find(s *searcher, slot int, of *[256]sums) split {
	f := g.matrix.slots[slot]
	if g.special(f) {
		var memory [256]uint8
		c := g.candidates(slot, of, s.someMissing(of), s.leaf.key, &memory)
		return s.bestAmong(slot, of, &c, g.sign(f))
	}
	return s.best(slot, of, len(g.matrix.bins.cuts[f]))
}
