package train

import (
	"math"
	"slices"

	"github.com/listwise/listwise/model/scorer"
)

// orderLeaves clamps the values of a tree's leaves so that they keep the order of monotone
// features. At a division by such a feature the bound is the middle between the weighted means
// of both sides, as in tree.Options.Monotone.
func orderLeaves(nodes []scorer.TreeNode, signs []int8, weights, values []float64) {
	if len(nodes) == 0 {
		return
	}
	o := ordering{nodes, signs, weights, values, make([]float64, len(nodes)), make([]float64, len(nodes))}
	o.sum(0)
	o.bound(0, math.Inf(-1), math.Inf(1))
}

// ordering are a tree's leaves, and the sums over those below each node.
type ordering struct {
	nodes           []scorer.TreeNode
	signs           []int8
	weights, values []float64
	weight, total   []float64
}

// sum sets the sums of the nodes from one on, and returns its own.
func (o *ordering) sum(at int) (weight, total float64) {
	if at < 0 {
		w := o.weights[-1-at]
		return w, float64(w * o.values[-1-at])
	}
	leftWeight, left := o.sum(o.nodes[at].Left)
	rightWeight, right := o.sum(o.nodes[at].Right)
	o.weight[at], o.total[at] = leftWeight+rightWeight, left+right
	return o.weight[at], o.total[at]
}

// mean returns the mean value of the leaves below a node; ok is false if they weigh nothing.
func (o *ordering) mean(at int) (mean float64, ok bool) {
	if at < 0 {
		return o.values[-1-at], o.weights[-1-at] > 0
	}
	return o.total[at] / o.weight[at], o.weight[at] > 0
}

// bound brings the leaves below a node within bounds.
func (o *ordering) bound(at int, lower, upper float64) {
	if at < 0 {
		o.values[-1-at] = min(max(o.values[-1-at], lower), upper)
		return
	}
	n := &o.nodes[at]
	leftLower, leftUpper, rightLower, rightUpper := lower, upper, lower, upper
	if sign := o.signs[n.Feature]; sign != 0 {
		middle := o.middle(n, lower, upper)
		if sign > 0 {
			leftUpper, rightLower = middle, middle
		} else {
			leftLower, rightUpper = middle, middle
		}
	}
	o.bound(n.Left, leftLower, leftUpper)
	o.bound(n.Right, rightLower, rightUpper)
}

// middle returns the value that divides those of a node's sides. A side without documents
// leaves it to the other one.
func (o *ordering) middle(n *scorer.TreeNode, lower, upper float64) float64 {
	left, hasLeft := o.mean(n.Left)
	right, hasRight := o.mean(n.Right)
	switch {
	case !hasLeft && !hasRight:
		left, right = 0, 0
	case !hasLeft:
		left = right
	case !hasRight:
		right = left
	}
	clamp := func(v float64) float64 { return min(max(v, lower), upper) }
	return (clamp(left) + clamp(right)) / 2
}

// warnOfViolations warns of trees of the model to continue that break a constraint. Their sum
// with the new trees may then break it, too.
func (l *Trees) warnOfViolations(t *Task) {
	if t.Initial == nil {
		return
	}
	trees, params := (&initialTrees{t.Initial.Scorer.(*scorer.Trees), t.Initial.Params}).parts()
	var order, together, numbers int // trees that violate each
	for _, nodes := range trees {
		values := params[:len(nodes)+1]
		params = params[len(values):]
		if l.Monotone != nil && violatesOrder(nodes, l.Monotone, values) {
			order++
		}
		if len(l.Interactions) > 0 && len(nodes) > 0 && violatesGroups(nodes, 0, nil, l.Interactions) {
			together++
		}
		if slices.ContainsFunc(nodes, func(n scorer.TreeNode) bool {
			return n.Feature < len(l.Categorical) && l.Categorical[n.Feature] && n.Categories == nil
		}) {
			numbers++
		}
	}
	for _, found := range []struct {
		trees int
		what  string
	}{
		{order, "do not keep the order of the monotone features"},
		{together, "divide by features together that must not interact"},
		{numbers, "take categorical features as numbers"},
	} {
		if found.trees > 0 {
			t.warn("%d of the %d trees of the model to continue %s: the new model keeps that constraint in its new trees or values alone", found.trees, len(trees), found.what)
		}
	}
}

