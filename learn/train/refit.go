package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// checkRefit returns an error if the model's trees were not added one after the other, or if
// settings that its values depend on are others now than then.
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

// refit gives the trees of the initial model new values, one tree after the other, by the step
// that a tree takes in boosting at the scores of those before it:
//
//	value ← decay·value + (1 − decay)·rate·step
//
// Leaves without documents keep their values. It is what LightGBM calls so, but that these
// become 0 there. Steps keep the order of monotone features, as trees of boosting do.
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
	together := 1 // whose leaves are found in one pass over the data
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
	var leaves []leafColumn // of the next trees
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

// validateRefit tells what the model gives on the validation data, if there are any.
func (l *Trees) validateRefit(t *Task, learned *Learned) error {
	v, err := t.Validation(false)
	if v == nil || err != nil {
		return err
	}
	value, err := v.Value(learned.Scorer, learned.Params)
	learned.Training.Validation = &value
	return err
}

// refitting are the scores of the trees refitted so far.
type refitting struct {
	Trees

	step                   *treeStep
	table                  leafTable
	scores, lambda, second []float64
}

// tree sets the values of a tree of which every document's leaf is known.
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
