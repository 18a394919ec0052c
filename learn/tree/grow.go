package tree

import (
	"math"
	"slices"
)

// Grower grows trees on one matrix. It keeps its memory from tree to tree. Calls must not overlap.
type Grower struct {
	matrix *Matrix
	Options

	unit    quanta
	ceiling ceiling  // of gains
	index   []uint32 // documents, those of a leaf together
	packed  []sums   // of each row; of those in index alone they are this tree's
	spare   struct { // for dividing
		index  []uint32
		codes  []uint8
		counts []int
		goes   [256]uint8
		parent leaf // the one divided last
	}
	leaves    []leaf
	free      [][]histogram
	gatherers []gatherer  // a worker each
	searchers [2]searcher // of the node looked at and its sibling
	splits    []split     // by slot, of the node looked at
	second    []split     // likewise, of its sibling
	tree      *Tree
	bag       []bool // documents that are in index; nil for all
	barred    []bool // features that no split is by; nil for none
	seed      uint64 // of random thresholds

	bounded bool // some feature has a sign

	failed      int  // best splits of this tree that left too few documents
	countAtOnce bool // the documents of a split, when a leaf gets it
}

// leaf is a leaf while the tree grows.
type leaf struct {
	from, to int // in index
	total    sums
	depth    int
	node     int // above it, −1 at the root
	isLeft   bool
	key      uint64 // of what is drawn for it
	bounds
	interaction
	sums    []histogram // by block; nil if it cannot be divided
	best    split
	counted bool // best is known to leave enough documents on both sides
}

// NewGrower returns a grower of trees on a matrix, or an error for options out of range.
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

// Bar excludes the marked features from the splits of the next trees; nil allows all. The list has an
// element for each feature.
func (g *Grower) Bar(features []bool) { g.barred = features }

// Seed sets the random seed of the next trees' thresholds. The draw for a leaf depends only on the seed,
// the path to the leaf and the feature.
func (g *Grower) Seed(seed uint64) { g.seed = seed }

// Grow returns a tree that approximates λ/second on the given rows, in increasing order, or on all rows if rows
// is nil. Each split takes the most it can of
//
//	Σ_leaves G²/(H + L2),   G = Σλ and H = Σsecond of a leaf's documents,
//
// which is twice the approximate reduction of the objective by a Newton step (Chen and Guestrin, XGBoost, KDD
// 2016, eq. 7). lambda and second have an element for each row of the matrix. All must be finite, and second
// not negative.
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

// next returns the leaf to be divided first, or −1.
func (g *Grower) next() int {
	at := -1
	for i := range g.leaves {
		if g.leaves[i].best.found && (at < 0 || g.before(&g.leaves[i], &g.leaves[at])) {
			at = i
		}
	}
	return at
}

// before reports whether a leaf is divided before an earlier one of the list.
func (g *Grower) before(l, other *leaf) bool {
	if g.Growth == DepthWise && l.depth != other.depth {
		return l.depth < other.depth
	}
	return l.best.gain > other.best.gain
}

// begin makes the root the only leaf.
func (g *Grower) begin(lambda, second []float64, rows []uint32) {
	g.countAtOnce = g.RandomThresholds || 4*g.failed >= len(g.leaves) // in the first tree too: both are 0
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

// divide divides a leaf by its best split, given its codes by read. The left part takes the leaf's place,
// and the right one is a new leaf. It returns the leaf as it was, valid until the next division, and both
// parts, which have no histograms yet.
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
	for code, s := range l.sums[b.slot/blockFeatures][b.slot%blockFeatures] {
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

// searchBoth finds the best splits of two siblings. The larger one's histograms replace their parent's.
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

// searchLarger finds the best split of the larger sibling of a leaf that will not be divided. It subtracts
// the smaller one's documents from the histograms one by one.
func (g *Grower) searchLarger(smaller, larger *leaf) {
	g.searchers[1] = g.searcher(larger)
	g.add(larger.sums, smaller, true, func(from, to int) {
		g.search(&g.searchers[1], from, to, larger.sums, g.second)
	})
	g.choose(larger, g.second)
}

// divisible reports whether a leaf has the documents and the curvature of two.
func (g *Grower) divisible(l *leaf) bool {
	curvature := float64(float64(l.total.curvature()) * g.unit.curvature)
	return l.to-l.from >= 2*g.LeafDocuments && curvature*(1+1e-9) >= 2*g.LeafCurvature
}

func (g *Grower) searcher(l *leaf) searcher {
	s := searcher{Options: &g.Options, unit: g.unit, total: l.total, least: g.LeastGain, leaf: l, ceiling: g.ceiling}
	gradient, curvature := float64(float64(l.total.gradient())*g.unit.gradient), float64(float64(l.total.curvature())*g.unit.curvature)
	if s.bounded = g.bounded; s.bounded {
		s.parent = g.strengthAt(gradient, curvature, g.leafValue(l, l.bounds))
	} else {
		s.parent = g.strength(gradient, curvature)
	}
	return s
}

// search bounds the gain of each feature of blocks from up to to. For categories it finds the best split.
func (g *Grower) search(s *searcher, from, to int, sums []histogram, found []split) {
	for slot := from * blockFeatures; slot < min(len(g.matrix.slots), to*blockFeatures); slot++ {
		f := g.matrix.slots[slot]
		if g.bars(s.leaf, f) {
			found[slot] = split{slot: slot}
			continue
		}
		of := &sums[slot/blockFeatures][slot%blockFeatures]
		if g.matrix.bins.categories[f] != nil { // the bound is on cuts
			found[slot] = g.find(s, slot, of)
			continue
		}
		found[slot] = s.open(slot, of, len(g.matrix.bins.cuts[f]))
	}
}

// find finds the best split of a slot whose sums by code are given.
func (g *Grower) find(s *searcher, slot int, of *[256]sums) split {
	f := g.matrix.slots[slot]
	if g.special(f) {
		var memory [256]uint8
		c := g.candidates(slot, of, s.someMissing(of), s.leaf.key, &memory)
		return s.bestAmong(slot, of, &c, g.sign(f))
	}
	return s.best(slot, of, len(g.matrix.bins.cuts[f]))
}
