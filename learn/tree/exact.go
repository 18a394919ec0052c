package tree

import (
	"errors"
	"math"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// Exact grows trees as [Grower] does, but considers a threshold between any two neighbouring values of a feature, and
// sums in floating point. It adds terms in the order of values, and of rows among equal values, so the sums do not
// depend on the number of workers. Exact and Grower do not share the code that searches splits, and tests compare the
// two. Exact needs 12 bytes for each value of the matrix. Each level of a tree takes a pass over the values of all
// features. An Exact must not be used by several goroutines at once.
type Exact struct {
	Options

	features int
	rows     int
	columns  *exactColumns
	workers  int // number of goroutines that search columns

	index   []uint32 // rows of the tree's documents, by leaf, then ascending
	lambda  []float64
	second  []float64
	goLeft  []bool          // whether the split of the current leaf sends a row left
	spare   []uint32        // memory for partition
	suffix  [][]exactSum    // memory for sums, one for each worker
	found   [2][]valueSplit // best split of each feature, for the left and the right part of a leaf
	leaves  []exactLeaf
	tree    *Tree
	bag     []bool  // marks the rows on which the tree is grown; nil if it has all rows
	outside []int32 // leaves of the rows outside the bag, −1 − l for leaf l; nil until computed
	barred  []bool
	seed    uint64
}

const missingKey = 1<<32 - 1

// wordOf returns the word of a value, an integer by which values are sorted. The upper half is the value's
// [kernel.AscendingKey], or missingKey for NaN. The lower half is the row.
func wordOf(v float32, row uint32) uint64 {
	key := uint32(missingKey)
	if v == v {
		key = kernel.AscendingKey(v)
	}
	return uint64(key)<<32 | uint64(row)
}

// valueOf returns the value of a word, which is NaN for a missing value.
func valueOf(word uint64) float32 {
	if isMissing(word) {
		return float32(math.NaN())
	}
	return kernel.OfAscendingKey(uint32(word >> 32))
}

func isMissing(word uint64) bool { return word>>32 == missingKey }

// exactLeaf is a leaf of the growing tree.
type exactLeaf struct {
	from, to            int // range in index and in the columns
	gradient, curvature float64
	depth               int
	node                int // index of its parent node; −1 for the root
	isLeft              bool
	key                 uint64
	bounds
	interaction
	best valueSplit
}

// valueSplit is a split of a leaf.
type valueSplit struct {
	gain        float64
	feature     int
	threshold   float32
	missingLeft bool
	found       bool
}

// NewExact returns a grower of trees on the row-major matrix x with the given number of features. NaN is a missing
// value. All other values must be finite. It returns an error for symmetric growth and for options out of range.
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

// Bar excludes the features marked in features from the splits of the next trees, as [Grower.Bar] does.
func (g *Exact) Bar(features []bool) { g.barred = features }

// Seed sets the random seed of thresholds for the next trees. A random threshold is uniform between the smallest and
// the largest value in the leaf.
func (g *Exact) Seed(seed uint64) { g.seed = seed }

// Grow returns a tree that approximates λ/second on the given rows, or on all rows if rows is nil. [Grower.Grow]
// defines the gain and the conditions on the arguments.
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

// begin starts a tree with the root as its only leaf.
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

// looksAt reports whether a leaf may be split by a feature.
func (g *Exact) looksAt(l *exactLeaf, f int) bool {
	return (g.Depth == 0 || l.depth < g.Depth) && g.columns.varies(f) && (g.barred == nil || !g.barred[f]) && (l.barred == nil || !l.barred[f])
}

// choose sets the leaf's best split to the best one of found.
func (l *exactLeaf) choose(found []valueSplit) {
	for _, s := range found {
		if s.found && (!l.best.found || s.gain > l.best.gain) {
			l.best = s
		}
	}
}

// sum computes a leaf's sums of gradients and second derivatives, adding in the order of rows.
func (g *Exact) sum(l *exactLeaf) {
	l.gradient, l.curvature = 0, 0
	for _, r := range g.index[l.from:l.to] {
		l.gradient += g.lambda[r]
		l.curvature += g.second[r]
	}
}

// divide splits a leaf by its best split.
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

// searchBoth divides the columns of a leaf between its parts and finds the best split of each part.
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

// partition moves the rows that go left to the front of rows, without changing the order within the left and the right
// rows. left is the number of rows that go left. The second result is the spare memory, which may have grown.
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

// Values returns the Newton step of each leaf of the last tree, from the sums over the rows on which the tree was
// grown. [Grower.Values] has the formula.
func (g *Exact) Values(lambda, second []float64) []float64 {
	values := make([]float64, len(g.leaves))
	parallel.For(len(g.leaves), g.Workers, func(_, i int) {
		values[i] = g.newton(lambda, second, g.Rows(i))
	})
	g.Clamp(values)
	return values
}

// Clamp clamps the values of the last tree's leaves to the bounds of monotone constraints.
func (g *Exact) Clamp(values []float64) {
	for i := range values {
		values[i] = g.leaves[i].clamp(values[i])
	}
}

// Rows returns those rows in a leaf of the last tree on which the tree was grown. The slice is valid until the next
// tree.
func (g *Exact) Rows(leaf int) []uint32 { return g.index[g.leaves[leaf].from:g.leaves[leaf].to] }

// Visit calls visit such that every row of the matrix is in one call, together with the row's leaf in the last tree.
// This includes rows on which the tree was not grown. Calls are sequential.
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

// Add adds the value of a leaf of the last tree to the scores of all rows in the leaf.
func (g *Exact) Add(scores, values []float64) { g.Visit(adder(scores, values)) }
