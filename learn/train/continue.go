package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Continuer is a Learner that can continue from a model ([Problem.Initial]).
type Continuer interface {
	Learner

	// CheckInitial returns an error if the learner cannot continue from m.
	CheckInitial(m *model.Model) error
}

// checkInitial returns a *ProblemError if the learner cannot continue from the initial model, or if the model and the
// problem differ in features, normalization, views or missing values.
func (p *Problem) checkInitial() error {
	m := p.Initial
	if m == nil {
		return nil
	}
	l, ok := p.Learner.(Continuer)
	if !ok {
		return BadProblem("found a model to continue, expected none: this training always begins anew (boosted trees can go on)")
	}
	if m.Scorer == nil {
		return BadProblem("found a model to continue without a scorer, expected one that was trained or loaded")
	}
	if err := l.CheckInitial(m); err != nil {
		return BadProblem("model to continue: %w", err)
	}
	switch {
	case m.InputCategories() != nil:
		return BadProblem("model to continue: found one that keeps the categories of a data frame, expected one whose features are numbers: new trees would not know the categories")
	case m.NumFeatures() != p.Data.Features:
		return BadProblem("model to continue: found one of %d features, expected the %d of the data", m.NumFeatures(), p.Data.Features)
	case m.Normalization != p.Normalization:
		return BadProblem("model to continue: found one with the normalization %s, expected %s", m.Normalization, p.Normalization)
	case !slices.Equal(m.Views.Canonical(), p.Views.Canonical()):
		return BadProblem("model to continue: found one with the views %s, expected %s", m.Views, p.Views)
	case m.Missing != p.Missing && m.Missing != dataset.MissingError:
		return BadProblem("model to continue: found one for which missing values are %s, expected %s", m.Missing, p.Missing)
	}
	return nil
}

