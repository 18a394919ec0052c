package train

import (
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/model/scorer"
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

	weights, keptWeights []float64 // of the trees, where they change; nil: 1
	objective            float64   // at the scores
	ended                bool      // there is no further tree
}

// state returns what a checkpoint holds.
func (r *treeRounds) state() treesState {
	s := r.treesState
	s.factor = r.step.factor
	return s
}

func (s *treesState) code(c *binarystate.Codec) {
	trees, leaves, scores, weights, kept, ended := len(s.trees), len(s.leaves), len(s.scores), len(s.weights), len(s.keptWeights), 0
	if s.ended {
		ended = 1
	}
	c.Ints(&trees, &leaves, &scores, &s.rounds, &s.draws, &weights, &kept, &ended)
	c.Floats(&s.factor, &s.objective)
	c.Vectors(leaves, &s.leaves)
	c.Vectors(scores, &s.scores)
	c.Vectors(weights, &s.weights)
	c.Vectors(kept, &s.keptWeights)
	if c.Reading() && weights == 0 {
		s.weights = nil
	}
	if c.Reading() && kept == 0 {
		s.keptWeights = nil
	}
	s.ended = ended == 1
	if c.Reading() && ended != 0 && ended != 1 {
		c.Fail(fmt.Errorf("found the end %d of the trees, expected 0 or 1", ended))
	}
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
		codeCategories(c, n)
		if !c.Reading() {
			continue
		}
		n.Threshold, n.MissingLeft, n.Left, n.Right = float32(threshold), missing == 1, left-nodes-1, right-nodes-1
		if min(n.Feature, left, right) < 0 || missing != 0 && missing != 1 || float64(n.Threshold) != threshold {
			c.Fail(fmt.Errorf("found node %+v with the threshold %v, expected one of a tree", *n, threshold))
		}
	}
}

// codeCategories goes through a node's categories, one more than their number before them; 0 is
// none.
func codeCategories(c *binarystate.Codec, n *scorer.TreeNode) {
	number := 0
	if n.Categories != nil {
		number = len(n.Categories) + 1
	}
	c.Ints(&number)
	if c.Reading() && number > 0 && c.Fits(number-1) {
		n.Categories = make([]float32, number-1)
	}
	for i := range n.Categories {
		category := float64(n.Categories[i])
		c.Floats(&category)
		n.Categories[i] = float32(category)
		if float64(n.Categories[i]) != category {
			c.Fail(fmt.Errorf("found the category %v, expected a number of single precision", category))
		}
	}
	if number < 0 {
		c.Fail(fmt.Errorf("found %d categories, expected a number of them", number-1))
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
	case s.draws < len(s.trees) || notFinite(s.factor) || s.factor <= 0:
		return fmt.Errorf("%d draws for %d trees and the factor %v, expected one a tree at least and a positive number", s.draws, len(s.trees), s.factor)
	case s.weights != nil && len(s.weights) != len(s.trees) || s.keptWeights != nil && len(s.keptWeights) != s.rounds:
		return fmt.Errorf("%d weights of %d trees and %d of %d kept ones, expected as many", len(s.weights), len(s.trees), len(s.keptWeights), s.rounds)
	case anyNotFinite(s.leaves) || anyNotFinite(s.scores) || anyNotFinite(s.weights) || anyNotFinite(s.keptWeights) || notFinite(s.objective):
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
	if weighed := r.Sum != GradientTrees; weighed != (s.weights != nil) || weighed != (s.keptWeights != nil) && s.rounds > 0 {
		return fmt.Errorf("found a state with %d weights of trees, expected those of another kind of sum", len(s.weights))
	}
	for _, nodes := range s.trees {
		if r.Sum != GradientTrees && len(nodes) >= r.Leaves {
			return fmt.Errorf("found a tree of %d leaves, expected at most %d", len(nodes)+1, r.Leaves)
		}
	}
	r.treesState, r.step.factor = *s, s.factor
	leaves := 0
	for _, nodes := range r.trees {
		r.starts = append(r.starts, leaves)
		leaves += len(nodes) + 1
	}
	if r.Redraw && r.draws > 1 {
		if err := r.step.redraw(r.draws - 1); err != nil {
			return err
		}
	}
	r.step.eval(r.scores, r.lambda, r.second)
	return nil
}
