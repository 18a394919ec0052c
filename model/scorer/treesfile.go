package scorer

import (
	"errors"
	"fmt"
	"slices"

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
// values go left. Values are the leaves'. A node that divides by categories has null as its
// threshold and an entry in the list of categories.
type treeFile struct {
	Feature     []int            `json:"feature"`
	Threshold   []*float32       `json:"threshold"`
	Left        []int            `json:"left"`
	Right       []int            `json:"right"`
	MissingLeft []int            `json:"missing_left"`
	Categories  []categoriesFile `json:"categories,omitempty"`
	Values      []float64        `json:"values"`
}

// categoriesFile has the values with which documents go left in a node, ascending.
type categoriesFile struct {
	Node int       `json:"node"`
	Left []float32 `json:"left"`
}

// treeRead is a tree as it is read: thresholds and categories that are null are NaN, any other
// null in its lists is an error.
type treeRead struct {
	Feature     strictjson.Integers `json:"feature"`
	Threshold   strictjson.Singles  `json:"threshold"`
	Left        strictjson.Integers `json:"left"`
	Right       strictjson.Integers `json:"right"`
	MissingLeft strictjson.Integers `json:"missing_left"`
	Categories  []categoriesRead    `json:"categories"`
	Values      strictjson.Numbers  `json:"values"`
}

type categoriesRead struct {
	Node *int               `json:"node"`
	Left strictjson.Singles `json:"left"`
}

func (t *Trees) encode(params []float64) ([]byte, error) {
	return strictjson.Marshal(treesFile{Type: t.Kind(), Features: t.features, Trees: t.files(params)})
}

// files returns the trees with their values as they are in a file.
func (t *Trees) files(params []float64) []treeFile {
	files := make([]treeFile, len(t.trees))
	for k, nodes := range t.trees {
		tree := treeFile{Feature: []int{}, Threshold: []*float32{}, Left: []int{}, Right: []int{}, MissingLeft: []int{}, Values: params[:len(nodes)+1]}
		params = params[len(nodes)+1:]
		for i, n := range nodes {
			tree.Feature = append(tree.Feature, n.Feature+1)
			if n.Categories == nil {
				tree.Threshold = append(tree.Threshold, &nodes[i].Threshold)
			} else {
				tree.Threshold = append(tree.Threshold, nil)
				tree.Categories = append(tree.Categories, categoriesFile{i, n.Categories})
			}
			tree.Left, tree.Right = append(tree.Left, n.Left), append(tree.Right, n.Right)
			if n.MissingLeft {
				tree.MissingLeft = append(tree.MissingLeft, i)
			}
		}
		files[k] = tree
	}
	return files
}

func decodeTrees(o strictjson.Object) (Scorer, []float64, error) {
	var f struct {
		Features int        `json:"features"`
		Trees    []treeRead `json:"trees"`
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	t, params, err := readTrees(f.Features, f.Trees)
	if err != nil {
		return nil, nil, err
	}
	return t, params, nil
}

// readTrees returns the trees of a list, which must be there, and their values.
func readTrees(features int, list []treeRead) (*Trees, []float64, error) {
	if err := atLeastOne("features", features); err != nil {
		return nil, nil, err
	}
	if list == nil {
		return nil, nil, errors.New("found no list of trees, expected one, if only empty")
	}
	trees, params := make([][]TreeNode, len(list)), []float64(nil)
	for k := range list {
		nodes, err := list[k].nodes()
		if err != nil {
			return nil, nil, fmt.Errorf("tree %d: %w", k+1, err)
		}
		trees[k], params = nodes, append(params, list[k].Values...)
	}
	t, err := newTrees(features, trees)
	return t, params, err
}

func (f *treeRead) nodes() ([]TreeNode, error) {
	n := len(f.Feature)
	if len(f.Threshold) != n || len(f.Left) != n || len(f.Right) != n || len(f.Values) != n+1 {
		return nil, fmt.Errorf("found %d features, %d thresholds, %d and %d children and %d values, expected as many of each and a value more",
			n, len(f.Threshold), len(f.Left), len(f.Right), len(f.Values))
	}
	if n == 0 && len(f.MissingLeft)+len(f.Categories) == 0 {
		return nil, nil
	}
	nodes := make([]TreeNode, n)
	for i := range nodes {
		nodes[i] = TreeNode{Feature: f.Feature[i] - 1, Left: f.Left[i], Right: f.Right[i]}
	}
	if err := f.readCategories(nodes); err != nil {
		return nil, err
	}
	for i := range nodes {
		threshold, divides := f.Threshold[i], nodes[i].Categories == nil
		switch null := threshold != threshold; {
		case divides && null:
			return nil, fmt.Errorf("found null as threshold %d, expected a number", i+1)
		case !divides && !null:
			return nil, fmt.Errorf("found %v as threshold %d, expected null: the node has categories", threshold, i+1)
		case divides:
			nodes[i].Threshold = threshold
		}
	}
	for _, i := range f.MissingLeft {
		if i < 0 || i >= n || nodes[i].MissingLeft {
			return nil, fmt.Errorf("found node %d among those where missing values go left, expected different nodes up to %d", i, n-1)
		}
		nodes[i].MissingLeft = true
	}
	return nodes, nil
}

// readCategories puts the lists of categories into their nodes.
func (f *treeRead) readCategories(nodes []TreeNode) error {
	for at, c := range f.Categories {
		if c.Node == nil || *c.Node < 0 || *c.Node >= len(nodes) || nodes[*c.Node].Categories != nil {
			return fmt.Errorf("found no node, or one a second time, in entry %d of the categories, expected different nodes up to %d", at+1, len(nodes)-1)
		}
		if i := slices.IndexFunc(c.Left, func(v float32) bool { return v != v }); i >= 0 {
			return fmt.Errorf("found null as category %d of node %d, expected a number", i+1, *c.Node)
		}
		nodes[*c.Node].Categories = append([]float32{}, c.Left...) // not nil
	}
	return nil
}
