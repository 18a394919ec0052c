package scorer

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/internal/strictjson"
)

// treesFile are trees in a model file.
type treesFile struct {
	Type     string     `json:"type"`
	Features int        `json:"features"`
	Trees    []treeFile `json:"trees"`
}

// treeFile is a tree as lists, an element a node: features counted from 1 as in LETOR text,
// thresholds, the nodes' children (−1 − l for leaf l), and the nodes, from 0, where missing
// values go left. Values are the leaves'.
type treeFile struct {
	Feature     []int     `json:"feature"`
	Threshold   []float32 `json:"threshold"`
	Left        []int     `json:"left"`
	Right       []int     `json:"right"`
	MissingLeft []int     `json:"missing_left"`
	Values      []float64 `json:"values"`
}

// treeRead is a tree as it is read. Thresholds and nodes are pointers, and the values are
// [strictjson.Numbers], so that null is not 0; a feature or a child that is 0 is refused anyway.
type treeRead struct {
	Feature     []int              `json:"feature"`
	Threshold   []*float32         `json:"threshold"`
	Left        []int              `json:"left"`
	Right       []int              `json:"right"`
	MissingLeft []*int             `json:"missing_left"`
	Values      strictjson.Numbers `json:"values"`
}

func (t *Trees) encode(params []float64) ([]byte, error) {
	f := treesFile{Type: t.Kind(), Features: t.features, Trees: make([]treeFile, len(t.trees))}
	for k, nodes := range t.trees {
		tree := treeFile{Feature: []int{}, Threshold: []float32{}, Left: []int{}, Right: []int{}, MissingLeft: []int{}, Values: params[:len(nodes)+1]}
		params = params[len(nodes)+1:]
		for i, n := range nodes {
			tree.Feature = append(tree.Feature, n.Feature+1)
			tree.Threshold = append(tree.Threshold, n.Threshold)
			tree.Left, tree.Right = append(tree.Left, n.Left), append(tree.Right, n.Right)
			if n.MissingLeft {
				tree.MissingLeft = append(tree.MissingLeft, i)
			}
		}
		f.Trees[k] = tree
	}
	return strictjson.Marshal(f)
}

func decodeTrees(o strictjson.Object) (Scorer, []float64, error) {
	var f struct {
		Features int        `json:"features"`
		Trees    []treeRead `json:"trees"`
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	if err := atLeastOne("features", f.Features); err != nil {
		return nil, nil, err
	}
	if f.Trees == nil {
		return nil, nil, errors.New("found no list of trees, expected one, if only empty")
	}
	trees, params := make([][]TreeNode, len(f.Trees)), []float64(nil)
	for k := range f.Trees {
		nodes, err := f.Trees[k].nodes()
		if err != nil {
			return nil, nil, fmt.Errorf("tree %d: %w", k+1, err)
		}
		trees[k], params = nodes, append(params, f.Trees[k].Values...)
	}
	t, err := NewTrees(f.Features, trees)
	if err != nil {
		return nil, nil, err
	}
	return t, params, nil
}

func (f *treeRead) nodes() ([]TreeNode, error) {
	n := len(f.Feature)
	if len(f.Threshold) != n || len(f.Left) != n || len(f.Right) != n || len(f.Values) != n+1 {
		return nil, fmt.Errorf("found %d features, %d thresholds, %d and %d children and %d values, expected as many of each and a value more",
			n, len(f.Threshold), len(f.Left), len(f.Right), len(f.Values))
	}
	nodes := make([]TreeNode, n)
	for i := range nodes {
		if f.Threshold[i] == nil {
			return nil, fmt.Errorf("found null as threshold %d, expected a number", i+1)
		}
		nodes[i] = TreeNode{Feature: f.Feature[i] - 1, Threshold: *f.Threshold[i], Left: f.Left[i], Right: f.Right[i]}
	}
	for at, node := range f.MissingLeft {
		if node == nil {
			return nil, fmt.Errorf("found null as entry %d of those where missing values go left, expected a node", at+1)
		}
		i := *node
		if i < 0 || i >= n || nodes[i].MissingLeft {
			return nil, fmt.Errorf("found node %d among those where missing values go left, expected different nodes up to %d", i, n-1)
		}
		nodes[i].MissingLeft = true
	}
	return nodes, nil
}
