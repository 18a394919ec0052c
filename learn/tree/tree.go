// Package tree grows regression trees on histograms of gradients. Gradient boosting adds one tree per round.
//
// Start reading at [Grower], which grows a tree from the λ of a loss and its second derivatives by score. It reads a
// [Matrix], which stores the features as codes of one byte. [NewMatrix] makes a Matrix from features and [Bins].
// Gradients and second derivatives are rounded to integers before histograms are summed. So a tree has the same bits
// on any number of cores, and the histogram of a node is exactly the difference of its parent's and its sibling's.
//
// The code of a value is the number of its bin, one byte. Cut c is the threshold between the codes c and c+1. A slot is
// the number of a feature among the features with more than one bin, which are the features that a Matrix stores.
// Curvature is a sum of second derivatives.
//
// The package must not depend on queries, grades and losses, or on how trees are stored. Package train converts a
// [Tree] into a part of a scorer.
package tree

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/listwise/listwise/internal/parallel"
)

// Tree maps documents to leaves. Node 0 is the root. A tree with a single leaf has no nodes.
type Tree struct {
	Nodes  []Node
	Leaves int
}

// Node is an inner node. A document goes left if its value of the feature is at most the threshold, and otherwise
// right. A missing value (NaN) goes left if MissingLeft is true. If Categories is not nil, a document goes left if its
// value is in Categories, and otherwise right. Left and Right are indices of nodes, or −1 − l for leaf l.
type Node struct {
	Feature     int
	Threshold   float32   // 0 with Categories
	MissingLeft bool      // false with Categories
	Categories  []float32 // in ascending order; nil for a threshold
	Left, Right int

	slot int      // slot of the feature in the matrix
	cut  uint8    // codes up to this one go left, if set is nil
	set  *codeSet // codes that go left, or nil
}

// Growth is the order in which leaves are split.
type Growth int

// The orders of growth.
const (
	LeafWise  Growth = iota // the leaf with the largest gain first (Shi 2007, Best-first Decision Tree Learning)
	DepthWise               // level by level; within a level the leaf with the largest gain first
	Symmetric               // all leaves of a level by the same split, which has the largest total gain (Kohavi and Li 1995, Oblivious Decision Trees)
)

// Options are the options of growing. The zero value of each field except Leaves sets no limit.
type Options struct {
	Growth        Growth
	Leaves        int     // largest number of leaves, at least 2
	Depth         int     // largest depth of a leaf, where the root has depth 0; 0 means no limit
	LeafDocuments int     // smallest number of documents in a leaf
	LeafCurvature float64 // smallest sum of second derivatives in a leaf
	L2            float64 // L2 regularisation, added to the sum of second derivatives of a leaf
	L1            float64 // L1 regularisation, which shrinks the gradient of a leaf towards 0
	LeastGain     float64 // smallest gain of a split, as defined in [Grower.Grow]
	Workers       int     // number of goroutines; 0 means GOMAXPROCS

	// RandomThresholds restricts the search to one random threshold for each feature and leaf, or for each feature and
	// level in symmetric growth. The threshold is drawn among the thresholds that split the leaf or level (Geurts,
	// Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006). [Grower.Seed] sets the random seed.
	RandomThresholds bool

	// CategorySmoothing is added to the curvature of each category when categories are sorted by gradient divided by
	// curvature. It moves categories with few documents to the middle of the order.
	CategorySmoothing float64

	// Monotone has a sign for each feature, or is nil. If the sign is 1, the value of the tree does not decrease when
	// the feature increases and all other features are fixed. If the sign is −1, the value of the tree does not
	// increase. The sign 0 sets no constraint. Missing values have no constraint.
	Monotone []int8

	// Interactions are groups of features, numbered from 0. All features on a path from the root to a leaf must be in a
	// common group. A feature that is in no group can only occur on a path without other features. Without groups there
	// is no constraint.
	Interactions [][]int
}

// FeatureBytes returns the number of bytes that a grower needs for each feature in addition to the features' values:
// bins, histograms of leaves that may be split, and histograms of workers. It does not depend on the number of
// documents.
func (o *Options) FeatureBytes() int64 {
	leaves := int64(o.Leaves)
	if o.Growth == LeafWise { // histograms of leaves that will not be split are released
		leaves = min(leaves, leaves/2+2)
	}
	leaves += int64(parallel.Workers(o.Workers, math.MaxInt)) - 1
	return 4*MaxBins + leaves*int64(unsafe.Sizeof(histogram{}))/blockFeatures
}

// validate returns an error if an option is out of range.
func (o *Options) validate() error {
	switch {
	case o.Growth < LeafWise || o.Growth > Symmetric:
		return fmt.Errorf("found growth %d, expected %d to %d", o.Growth, LeafWise, Symmetric)
	case o.Leaves < 2:
		return fmt.Errorf("found %d leaves, expected at least 2", o.Leaves)
	case o.Depth < 0:
		return fmt.Errorf("found depth %d, expected a positive number, or 0 for any", o.Depth)
	case o.LeafDocuments < 0:
		return fmt.Errorf("found %d documents a leaf, expected none or more", o.LeafDocuments)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"leaf curvature", o.LeafCurvature}, {"L2", o.L2}, {"L1", o.L1}, {"least gain", o.LeastGain}, {"category smoothing", o.CategorySmoothing}} {
		if !(v.value >= 0) || math.IsInf(v.value, 1) {
			return fmt.Errorf("found %s %v, expected a finite number that is not negative", v.name, v.value)
		}
	}
	return nil
}

// attach adds a node and returns its index. The node becomes the left or right child of the node with index above. If
// above is negative, the node is the root.
func (t *Tree) attach(n Node, above int, left bool) int {
	number := len(t.Nodes)
	t.Nodes = append(t.Nodes, n)
	switch {
	case above < 0:
	case left:
		t.Nodes[above].Left = number
	default:
		t.Nodes[above].Right = number
	}
	return number
}

// Leaf returns the leaf of a document with the features x.
func (t *Tree) Leaf(x []float32) int {
	at := -1
	if len(t.Nodes) > 0 {
		at = 0
	}
	for at >= 0 {
		n := &t.Nodes[at]
		at = n.child(x[n.Feature])
	}
	return -1 - at
}

// child returns the child of a document whose value of the node's feature is v.
func (n *Node) child(v float32) int {
	left := v <= n.Threshold || v != v && n.MissingLeft
	if n.Categories != nil {
		_, left = slices.BinarySearch(n.Categories, v)
	}
	if left {
		return n.Left
	}
	return n.Right
}

// leafOf returns the leaf of a row of m, the matrix on which the tree was grown.
func (t *Tree) leafOf(m *Matrix, row uint32) int {
	at := -1
	if len(t.Nodes) > 0 {
		at = 0
	}
	for at >= 0 {
		n := &t.Nodes[at]
		if n.left(m.codeAt(n.slot, row)) {
			at = n.Left
		} else {
			at = n.Right
		}
	}
	return -1 - at
}

// left reports whether a document with the code goes left.
func (n *Node) left(code uint8) bool {
	if n.set != nil {
		return n.set.has(code)
	}
	return code <= n.cut || code == missingCode && n.MissingLeft
}
