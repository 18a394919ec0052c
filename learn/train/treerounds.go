package train

import (
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// treeRounds are a growing sum of trees.
type treeRounds struct {
	Trees

	seed   uint64
	data   *dataset.Dataset
	base   []float64 // scores of the training data that trees are added to; nil: 0
	loss   *objective.Functional
	step   *treeStep
	grower grower

	treesState
	reweighed
	lambda, second []float64
	starts         []int // of the trees in leaves

	last    *tree.Tree
	values  []float64 // of the last
	queries []int     // to draw from
	err     error     // that ended the rounds

	weighted struct{ lambda, second []float64 } // of documents that count more than once
}

// next adds a tree. It reports false if there is none.
func (r *treeRounds) next() bool {
	if !r.grow() {
		return false
	}
	nodes := make([]scorer.TreeNode, len(r.last.Nodes))
	for i, n := range r.last.Nodes {
		nodes[i] = scorer.TreeNode{Feature: n.Feature, Threshold: n.Threshold, MissingLeft: n.MissingLeft, Categories: n.Categories, Left: n.Left, Right: n.Right}
	}
	r.starts = append(r.starts, len(r.leaves))
	if r.Sum != GradientTrees {
		r.table.fill(r.trees) // those of a checkpoint, if they are not in it
		r.table.grown(r.grower, len(nodes)+1)
	}
	r.trees, r.leaves = append(r.trees, nodes), append(r.leaves, r.values...)
	r.reweigh()
	r.objective = r.step.eval(r.scores, r.lambda, r.second)
	return true
}

// keep remembers the sum as it is.
func (r *treeRounds) keep() { r.rounds, r.keptWeights = len(r.trees), slices.Clone(r.weights) }

// drawsOfATree are how often queries, documents, features, thresholds and what the loss draws are drawn for one tree,
// at most: another draw may show a way down where one shows none.
const drawsOfATree = 10

// grow grows a tree and adds it to the scores. It reports false if there is none.
func (r *treeRounds) grow() bool {
	for range drawsOfATree {
		r.draws++
		draw := strconv.Itoa(r.draws)
		if r.Redraw && r.draws > 1 {
			if r.err = r.step.redraw(r.draws - 1); r.err != nil {
				return false
			}
		}
		at := r.aim(draw, r.Redraw && r.draws > 1)
		rows, lambda, second := r.sample(draw)
		barred := r.barred(draw)
		r.grower.Bar(barred)
		r.grower.Seed(random.Stream(r.seed, "thresholds of a tree", draw).Uint64())
		r.last = r.grower.Grow(lambda, second, rows)
		if r.last.Leaves > 1 {
			r.values = r.grower.Values(lambda, second)
			if rate, _ := r.factors(); r.step.take(r.grower, rate, at, r.lambda, r.values) {
				return true
			}
		}
		if rows == nil && barred == nil && r.Sum != DARTTrees && !r.Redraw && !r.RandomThresholds {
			break
		}
	}
	return false
}
