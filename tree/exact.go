package tree

import (
	"cmp"
	"errors"
	"slices"

	"github.com/listwise/listwise/internal/parallel"
)

// Exact grows trees as [Grower] does, but by every value of a feature, with sums in floating
// point: in the order of the values, and of row numbers where these are equal, so that they do
// not depend on the number of workers. It shares no code that finds splits with the histograms
// and is a check on them. It takes some 12 bytes a cell, and each tree the time of a pass over
// all features' values a level. Calls must not overlap.
type Exact struct {
	Options

	x        []float32
	features int
	rows     int
	orders   [][]uint32 // by feature: rows by value, missing ones last; nil where one value is everywhere

	columns [][]uint32 // the same of the tree's documents, those of a leaf together
	index   []uint32   // these documents, by leaf and row
	lambda  []float64
	second  []float64
	goLeft  []bool        // by row
	spare   [][]uint32    // a worker each
	suffix  [][]exactSums // likewise
	found   []valueSplit  // by feature
	leaves  []exactLeaf
	tree    *Tree
	bag     []bool // as in Grower
	barred  []bool
	seed    uint64
}

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

// NewExact returns a grower of trees on the row-major matrix x of that many features, in which
// NaN is a missing value and every other is finite. Symmetric growth is an error.
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
	g := &Exact{Options: o, x: x, features: features, rows: len(x) / features}
	g.orders, g.columns, g.found = make([][]uint32, features), make([][]uint32, features), make([]valueSplit, features)
	workers := parallel.Workers(o.Workers, features+1)
	g.goLeft, g.spare, g.suffix = make([]bool, g.rows), make([][]uint32, workers), make([][]exactSums, workers)
	parallel.For(features, o.Workers, func(_, f int) { g.orders[f] = g.order(f) })
	return g, nil
}

func (g *Exact) at(row uint32, f int) float32 { return g.x[int(row)*g.features+f] }

// order returns the rows by a feature's value, nil if all are equal.
func (g *Exact) order(f int) []uint32 {
	order := make([]uint32, g.rows)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int {
		v, w := g.at(a, f), g.at(b, f)
		if v != v || w != w {
			return cmp.Compare(w, v) // NaN is before all numbers to Compare, and last here
		}
		return cmp.Compare(v, w)
	})
	if g.rows == 0 {
		return nil
	}
	first, last := g.at(order[0], f), g.at(order[g.rows-1], f)
	if first == last || first != first {
		return nil
	}
	return order
}

// Bar is that of [Grower].
func (g *Exact) Bar(features []bool) { g.barred = features }

// Seed is that of [Grower]. A random threshold is drawn evenly between the least and the
// largest value in the leaf.
func (g *Exact) Seed(seed uint64) { g.seed = seed }

// Grow is that of [Grower].
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
	g.index, g.bag = g.index[:0], nil
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
	parallel.For(g.features, g.Workers, func(_, f int) {
		g.columns[f] = g.columns[f][:0]
		for _, r := range g.orders[f] {
			if g.bag == nil || g.bag[r] {
				g.columns[f] = append(g.columns[f], r)
			}
		}
	})
	g.leaves = append(g.leaves[:0], exactLeaf{to: len(g.index), node: -1, key: mix(g.seed), bounds: unbounded()})
	g.search(&g.leaves[0])
}

// sum sets the sums of a leaf, in the order of rows.
func (g *Exact) sum(l *exactLeaf) {
	l.gradient, l.curvature = 0, 0
	for _, r := range g.index[l.from:l.to] {
		l.gradient += g.lambda[r]
		l.curvature += g.second[r]
	}
}

