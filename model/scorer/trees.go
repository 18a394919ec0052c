package scorer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/strictjson"
)

// TreeNode is an inner node of a decision tree. A document goes left if its feature's value is at most
// the threshold, otherwise right. A missing value (NaN) goes left if MissingLeft is true.
//
// If the node has Categories, a document goes left if its feature's value is one of them, otherwise
// right. A missing value then goes right.
//
// Left and Right are the children: an index of a node of the tree, or −1 − l for leaf l.
type TreeNode struct {
	Feature     int       // from 0
	Threshold   float32   // finite; 0 with categories
	MissingLeft bool      // false with categories
	Categories  []float32 // finite, ascending and different; nil for a threshold
	Left, Right int
}

// GoesLeft reports whether documents with the given value of the node's feature go left. NaN is a
// missing value.
func (n *TreeNode) GoesLeft(value float32) bool {
	if n.Categories != nil {
		return contains(n.Categories, value)
	}
	return value <= n.Threshold || value != value && n.MissingLeft
}

// Trees are regression trees h_t. Their score is the sum
//
//	s(x) = Σ_t v_{t, h_t(x)}
//
// where h_t(x) is the leaf of tree t that contains x. The parameters are the values v of the leaves,
// tree by tree. The architecture is the structure of the trees. Score adds the trees in order, so a
// score has the same bits whichever other documents are scored at the same time.
type Trees struct {
	features int
	trees    [][]TreeNode
	nodes    []flatNode  // of all trees, in order
	sets     [][]float32 // sets of categories
	roots    []int32     // one per tree: an index of nodes, or −1 − p for a single leaf with parameter p
	leaves   int

	walked   atomic.Int64 // number of documents scored without blocks
	makeOnce sync.Once
	blocks   *blocks
}

// flatNode is a node in the list of all trees' nodes. Its children are encoded as in Trees.roots.
type flatNode struct {
	threshold   float32
	feature     int32
	children    [2]int32 // left, right
	missingLeft bool
	set         int32 // number of the set of categories, from 1; 0 if the node has a threshold
}

var (
	_ MissingTaker = (*Trees)(nil)
	_ Preparer     = (*Trees)(nil)
)

// NewTrees returns the scorer of the given trees on data with the given number of features. There may
// be no trees. Node 0 is the root of a tree. A tree of n nodes has the leaves 0 to n, so a tree without
// nodes is a single leaf.
//
// Every leaf, and every node except the root, must be the child of exactly one node. A node must follow
// its parent in the list. NewTrees returns an error for other lists, for unknown features and for
// thresholds that are not finite.
func NewTrees(features int, trees [][]TreeNode) (*Trees, error) {
	own := make([][]TreeNode, len(trees))
	for k, nodes := range trees {
		if len(nodes) > 0 {
			own[k] = cloneNodes(nodes)
		}
	}
	return newTrees(features, own)
}

// newTrees is NewTrees without a copy: the scorer keeps the trees.
func newTrees(features int, trees [][]TreeNode) (*Trees, error) {
	t := &Trees{features: features, trees: trees}
	total := 0
	for _, nodes := range trees {
		total += len(nodes)
	}
	t.nodes, t.roots = make([]flatNode, 0, total), make([]int32, 0, len(trees))
	for k, nodes := range trees {
		if err := checkTree(features, nodes); err != nil {
			return nil, fmt.Errorf("tree %d: %w", k+1, err)
		}
		if t.leaves+len(t.nodes)+len(nodes) >= math.MaxInt32/2 {
			return nil, fmt.Errorf("tree %d: found more than %d nodes and leaves so far", k+1, math.MaxInt32/2)
		}
		t.flatten(nodes)
	}
	return t, nil
}

func (t *Trees) flatten(nodes []TreeNode) {
	first := len(t.nodes)
	child := func(c int) int32 {
		if c < 0 {
			return int32(c - t.leaves)
		}
		return int32(first + c)
	}
	root := child(-1)
	if len(nodes) > 0 {
		root = child(0)
	}
	t.roots = append(t.roots, root)
	for i := range nodes {
		n := &nodes[i]
		flat := flatNode{n.Threshold, int32(n.Feature), [2]int32{child(n.Left), child(n.Right)}, n.MissingLeft, 0}
		if n.Categories != nil {
			t.sets = append(t.sets, n.Categories)
			flat.set = int32(len(t.sets))
		}
		t.nodes = append(t.nodes, flat)
	}
	t.leaves += len(nodes) + 1
}

// cloneNodes returns a deep copy of nodes.
func cloneNodes(nodes []TreeNode) []TreeNode {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		nodes[i].Categories = slices.Clone(nodes[i].Categories)
	}
	return nodes
}

// checkTree returns an error unless nodes form a tree on data with the given number of features.
func checkTree(features int, nodes []TreeNode) error {
	seen := make([]bool, 2*len(nodes)+1) // of nodes, then of leaves
	for i := range nodes {
		n := &nodes[i]
		if n.Feature < 0 || n.Feature >= features {
			return fmt.Errorf("found feature %d in node %d, expected one from 1 to %d", n.Feature+1, i, features)
		}
		if v := float64(n.Threshold); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("found the threshold %v in node %d, expected a finite number", n.Threshold, i)
		}
		if err := n.checkCategories(i); err != nil {
			return err
		}
		for _, c := range [2]int{n.Left, n.Right} {
			if c >= len(nodes) || c < -1-len(nodes) {
				return fmt.Errorf("found child %d of node %d, expected one of the nodes up to %d or −1 less one of the leaves up to %d", c, i, len(nodes)-1, len(nodes))
			}
			at := c
			if c < 0 {
				at = len(nodes) + (-1 - c)
			}
			switch {
			case c >= 0 && c <= i:
				return fmt.Errorf("found child %d of node %d, expected a later node", c, i)
			case seen[at]:
				return fmt.Errorf("found child %d twice, the second time of node %d", c, i)
			}
			seen[at] = true
		}
	}
	return nil
}

