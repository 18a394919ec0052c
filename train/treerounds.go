package train

import (
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
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
	step   *treeStep
	grower *tree.Grower

	treesState
	lambda, second []float64

	last    *tree.Tree
	values  []float64 // of the last
	queries []int     // to draw from
	err     error     // that ended the rounds

	weighted struct{ lambda, second []float64 } // GOSS's
}

// Next implements Booster. The objective is that of the sum with the new tree.
func (r *treeRounds) Next() (Round, bool) {
	if !r.grow() {
		return Round{}, false
	}
	nodes := make([]scorer.TreeNode, len(r.last.Nodes))
	for i, n := range r.last.Nodes {
		nodes[i] = scorer.TreeNode{Feature: n.Feature, Threshold: n.Threshold, MissingLeft: n.MissingLeft, Left: n.Left, Right: n.Right}
	}
	r.trees, r.leaves = append(r.trees, nodes), append(r.leaves, r.values...)
	return Round{Weight: r.Rate, Objective: r.step.eval(r.scores, r.lambda, r.second)}, true
}

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
			r.step.eval(r.scores, r.lambda, r.second)
		}
		rows, barred := r.documents(draw, r.bag(draw)), r.barred(draw)
		lambda, second := r.lambda, r.second
		if r.GOSSTop < 1 {
			rows, lambda, second = r.goss(draw, rows)
		}
		r.grower.Bar(barred)
		r.grower.Seed(random.Stream(r.seed, "thresholds of a tree", draw).Uint64())
		r.last = r.grower.Grow(lambda, second, rows)
		if r.last.Leaves > 1 {
			r.values = r.grower.Values(lambda, second)
			if r.step.take(r.grower, r.Rate, r.scores, r.lambda, r.values) {
				return true
			}
		}
		if rows == nil && barred == nil && !r.Redraw && !r.RandomThresholds {
			break
		}
	}
	return false
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
func (r *treeRounds) Keep() { r.rounds = len(r.trees) }

// Kept implements Booster.
func (r *treeRounds) Kept() (scorer.Scorer, []float64, error) {
	if r.err != nil {
		return nil, nil, r.err
	}
	s, err := scorer.NewTrees(r.data.Features, r.trees[:r.rounds])
	if err != nil {
		return nil, nil, err
	}
	return s, r.leaves[:s.NumParams()], nil
}

// Weights implements Booster: the values of all leaves.
func (r *treeRounds) Weights() []float64 { return r.leaves }

// Queries implements Booster.
func (r *treeRounds) Queries() int { return r.loss.Queries() }

func (r *treeRounds) members() []*treeRounds { return []*treeRounds{r} }
