package train

import (
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/scorer"
)

// treesState is what further rounds of a growing sum of trees depend on, beside the data and
// the settings: all that checkpoints hold of it.
type treesState struct {
	trees  [][]scorer.TreeNode
	leaves []float64 // values of all trees
	scores []float64 // of the training data
	rounds int       // kept
	draws  int       // made of queries, features and what the loss draws
	factor float64   // that the next line search begins with
}

// state returns what a checkpoint holds.
func (r *treeRounds) state() treesState {
	s := r.treesState
	s.factor = r.step.factor
	return s
}

func (s *treesState) code(c *binarystate.Codec) {
	trees, leaves, scores := len(s.trees), len(s.leaves), len(s.scores)
	c.Ints(&trees, &leaves, &scores, &s.rounds, &s.draws)
	c.Floats(&s.factor)
	c.Vectors(leaves, &s.leaves)
	c.Vectors(scores, &s.scores)
	if c.Reading() && c.Fits(trees) {
		s.trees = make([][]scorer.TreeNode, trees)
	}
	for i := range s.trees {
		codeTree(c, &s.trees[i])
	}
}

// codeTree goes through a tree. Children are written as numbers that are not negative: the
// leaves backwards, then the nodes.
func codeTree(c *binarystate.Codec, tree *[]scorer.TreeNode) {
	nodes := len(*tree)
	c.Ints(&nodes)
	if c.Reading() && c.Fits(nodes) {
		*tree = make([]scorer.TreeNode, nodes)
	}
	for i := range *tree {
		n := &(*tree)[i]
		missing, threshold := 0, float64(n.Threshold)
		if n.MissingLeft {
			missing = 1
		}
		left, right := n.Left+nodes+1, n.Right+nodes+1
		c.Ints(&n.Feature, &missing, &left, &right)
		c.Floats(&threshold)
		if !c.Reading() {
			continue
		}
		n.Threshold, n.MissingLeft, n.Left, n.Right = float32(threshold), missing == 1, left-nodes-1, right-nodes-1
		if min(n.Feature, left, right) < 0 || missing != 0 && missing != 1 || float64(n.Threshold) != threshold {
			c.Fail(fmt.Errorf("found node %+v with the threshold %v, expected one of a tree", *n, threshold))
		}
	}
}

// validate returns an error if the state is impossible after so many rounds.
func (s *treesState) validate(rounds int) error {
	leaves := 0
	for _, nodes := range s.trees {
		leaves += len(nodes) + 1
	}
	switch {
	case len(s.trees) > rounds || s.rounds < 0 || s.rounds > len(s.trees):
		return fmt.Errorf("%d trees, %d of them kept, after %d rounds, expected no more than rounds", len(s.trees), s.rounds, rounds)
	case leaves != len(s.leaves):
		return fmt.Errorf("%d leaves with %d values, expected as many", leaves, len(s.leaves))
	case s.draws < len(s.trees) || s.draws > drawsOfATree*len(s.trees) || notFinite(s.factor) || s.factor <= 0:
		return fmt.Errorf("%d draws for %d trees and the factor %v, expected one to %d a tree and a positive number", s.draws, len(s.trees), s.factor, drawsOfATree)
	case anyNotFinite(s.leaves) || anyNotFinite(s.scores):
		return errors.New("values or scores that are not finite, expected finite numbers")
	}
	return nil
}

func anyNotFinite(values []float64) bool { return slices.ContainsFunc(values, notFinite) }

// goOnFrom sets the sum to a state, or returns an error if that is not of these data.
func (r *treeRounds) goOnFrom(s *treesState) error {
	if len(s.scores) != len(r.scores) {
		return fmt.Errorf("found a state of %d documents, expected %d", len(s.scores), len(r.scores))
	}
	if _, err := scorer.NewTrees(r.data.Features, s.trees); err != nil {
		return err
	}
	r.treesState, r.step.factor = *s, s.factor
	if r.Redraw && r.draws > 1 {
		if err := r.step.redraw(r.draws - 1); err != nil {
			return err
		}
	}
	r.step.eval(r.scores, r.lambda, r.second)
	return nil
}
