package tree

import (
	"errors"
	"math"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// Exact grows trees as [Grower] does, but considers every value of a feature and sums in floating point.
// Sums are in the order of values and, among equals, of rows, so that they do not depend on the number of
// workers. It shares no code for split search with the histograms and is a check on them. It takes 12
// bytes a cell. A tree takes a pass over all features' values for each level. Calls must not overlap.
type Exact struct {
	Options

	features int
	rows     int
	columns  *exactColumns
	workers  int // that look at columns

	index   []uint32 // the tree's documents, by leaf and row
	lambda  []float64
	second  []float64
	goLeft  []bool          // by row
	spare   []uint32        // for dividing
	suffix  [][]exactSum    // a worker each
	found   [2][]valueSplit // by feature, of a leaf and its sibling
	leaves  []exactLeaf
	tree    *Tree
	bag     []bool  // as in Grower
	outside []int32 // leaves of the documents outside the bag, by row, −1 − l for leaf l; nil if not known
	barred  []bool
	seed    uint64
}

const missingKey = 1<<32 - 1

// wordOf returns the word of a value.
func wordOf(v float32, row uint32) uint64 {
	key := uint32(missingKey)
	if v == v {
		key = kernel.AscendingKey(v)
	}
	return uint64(key)<<32 | uint64(row)
}

// valueOf returns the value of a word.
func valueOf(word uint64) float32 {
	if isMissing(word) {
		return float32(math.NaN())
	}
	return kernel.OfAscendingKey(uint32(word >> 32))
}

func isMissing(word uint64) bool { return word>>32 == missingKey }

// exactLeaf is a leaf while the tree grows.
type exactLeaf struct {
	from, to            int // in index and columns
	gradient, curvature float64
	depth               int
	node                int // above it, −1 at the root
	isLeft              bool
	key                 uint64
	bounds
	interaction
	best valueSplit
}

// valueSplit is a way to divide a leaf.
type valueSplit struct {
	gain        float64
	feature     int
	threshold   float32
	missingLeft bool
	found       bool
}

// NewExact returns a grower of trees on the row-major matrix x of the given number of features. NaN is a
// missing value, and all other values must be finite. Symmetric growth is an error.
func NewExact(x []float32, features int, o Options) (*Exact, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Growth == Symmetric {
		return nil, errors.New("found symmetric growth by exact splits, expected leaf-wise or depth-wise growth, or splits by histograms")
	}
	if err := o.checkConstraints(features); err != nil {
		return nil, err
	}
	rows := len(x) / features
	g := &Exact{
		Options: o, features: features, rows: rows, goLeft: make([]bool, rows),
		workers: parallel.Workers(o.Workers, features), columns: newExactColumns(x, features, o.Workers),
	}
	g.suffix = make([][]exactSum, parallel.Workers(o.Workers, features))
	for i := range g.found {
		g.found[i] = make([]valueSplit, features)
	}
	return g, nil
}

// Bar is as in [Grower].
func (g *Exact) Bar(features []bool) { g.barred = features }

// Seed is as in [Grower]. A random threshold is uniform between the least and the largest value in the
// leaf.
func (g *Exact) Seed(seed uint64) { g.seed = seed }

// Grow is as in [Grower].
func (g *Exact) Grow(lambda, second []float64, rows []uint32) *Tree {
	g.tree, g.lambda, g.second = &Tree{Leaves: 1}, lambda, second
	g.begin(rows)
	for len(g.leaves) < g.Leaves {
		at := -1
		for i := range g.leaves {
			if g.leaves[i].best.found && (at < 0 || g.before(&g.leaves[i], &g.leaves[at])) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		g.divide(at)
	}
	g.tree.Leaves = len(g.leaves)
	return g.tree
}

func (g *Exact) before(l, other *exactLeaf) bool {
	if g.Growth == DepthWise && l.depth != other.depth {
		return l.depth < other.depth
	}
	return l.best.gain > other.best.gain
}

// begin makes the root the only leaf.
func (g *Exact) begin(rows []uint32) {
	g.index, g.bag, g.outside = g.index[:0], nil, nil
	for i := range g.rows {
		if rows == nil {
			g.index = append(g.index, uint32(i))
		}
	}
	if rows != nil {
		g.index, g.bag = append(g.index, rows...), make([]bool, g.rows)
		for _, r := range rows {
			g.bag[r] = true
		}
	}
	g.columns.begin(g.bag, g.workers)
	g.leaves = append(g.leaves[:0], exactLeaf{to: len(g.index), node: -1, key: mix(g.seed), bounds: unbounded()})
	root := &g.leaves[0]
	g.sum(root)
	parallel.For(g.features, g.workers, func(worker, f int) {
		g.found[0][f] = valueSplit{}
		if g.looksAt(root, f) {
			g.found[0][f] = g.bestOf(root, f, g.columns.load(worker, f, root), worker)
		}
	})
	root.choose(g.found[0])
}

// looksAt reports whether a leaf may be divided by a feature.
func (g *Exact) looksAt(l *exactLeaf, f int) bool {
	return (g.Depth == 0 || l.depth < g.Depth) && g.columns.varies(f) && (g.barred == nil || !g.barred[f]) && (l.barred == nil || !l.barred[f])
}

// choose takes the best of the features' splits.
func (l *exactLeaf) choose(found []valueSplit) {
	for _, s := range found {
		if s.found && (!l.best.found || s.gain > l.best.gain) {
			l.best = s
		}
	}
}

// sum sets the sums of a leaf, in the order of rows.
func (g *Exact) sum(l *exactLeaf) {
	l.gradient, l.curvature = 0, 0
	for _, r := range g.index[l.from:l.to] {
		l.gradient += g.lambda[r]
		l.curvature += g.second[r]
	}
}

// divide divides a leaf by its best split.
func (g *Exact) divide(at int) {
	l := g.leaves[at]
	b := l.best
	node := Node{Feature: b.feature, Threshold: b.threshold, MissingLeft: b.missingLeft, Left: -1 - at, Right: -1 - len(g.leaves)}
	number := g.tree.attach(node, l.node, l.isLeft)
	for _, word := range g.columns.load(0, b.feature, &l) {
		v := valueOf(word)
		g.goLeft[uint32(word)] = v <= b.threshold || v != v && b.missingLeft
	}
	docs, spare := partition(g.index[l.from:l.to], g.goLeft, g.spare)
	g.spare = spare
	left := exactLeaf{from: l.from, to: l.from + docs, depth: l.depth + 1, node: number, isLeft: true, key: mix(l.key + 1), bounds: l.bounds}
	right := exactLeaf{from: l.from + docs, to: l.to, depth: l.depth + 1, node: number, key: mix(l.key + 2), bounds: l.bounds}
	g.sum(&left)
	g.sum(&right)
	left.bounds, right.bounds = l.divided(g.sign(b.feature), g.value(left.gradient, left.curvature, l.bounds), g.value(right.gradient, right.curvature, l.bounds))
	left.interaction = g.after(l.interaction, b.feature, g.features)
	right.interaction = left.interaction
	g.leaves = append(g.leaves, right)
	g.leaves[at] = left
	if len(g.leaves) < g.Leaves && (g.Depth == 0 || left.depth < g.Depth) {
		g.searchBoth(&l, &g.leaves[at], &g.leaves[len(g.leaves)-1])
	}
}

// searchBoth divides the columns of a leaf and finds the best splits of its parts.
func (g *Exact) searchBoth(parent, left, right *exactLeaf) {
	docs := left.to - left.from
	parallel.For(g.features, g.workers, func(worker, f int) {
		g.found[0][f], g.found[1][f] = valueSplit{}, valueSplit{}
		if !g.columns.varies(f) || g.barred != nil && g.barred[f] {
			return
		}
		words := g.columns.divide(worker, f, parent, g.goLeft)
		if g.looksAt(left, f) {
			g.found[0][f] = g.bestOf(left, f, words[:docs], worker)
		}
		if g.looksAt(right, f) {
			g.found[1][f] = g.bestOf(right, f, words[docs:], worker)
		}
	})
	left.choose(g.found[0])
	right.choose(g.found[1])
}

// partition moves the rows that go left to the front, and keeps the order otherwise. It returns their number
// and the spare memory, grown if needed.
func partition(rows []uint32, goLeft []bool, spare []uint32) (left int, right []uint32) {
	right = spare[:0]
	for _, r := range rows {
		if goLeft[r] {
			rows[left] = r
			left++
		} else {
			right = append(right, r)
		}
	}
	copy(rows[left:], right)
	return left, right
}

// Values is as in [Grower].
func (g *Exact) Values(lambda, second []float64) []float64 {
	values := make([]float64, len(g.leaves))
	parallel.For(len(g.leaves), g.Workers, func(_, i int) {
		values[i] = g.newton(lambda, second, g.Rows(i))
	})
	g.Clamp(values)
	return values
}

// Clamp is as in [Grower].
func (g *Exact) Clamp(values []float64) {
	for i := range values {
		values[i] = g.leaves[i].clamp(values[i])
	}
}

// Rows is as in [Grower].
func (g *Exact) Rows(leaf int) []uint32 { return g.index[g.leaves[leaf].from:g.leaves[leaf].to] }

// Visit is as in [Grower].
func (g *Exact) Visit(visit func(leaf int, rows []uint32)) {
	for i := range g.leaves {
		visit(i, g.Rows(i))
	}
	if g.bag == nil {
		return
	}
	if g.outside == nil {
		g.outside = g.columns.outside(g.tree, g.bag)
	}
	row := make([]uint32, 1)
	for r, in := range g.bag {
		if !in {
			row[0] = uint32(r)
			visit(int(-1-g.outside[r]), row)
		}
	}
}

// Add is as in [Grower].
func (g *Exact) Add(scores, values []float64) { g.Visit(adder(scores, values)) }
