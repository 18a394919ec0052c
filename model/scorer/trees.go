package scorer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/internal/kernel"
)

// TreeNode divides the documents of a tree: one goes left if its feature's value is at most
// the threshold, right if it is larger, and where MissingLeft says if it is missing (NaN).
// A node with Categories divides by these instead: a document goes left if its feature's value
// is one of them, and right if it is anything else or missing. Left and Right are numbers of
// nodes of the tree, or −1 − l for its leaf l.
type TreeNode struct {
	Feature     int       // from 0
	Threshold   float32   // finite; 0 with categories
	MissingLeft bool      // false with categories
	Categories  []float32 // finite, ascending and different; nil for a threshold
	Left, Right int
}

// GoesLeft reports whether documents with this value of the node's feature, NaN if it is
// missing, go left.
func (n *TreeNode) GoesLeft(value float32) bool {
	if n.Categories != nil {
		return contains(n.Categories, value)
	}
	return value <= n.Threshold || value != value && n.MissingLeft
}

// Trees are regression trees h_t and score by their sum,
//
//	s(x) = Σ_t v_{t, h_t(x)}
//
// where h_t(x) is the leaf of tree t that x falls into. The parameters are the leaves' values
// v, tree by tree; which documents fall into which leaf is the architecture. The trees are
// added from the first on: a score has the same bits whichever other documents are scored
// with it.
type Trees struct {
	features int
	trees    [][]TreeNode
	nodes    []flatNode  // of all trees
	sets     [][]float32 // of categories
	roots    []int32     // a tree each: a node, or −1 − p for parameter p where it has none
	leaves   int

	walked   atomic.Int64 // documents
	makeOnce sync.Once
	blocks   *blocks
}

// flatNode is a node among those of all trees; children are as in roots.
type flatNode struct {
	threshold   float32
	feature     int32
	children    [2]int32 // left, right
	missingLeft bool
	set         int32 // of categories, from 1; 0 for a threshold
}

var (
	_ MissingTaker = (*Trees)(nil)
	_ Preparer     = (*Trees)(nil)
)

// NewTrees returns the scorer of these trees, which may be none, on data with the given number
// of features. Node 0 is a tree's root, and a tree without nodes is one leaf. A tree of n
// nodes has the leaves 0 to n; every node but the root and every leaf is the child of one
// node, a node of one before it. Anything else is an error, as are unknown features and
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

// newTrees is NewTrees, which keeps the trees.
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

// cloneNodes returns a copy that shares nothing.
func cloneNodes(nodes []TreeNode) []TreeNode {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		nodes[i].Categories = slices.Clone(nodes[i].Categories)
	}
	return nodes
}

// checkTree returns an error if nodes are no tree on so many features.
func checkTree(features int, nodes []TreeNode) error {
	seen := make([]bool, 2*len(nodes)+1) // nodes, then leaves
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

// TakesMissing implements [MissingTaker]: every node says where missing values go.
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

// leaf returns the parameter of the leaf that a document falls into, from a root on.
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

// Leaf returns the parameter of the leaf that a document falls into in one of the trees, from
// 0. x are its features.
func (t *Trees) Leaf(tree int, x []float32) int {
	mustMatch("features", len(x), t.features)
	return int(t.leaf(t.roots[tree], x))
}

// Score implements [Scorer]. It leaves nothing in ws that Backward needs.
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

// Prepare implements [Preparer]: it makes the layout for blocks of documents.
func (t *Trees) Prepare() {
	if len(t.nodes) > 0 && kernel.ForestLeast() <= blockDocs {
		t.walked.Store(payingDocs)
		t.makeOnce.Do(func() { t.blocks = newBlocks(t) })
	}
}

// scoreBlocks adds the scores to dst, in blocks.
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

// walk adds the values of the trees with these roots, document by document.
func (t *Trees) walk(dst, params []float64, x []float32, roots []int32) {
	for _, root := range roots {
		for i := range dst {
			dst[i] += params[t.leaf(root, x[i*t.features:(i+1)*t.features])]
		}
	}
}

// Backward implements [Scorer]: the derivative by a leaf's value is the sum of lambda over its
// documents, for any parameters.
func (t *Trees) Backward(grad, _ []float64, x []float32, lambda []float64, _ *Workspace) {
	mustMatch("features", len(x), len(lambda)*t.features)
	mustMatch("derivatives", len(grad), t.leaves)
	for _, root := range t.roots {
		for i, l := range lambda {
			grad[t.leaf(root, x[i*t.features:(i+1)*t.features])] += l
		}
	}
}