// violatesGroups reports whether a path from a node on has features, with those above, that
// are in no group together. A single one need not be in any.
func violatesGroups(nodes []scorer.TreeNode, at int, above []int, groups [][]int) bool {
	if at < 0 {
		return false
	}
	n := &nodes[at]
	path := above
	if !slices.Contains(path, n.Feature) {
		path = append(slices.Clip(above), n.Feature)
	}
	if len(path) > 1 && !slices.ContainsFunc(groups, func(group []int) bool {
		return !slices.ContainsFunc(path, func(f int) bool { return !slices.Contains(group, f) })
	}) {
		return true
	}
	return violatesGroups(nodes, n.Left, path, groups) || violatesGroups(nodes, n.Right, path, groups)
}

// violatesOrder reports whether two documents that differ in one monotone feature alone may
// have values in the wrong order.
func violatesOrder(nodes []scorer.TreeNode, signs []int8, values []float64) bool {
	for i := range nodes {
		n := &nodes[i]
		sign := float64(signs[n.Feature])
		if sign == 0 {
			continue
		}
		left, right := leavesBelow(nodes, n.Left, nil, nil), leavesBelow(nodes, n.Right, nil, nil)
		highest, lowest := math.Inf(-1), math.Inf(1)
		for _, a := range left {
			highest = max(highest, sign*values[a.leaf])
		}
		for _, b := range right {
			lowest = min(lowest, sign*values[b.leaf])
		}
		if highest <= lowest {
			continue
		}
		for _, a := range left {
			for _, b := range right {
				if sign*values[a.leaf] > sign*values[b.leaf] && a.meets(b, n.Feature) {
					return true
				}
			}
		}
	}
	return false
}

// pathLeaf is a leaf with the sides of the nodes above it.
type pathLeaf struct {
	leaf int
	path []side
}

// side is a node and whether documents go left there.
type side struct {
	node *scorer.TreeNode
	left bool
}

// leavesBelow appends the leaves below a node, with their paths from there.
func leavesBelow(nodes []scorer.TreeNode, at int, path []side, leaves []pathLeaf) []pathLeaf {
	if at < 0 {
		return append(leaves, pathLeaf{-1 - at, path})
	}
	n := &nodes[at]
	leaves = leavesBelow(nodes, n.Left, append(slices.Clip(path), side{n, true}), leaves)
	return leavesBelow(nodes, n.Right, append(slices.Clip(path), side{n, false}), leaves)
}

// meets reports whether a document may reach both leaves if only a feature may change.
func (a pathLeaf) meets(b pathLeaf, changing int) bool {
	path := slices.Concat(a.path, b.path)
	for i, s := range path {
		f := s.node.Feature
		if f != changing && !slices.ContainsFunc(path[:i], func(o side) bool { return o.node.Feature == f }) && !passable(path, f) {
			return false
		}
	}
	return true
}

// passable reports whether some number takes all the sides of the nodes of a feature.
func passable(path []side, feature int) bool {
	low, high := float32(math.Inf(-1)), float32(math.Inf(1)) // low < value ≤ high
	for _, s := range path {
		switch {
		case s.node.Feature != feature:
		case s.node.Categories != nil && s.left:
			return slices.ContainsFunc(s.node.Categories, func(value float32) bool {
				return !slices.ContainsFunc(path, func(o side) bool { return o.node.Feature == feature && o.node.GoesLeft(value) != o.left })
			})
		case s.node.Categories != nil: // there are other values
		case s.left:
			high = min(high, s.node.Threshold)
		default:
			low = max(low, s.node.Threshold)
		}
	}
	return low < high
}
