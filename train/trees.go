package train

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/scorer"
	"github.com/listwise/listwise/tree"
)

// Trees adds regression trees to a sum, round by round: each approximates a Newton step of the
// loss as a function of the documents' scores (Friedman, Greedy Function Approximation, Annals
// of Statistics 2001; with second derivatives, Chen and Guestrin, XGBoost, KDD 2016). The loss
// must have second derivatives by score (loss.Diagonal). The round that is best on the
// validation data is kept, without these the last. No checkpoints are written.
type Trees struct {
	Rounds   int     // trees at most; 0 means 300
	Patience int     // rounds without a better one, by the validation data, before the end; 0: all are made
	Rate     float64 // factor of a tree's values; 0 means 0.1
	Bins     int     // of a feature's values, 2 to 255; 0 means 255

	// QueryFraction of the queries, drawn anew each round, teach a tree, at least one; of the
	// features that FeatureFraction, at least one, is there to divide by. 0 means all.
	QueryFraction, FeatureFraction float64

	tree.Options // Workers is set by the task
}

// Learn implements Learner.
func (l Trees) Learn(ctx context.Context, t *Task) (*Learned, error) {
	for _, f := range []struct {
		what  string
		value float64
	}{{"fraction of queries", l.QueryFraction}, {"fraction of features", l.FeatureFraction}, {"rate", l.Rate}} {
		if !(f.value >= 0 && f.value <= 1) {
			return nil, BadProblem("found the %s %v, expected a number from 0 to 1", f.what, f.value)
		}
	}
	return Boosting{Rounds: l.Rounds, Patience: l.Patience, Start: l.start}.Learn(ctx, t)
}

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

func (l Trees) start(t *Task) (Booster, error) {
	if t.Loss == nil {
		return nil, errors.New("found no loss, expected one: this learner minimises a loss")
	}
	coster, _ := t.Loss.(loss.Coster)
	if err := t.CheckWork(nil, coster); err != nil {
		return nil, err
	}
	d := t.Normalized()
	f, err := objective.NewFunctional(d, t.Loss, t.Seed, t.Workers, t.done)
	if err != nil {
		return nil, err
	}
	if f.Queries() == 0 {
		return nil, t.nothingToLearn()
	}
	if err := f.Diagonal(); err != nil {
		return nil, BadProblem("%w, and trees take Newton steps; expected a loss that has them", err)
	}
	l.Rate, l.Bins = cmp.Or(l.Rate, 0.1), cmp.Or(l.Bins, tree.MaxBins)
	l.QueryFraction, l.FeatureFraction = cmp.Or(l.QueryFraction, 1), cmp.Or(l.FeatureFraction, 1)
	l.Workers = t.Workers
	bins, err := tree.NewBins(d.X(), d.Features, l.Bins, t.Workers)
	if err != nil {
		return nil, err
	}
	g, err := tree.NewGrower(tree.NewMatrix(d.X(), bins, t.Workers), l.Options)
	if err != nil {
		return nil, err
	}
	n := d.Docs()
	r := &treeRounds{Trees: l, seed: t.Seed, data: d, loss: f, grower: g, scores: make([]float64, n), lambda: make([]float64, n), second: make([]float64, n)}
	for i := range d.Queries {
		r.queries = append(r.queries, i)
	}
	f.EvalSecond(r.scores, r.lambda, r.second)
	return r, nil
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

// bag returns the documents of the queries that teach a tree, nil for all.
func (r *treeRounds) bag(round string) []uint32 {
	n := max(1, int(math.Round(r.QueryFraction*float64(len(r.queries)))))
	if n == len(r.queries) {
		return nil
	}
	in := make([]bool, len(r.queries))
	for _, q := range random.Stream(r.seed, "queries of a tree", round).Perm(len(r.queries))[:n] {
		in[q] = true
	}
	var rows []uint32
	row := uint32(0)
	for q := range r.data.Queries {
		docs := uint32(r.data.Queries[q].Len())
		for i := range docs {
			if in[q] {
				rows = append(rows, row+i)
			}
		}
		row += docs
	}
	return rows
}

// barred returns the features that a tree has no splits by, nil for none.
func (r *treeRounds) barred(round string) []bool {
	features := r.data.Features
	n := max(1, int(math.Round(r.FeatureFraction*float64(features))))
	if n == features {
		return nil
	}
	barred := make([]bool, features)
	for _, f := range random.Stream(r.seed, "features of a tree", round).Perm(features)[n:] {
		barred[f] = true
	}
	return barred
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