// Kind returns "trees".
func (*Trees) Kind() string { return "trees" }

// TakesMissing returns true, since every node defines the side for missing values.
func (*Trees) TakesMissing() bool { return true }

// NumFeatures returns the number of features.
func (t *Trees) NumFeatures() int { return t.features }

// NumParams returns the number of leaves of all trees.
func (t *Trees) NumParams() int { return t.leaves }

// Trees returns a copy of the trees.
func (t *Trees) Trees() [][]TreeNode {
	trees := make([][]TreeNode, len(t.trees))
	for k, nodes := range t.trees {
		trees[k] = cloneNodes(nodes)
	}
	return trees
}

// Init sets all leaves to 0.
func (*Trees) Init(params []float64, _ *rand.Rand) { clear(params) }

// leaf returns the parameter of the leaf that contains document x, starting at a root.
func (t *Trees) leaf(at int32, x []float32) int32 {
	for at >= 0 {
		n := &t.nodes[at]
		v := x[n.feature]
		side := 1
		if n.set == 0 && (v <= n.threshold || v != v && n.missingLeft) || n.set > 0 && contains(t.sets[n.set-1], v) {
			side = 0
		}
		at = n.children[side]
	}
	return -1 - at
}

// Leaf returns the index of the parameter for the leaf that contains a document. tree counts from 0,
// and x contains the document's features.
func (t *Trees) Leaf(tree int, x []float32) int {
	mustMatch("features", len(x), t.features)
	return int(t.leaf(t.roots[tree], x))
}

// Score implements [Scorer]. It stores nothing in ws for Backward.
func (t *Trees) Score(dst, params []float64, x []float32, ws *Workspace) {
	mustMatch("features", len(x), len(dst)*t.features)
	mustMatch("parameters", len(params), t.leaves)
	clear(dst)
	if len(dst) < kernel.ForestLeast() || len(t.nodes) == 0 || t.walked.Load()+int64(len(dst)) < payingDocs {
		t.walked.Add(int64(len(dst)))
		t.walk(dst, params, x, t.roots)
		return
	}
	t.scoreBlocks(dst, params, x, ws)
}

// Prepare implements [Preparer]. It builds the layout for blocks of documents.
func (t *Trees) Prepare() {
	if len(t.nodes) > 0 && kernel.ForestLeast() <= blockDocs {
		t.walked.Store(payingDocs)
		t.makeOnce.Do(func() { t.blocks = newBlocks(t) })
	}
}

// scoreBlocks adds the scores of the documents in x to dst, one block of documents at a time.
func (t *Trees) scoreBlocks(dst, params []float64, x []float32, ws *Workspace) {
	if ws == nil {
		ws = new(Workspace)
	}
	t.makeOnce.Do(func() { t.blocks = newBlocks(t) })
	b := t.blocks
	for len(dst) > 0 {
		n := min(len(dst), blockDocs)
		b.score(t, dst[:n], params, x[:n*t.features], ws)
		dst, x = dst[n:], x[n*t.features:]
	}
}

// walk adds the values of the trees with the given roots to dst, by walking from node to node for each
// document.
func (t *Trees) walk(dst, params []float64, x []float32, roots []int32) {
	for _, root := range roots {
		for i := range dst {
			dst[i] += params[t.leaf(root, x[i*t.features:(i+1)*t.features])]
		}
	}
}

// Backward implements [Scorer]. The derivative with respect to a leaf's value is the sum of lambda over
// the documents in the leaf. It does not depend on the parameters.
func (t *Trees) Backward(grad, _ []float64, x []float32, lambda []float64, _ *Workspace) {
	mustMatch("features", len(x), len(lambda)*t.features)
	mustMatch("derivatives", len(grad), t.leaves)
	for _, root := range t.roots {
		for i, l := range lambda {
			grad[t.leaf(root, x[i*t.features:(i+1)*t.features])] += l
		}
	}
}

// treesFile is the form of trees in a model file.
type treesFile struct {
	Type     string     `json:"type"`
	Features int        `json:"features"`
	Trees    []treeFile `json:"trees"`
}

// treeFile is the form of one tree in a model file. Feature, Threshold, Left and Right have an element
// for each node. Features are counted from 1, as in LETOR text, and a child −1 − l is leaf l.
// MissingLeft lists the nodes, from 0, where missing values go left. Values are the values of the
// leaves. A node with categories has the threshold null and an entry in Categories.
type treeFile struct {
	Feature     []int            `json:"feature"`
	Threshold   []*float32       `json:"threshold"`
	Left        []int            `json:"left"`
	Right       []int            `json:"right"`
	MissingLeft []int            `json:"missing_left"`
	Categories  []categoriesFile `json:"categories,omitempty"`
	Values      []float64        `json:"values"`
}

// categoriesFile lists the categories with which documents go left in a node, in ascending order.
type categoriesFile struct {
	Node int       `json:"node"`
	Left []float32 `json:"left"`
}

// treeRead is the form in which a tree is read. A null threshold or category is read as NaN. Any other
// null in a list is an error.
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

// files returns the trees with their leaf values, in the form for a model file.
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

// readTrees returns the trees of a list and their leaf values. A nil list is an error.
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

// readCategories copies the lists of categories to their nodes.
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
