package train

import (
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/scorer"
	"github.com/listwise/listwise/tree"
)

// treeRounds are a growing sum of trees.
type treeRounds struct {
	Trees

	seed   uint64
	data   *dataset.Dataset
	loss   *objective.Functional
	grower *tree.Grower

	scores, lambda, second []float64

	trees   [][]scorer.TreeNode
	leaves  []float64 // values of all trees
	last    *tree.Tree
	values  []float64 // of the last
	rounds  int       // kept
	keptTo  int       // in leaves
	queries []int     // to draw from
}

// Next implements Booster. The objective is that of the sum with the new tree.
func (r *treeRounds) Next() (Round, bool) {
	round := strconv.Itoa(len(r.trees) + 1)
	r.grower.Bar(r.barred(round))
	r.last = r.grower.Grow(r.lambda, r.second, r.bag(round))
	if r.last.Leaves < 2 {
		return Round{}, false
	}
	r.values = r.grower.Values(r.lambda, r.second)
	for i := range r.values {
		r.values[i] *= r.Rate
	}
	r.grower.Add(r.scores, r.values)
	nodes := make([]scorer.TreeNode, len(r.last.Nodes))
	for i, n := range r.last.Nodes {
		nodes[i] = scorer.TreeNode{Feature: n.Feature, Threshold: n.Threshold, MissingLeft: n.MissingLeft, Left: n.Left, Right: n.Right}
	}
	r.trees, r.leaves = append(r.trees, nodes), append(r.leaves, r.values...)
	return Round{Weight: r.Rate, Objective: r.loss.EvalSecond(r.scores, r.lambda, r.second)}, true
}

// Add implements Booster.
func (r *treeRounds) Add(dst []float64, d *dataset.Dataset) {
	const chunk = 1024
	x, features := d.X(), d.Features
	parallel.For((len(dst)+chunk-1)/chunk, r.Workers, func(_, c int) {
		for i := c * chunk; i < min(len(dst), (c+1)*chunk); i++ {
			dst[i] += r.values[r.last.Leaf(x[i*features:(i+1)*features])]
		}
	})
}

// Keep implements Booster.
func (r *treeRounds) Keep() { r.rounds, r.keptTo = len(r.trees), len(r.leaves) }

// Kept implements Booster.
func (r *treeRounds) Kept() (scorer.Scorer, []float64, error) {
	s, err := scorer.NewTrees(r.data.Features, r.trees[:r.rounds])
	return s, r.leaves[:r.keptTo], err
}

// Weights implements Booster: the values of all leaves.
func (r *treeRounds) Weights() []float64 { return r.leaves }

// Queries implements Booster.
func (r *treeRounds) Queries() int { return r.loss.Queries() }