// identityOfInitial returns a hash of the initial model as " initial=HASH", or "" if there is none.
func (p *Problem) identityOfInitial() (string, error) {
	if p.Initial == nil {
		return "", nil
	}
	sum := sha256.New()
	if err := p.Initial.Write(sum); err != nil {
		return "", err
	}
	return " initial=" + hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// initialTrees holds the trees of the model to continue. A nil pointer holds no trees.
type initialTrees struct {
	scorer *scorer.Trees
	params []float64
}

// parts returns the trees and a copy of their leaf values.
func (t *initialTrees) parts() (trees [][]scorer.TreeNode, params []float64) {
	if t == nil {
		return nil, nil
	}
	return t.scorer.Trees(), slices.Clone(t.params)
}

// number returns the number of trees.
func (t *initialTrees) number() int {
	trees, _ := t.parts()
	return len(trees)
}

// score sets dst to the scores of the rows of x. dst must be all 0.
func (t *initialTrees) score(dst []float64, x []float32, features int) {
	if t == nil {
		return
	}
	var ws scorer.Workspace
	t.scorer.Score(dst, t.params, x[:len(dst)*features], &ws)
}

// CheckInitial implements Continuer.
func (l Trees) CheckInitial(m *model.Model) error {
	if _, ok := m.Scorer.(*scorer.Trees); !ok {
		return BadProblem("found one of the scorer %s, expected trees", m.Scorer.Kind())
	}
	return nil
}

// checkRefit returns an error if the model's trees were not added one after the other, or if a setting on which leaf
// values depend has changed.
func (l Trees) checkRefit(t *Task) error {
	if l.Sum != GradientTrees || l.Bag > 1 {
		return BadProblem("found DART, a forest or a bag, expected none of them: a refit takes trees one after the other")
	}
	was := t.Initial.Hyperparameters
	for _, one := range []struct{ name, gradient string }{{"boosting", "gradient"}, {"bag", "1"}} {
		if v, ok := was[one.name]; ok && fmt.Sprint(v) != one.gradient {
			return BadProblem("found a model of %s=%v, expected %[1]s=%[3]s: a refit takes trees one after the other", one.name, v, one.gradient)
		}
	}
	for _, name := range []string{"rate", "l1", "l2", "fit"} {
		v, had := was[name]
		if now, has := t.Settings[name]; had && has && fmt.Sprint(v) != fmt.Sprint(now) {
			return BadProblem("found %s=%v, expected %v, which the model was learned with: the values of leaves depend on it", name, now, v)
		}
	}
	return nil
}

// refit learns new leaf values for the trees of the initial model, one tree after the other. The step of a tree is
// computed as in boosting, at the scores of the trees before it:
//
//	value ← decay·value + (1 − decay)·rate·step
//
// Leaves without documents keep their values, whereas LightGBM's refit sets them to 0. As in boosting, the values
// respect monotone constraints.
func (l Trees) refit(ctx context.Context, t *Task) (*Learned, error) {
	switch {
	case t.Initial == nil:
		return nil, BadProblem("found no model to refit, expected one to continue")
	case !(l.Decay >= 0 && l.Decay <= 1):
		return nil, BadProblem("found the decay %v, expected a number from 0 to 1", l.Decay)
	}
	if t.Checkpoint != "" {
		return nil, BadProblem("found a checkpoint to write, expected none: a refit takes one pass")
	}
	if err := l.checkRefit(t); err != nil {
		return nil, err
	}
	together := 1 // number of trees whose leaves are found in one pass over the data
	if d := t.Normalized(); d.Streamed() {
		together += int(min(t.memoryLeft()/float64(leafBytes*d.Docs()), 1<<20))
	}
	step, err := l.step(t, t.Seed)
	if err != nil {
		return nil, err
	}
	d, s := t.Normalized(), t.Initial.Scorer.(*scorer.Trees)
	r := refitting{
		Trees: l, step: step,
		table:  leafTable{rows: rowsOf(d), workers: t.Workers},
		scores: make([]float64, d.Docs()), lambda: make([]float64, d.Docs()), second: make([]float64, d.Docs()),
	}
	trees, params := (&initialTrees{s, t.Initial.Params}).parts()
	value, at := r.step.eval(r.scores, r.lambda, r.second), 0
	for _, nodes := range trees {
		if len(nodes) >= mostTableLeaves {
			return nil, BadProblem("found a tree of %d leaves, expected at most %d to refit", len(nodes)+1, mostTableLeaves)
		}
	}
	var leaves []leafColumn // leaves of the next trees
	for k, nodes := range trees {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(leaves) == 0 {
			leaves = r.table.leavesOf(trees[k:min(k+together, len(trees))])
		}
		values := params[at : at+len(nodes)+1]
		at += len(values)
		r.tree(nodes, leaves[0], values)
		leaves = leaves[1:]
		value = r.step.eval(r.scores, r.lambda, r.second)
		if t.Observe != nil {
			t.Observe(Iteration{Number: k + 1, Objective: value, Epoch: true, Rate: l.Rate, Params: params})
		}
	}
	learned := &Learned{s, params, model.Training{Objective: value, Iterations: len(trees), Evaluations: len(trees), Status: "all trees have new values"}, step.loss.Queries()}
	return learned, l.validateRefit(t, learned)
}

// validateRefit computes the validation value if there are validation data.
func (l *Trees) validateRefit(t *Task, learned *Learned) error {
	v, err := t.Validation(false)
	if v == nil || err != nil {
		return err
	}
	value, err := v.Value(learned.Scorer, learned.Params)
	learned.Training.Validation = &value
	return err
}

// refitting holds the scores, λ and second derivatives of the trees refitted so far.
type refitting struct {
	Trees

	step                   *treeStep
	table                  leafTable
	scores, lambda, second []float64
}

// tree updates values, the leaf values of a tree, and adds them to the scores. leaves has the leaf of each document.
func (r *refitting) tree(nodes []scorer.TreeNode, leaves leafColumn, values []float64) {
	gradient, curvature, found := make([]float64, len(values)), make([]float64, len(values)), make([]bool, len(values))
	for i := range r.scores {
		leaf := leaves.at(i)
		gradient[leaf] += r.lambda[i]
		curvature[leaf] += r.second[i]
		found[leaf] = true
	}
	steps := make([]float64, len(values))
	for leaf, h := range curvature {
		steps[leaf] = r.Step(gradient[leaf], h)
	}
	if !r.step.take(leaves, r.Rate, slices.Clone(r.scores), r.lambda, steps) {
		clear(steps)
	}
	if r.Monotone != nil {
		for leaf, is := range found {
			if !is {
				steps[leaf] = values[leaf]
			}
		}
		orderLeaves(nodes, r.Monotone, curvature, steps)
	}
	for leaf := range values {
		if found[leaf] || r.Monotone != nil {
			values[leaf] = float64(r.Decay*values[leaf]) + float64((1-r.Decay)*steps[leaf])
		}
	}
	leaves.Add(r.scores, values)
	r.step.moved()
}

// orderLeaves clamps the leaf values of a tree to respect the monotone constraints in signs. At a split by a monotone
// feature, the bound is the midpoint of the weighted means of both sides, as in tree.Options.Monotone.
func orderLeaves(nodes []scorer.TreeNode, signs []int8, weights, values []float64) {
	if len(nodes) == 0 {
		return
	}
	o := ordering{nodes, signs, weights, values, make([]float64, len(nodes)), make([]float64, len(nodes))}
	o.sum(0)
	o.bound(0, math.Inf(-1), math.Inf(1))
}

// ordering holds a tree and the sums of weights and values of the leaves below each node.
type ordering struct {
	nodes           []scorer.TreeNode
	signs           []int8
	weights, values []float64
	weight, total   []float64
}

// sum computes the sums of a node and of all nodes below it. It returns the sums of the node.
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

// mean returns the weighted mean value of the leaves below a node. ok is false if their weights add up to 0.
func (o *ordering) mean(at int) (mean float64, ok bool) {
	if at < 0 {
		return o.values[-1-at], o.weights[-1-at] > 0
	}
	return o.total[at] / o.weight[at], o.weight[at] > 0
}

// bound clamps the leaves below a node to the bounds, and tightens the bounds at monotone splits.
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

// middle returns the bound between the two sides of a split. It is the mean of the other side if one side has no
// documents.
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

// warnOfViolations warns if trees of the model to continue break a constraint. The sum with the new trees may then
// break the constraint, too.
func (l *Trees) warnOfViolations(t *Task) {
	if t.Initial == nil {
		return
	}
	trees, params := (&initialTrees{t.Initial.Scorer.(*scorer.Trees), t.Initial.Params}).parts()
	var order, together, numbers int // numbers of trees that violate each constraint
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

// violatesGroups reports whether some path down from a node, with the features of above, has features that no single
// interaction group contains. A path with one feature violates nothing.
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

// violatesOrder reports whether the tree's values break a monotone constraint: whether two documents that differ in
// one monotone feature alone may get values in the wrong order.
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

// pathLeaf is a leaf with the path to it.
type pathLeaf struct {
	leaf int
	path []side
}

// side is a node on a path and the direction that the path takes there.
type side struct {
	node *scorer.TreeNode
	left bool
}

// leavesBelow appends the leaves below a node, with path as the beginning of their paths.
func leavesBelow(nodes []scorer.TreeNode, at int, path []side, leaves []pathLeaf) []pathLeaf {
	if at < 0 {
		return append(leaves, pathLeaf{-1 - at, path})
	}
	n := &nodes[at]
	leaves = leavesBelow(nodes, n.Left, append(slices.Clip(path), side{n, true}), leaves)
	return leavesBelow(nodes, n.Right, append(slices.Clip(path), side{n, false}), leaves)
}

// meets reports whether two documents that are equal in all features but changing may reach a and b.
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

// passable reports whether some value of a feature takes the direction of every side of path that splits on it.
func passable(path []side, feature int) bool {
	low, high := float32(math.Inf(-1)), float32(math.Inf(1)) // low < value ≤ high
	for _, s := range path {
		switch {
		case s.node.Feature != feature:
		case s.node.Categories != nil && s.left:
			return slices.ContainsFunc(s.node.Categories, func(value float32) bool {
				return !slices.ContainsFunc(path, func(o side) bool { return o.node.Feature == feature && o.node.GoesLeft(value) != o.left })
			})
		case s.node.Categories != nil: // infinitely many other values go right
		case s.left:
			high = min(high, s.node.Threshold)
		default:
			low = max(low, s.node.Threshold)
		}
	}
	return low < high
}
