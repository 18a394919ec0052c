// Package tree grows regression trees on histograms of gradients. A boosted learner adds one tree a round.
//
// Start reading at [Grower], which grows a tree from the λ of a loss and its second derivatives by score.
// It reads a [Matrix] of one byte a cell, which [NewMatrix] makes with [Bins]. Gradients and second
// derivatives are integers while histograms are summed. So a tree has the same bits on any number of
// cores, and a histogram is exactly its parent's less its sibling's.
//
// The package must not know of queries, grades and losses, nor how trees are stored: a [Tree] becomes part
// of a scorer.
package tree

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Tree divides documents into leaves. Node 0 is the root; a tree of one leaf has no nodes.
type Tree struct {
	Nodes  []Node
	Leaves int
}

// Node is an inner node. A document goes left if its feature's value is at most the threshold, else right.
// If the value is missing (NaN), MissingLeft decides. With categories, a document goes left if the value
// is one of them, else right. Children are numbers of nodes, or −1 − l for leaf l.
type Node struct {
	Feature     int
	Threshold   float32   // 0 with categories
	MissingLeft bool      // false with categories
	Categories  []float32 // ascending; nil for a threshold
	Left, Right int

	slot int      // of the matrix
	cut  uint8    // codes up to this one go left
	set  *codeSet // or, unless it is nil, those in it
}

// Growth is the order in which leaves are divided.
type Growth int

// The orders of growth.
const (
	LeafWise  Growth = iota // always the leaf whose division gains most (Shi 2007, Best-first Decision Tree Learning)
	DepthWise               // level by level, in a level the leaf whose division gains most first
	Symmetric               // all leaves of a level by one split, the one that gains most in sum (Kohavi and Li 1995, Oblivious Decision Trees)
)

// Options say how a tree grows. The zero value of each field except Leaves sets no limit.
type Options struct {
	Growth        Growth
	Leaves        int     // at most, 2 at least
	Depth         int     // of a leaf below the root, at most; 0 for any
	LeafDocuments int     // a leaf has at least that many documents
	LeafCurvature float64 // and that sum of second derivatives
	L2            float64 // added to a leaf's second derivatives
	L1            float64 // that a leaf's gradient is pulled to 0 by
	LeastGain     float64 // that a split reduces the objective's quadratic approximation by, at least
	Workers       int     // goroutines; 0 means GOMAXPROCS

	// RandomThresholds considers one random threshold of a feature, among all that divide a leaf, or a
	// level in symmetric growth. Source: Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine
	// Learning 63, 2006. See [Grower.Seed].
	RandomThresholds bool

	// CategorySmoothing is added to the curvature of categories when they are ordered by gradient over
	// curvature. Categories with few documents then lie in the middle.
	CategorySmoothing float64

	// Monotone has a sign for each feature, or is nil. As the feature's value grows and all others are
	// fixed, the tree's value does not fall (1), does not rise (−1), or is free (0). It is free where the
	// feature is missing.
	Monotone []int8

	// Interactions are groups of features, numbered from 0. Features divide documents on one path only if
	// some group has them all. A feature of no group is alone on its paths. No groups are no constraint.
	Interactions [][]int
}

// FeatureBytes returns the bytes that growing takes for each feature, independent of the number of
// documents: its bins, and histograms of the leaves that may be divided.
func (o *Options) FeatureBytes() int64 {
	leaves := int64(o.Leaves)
	if o.Growth == LeafWise { // no more than can still be divided
		leaves = min(leaves, leaves/2+2)
	}
	return 4*MaxBins + leaves*int64(unsafe.Sizeof(histogram{}))/blockFeatures
}

// validate returns an error for options out of range.
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

// attach adds a node as a child of the node above, unless that is negative, and returns its number.
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

// Leaf returns the leaf that a document falls into, given its features.
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

// child returns the child for a value of the node's feature.
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

// leafOf is Leaf of a row of the matrix that the tree was grown on.
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

// left reports whether a document of that code goes left.
func (n *Node) left(code uint8) bool {
	if n.set != nil {
		return n.set.has(code)
	}
	return code <= n.cut || code == missingCode && n.MissingLeft
}