// search finds the best split of a leaf.
func (g *Exact) search(l *exactLeaf) {
	g.sum(l)
	if g.Depth > 0 && l.depth >= g.Depth {
		return
	}
	parallel.For(g.features, g.Workers, func(worker, f int) {
		g.found[f] = valueSplit{}
		if g.orders[f] != nil && (g.barred == nil || !g.barred[f]) && (l.barred == nil || !l.barred[f]) {
			g.found[f] = g.bestOf(l, f, worker)
		}
	})
	for _, s := range g.found {
		if s.found && (!l.best.found || s.gain > l.best.gain) {
			l.best = s
		}
	}
}

// divide divides a leaf by its best split.
func (g *Exact) divide(at int) {
	l := g.leaves[at]
	b := l.best
	g.tree.Nodes = append(g.tree.Nodes, Node{Feature: b.feature, Threshold: b.threshold, MissingLeft: b.missingLeft, Left: -1 - at, Right: -1 - len(g.leaves)})
	number := len(g.tree.Nodes) - 1
	if l.node >= 0 {
		if above := &g.tree.Nodes[l.node]; l.isLeft {
			above.Left = number
		} else {
			above.Right = number
		}
	}
	docs := 0
	for _, r := range g.index[l.from:l.to] {
		v := g.at(r, b.feature)
		if g.goLeft[r] = v <= b.threshold || v != v && b.missingLeft; g.goLeft[r] {
			docs++
		}
	}
	parallel.For(g.features+1, g.Workers, func(worker, f int) {
		if f == g.features {
			g.partition(g.index[l.from:l.to], worker)
		} else if g.orders[f] != nil {
			g.partition(g.columns[f][l.from:l.to], worker)
		}
	})
	left := exactLeaf{from: l.from, to: l.from + docs, depth: l.depth + 1, node: number, isLeft: true, key: mix(l.key + 1), bounds: l.bounds}
	right := exactLeaf{from: l.from + docs, to: l.to, depth: l.depth + 1, node: number, key: mix(l.key + 2), bounds: l.bounds}
	g.sum(&left)
	g.sum(&right)
	left.bounds, right.bounds = l.divided(g.sign(b.feature), g.value(left.gradient, left.curvature, l.bounds), g.value(right.gradient, right.curvature, l.bounds))
	left.interaction = g.after(l.interaction, b.feature, g.features)
	right.interaction = left.interaction
	g.leaves = append(g.leaves, right)
	g.leaves[at] = left
	if len(g.leaves) < g.Leaves {
		g.search(&g.leaves[at])
		g.search(&g.leaves[len(g.leaves)-1])
	}
}

// partition brings the rows that go left to the front and keeps the order otherwise.
func (g *Exact) partition(rows []uint32, worker int) {
	right, left := g.spare[worker][:0], 0
	for _, r := range rows {
		if g.goLeft[r] {
			rows[left] = r
			left++
		} else {
			right = append(right, r)
		}
	}
	copy(rows[left:], right)
	g.spare[worker] = right
}

// Values is that of [Grower].
func (g *Exact) Values(lambda, second []float64) []float64 {
	values := make([]float64, len(g.leaves))
	parallel.For(len(g.leaves), g.Workers, func(_, i int) {
		values[i] = g.newton(lambda, second, g.Rows(i))
	})
	g.Clamp(values)
	return values
}

// Clamp is that of [Grower].
func (g *Exact) Clamp(values []float64) {
	for i := range values {
		values[i] = g.leaves[i].clamp(values[i])
	}
}

// Rows is that of [Grower].
func (g *Exact) Rows(leaf int) []uint32 { return g.index[g.leaves[leaf].from:g.leaves[leaf].to] }

// Visit is that of [Grower].
func (g *Exact) Visit(visit func(leaf int, rows []uint32)) {
	for i := range g.leaves {
		visit(i, g.Rows(i))
	}
	row := make([]uint32, 1)
	for r, in := range g.bag {
		if !in {
			row[0] = uint32(r)
			visit(g.tree.Leaf(g.x[r*g.features:(r+1)*g.features]), row)
		}
	}
}

// Add is that of [Grower].
func (g *Exact) Add(scores, values []float64) { g.Visit(adder(scores, values)) }
