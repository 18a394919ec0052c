// Package tree grows regression trees on histograms of gradients: what a boosted learner
// adds, a tree a round, to a sum.
//
// Start reading at [Grower], which grows a tree from the λ of a loss and its second
// derivatives by score, on a [Matrix] of one byte a cell that [NewMatrix] makes by [Bins].
// Gradients and second derivatives are integers while histograms are summed: sums of
// integers do not depend on their order, so that a tree has the same bits on any number of
// cores, and a histogram is its parent's less its sibling's, exactly.
//
// The package must not know of queries, grades and losses, nor how trees are stored: a
// [Tree] becomes part of a scorer.
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

// Node is an inner node: a document goes left if its feature's value is at most the
// threshold, and right if it is larger; if it is missing (NaN), where MissingLeft says. Where
// there are categories, it goes left if the value is one of them, and right if it is anything
// else or missing. Children are numbers of nodes, or −1 − l for leaf l.
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

// Options say how a tree grows. The zero value of each but Leaves is no limit.
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

	// RandomThresholds: of the thresholds of a feature that divide a leaf (a level, in symmetric
	// growth) only one, drawn at random, is looked at (Geurts, Ernst and Wehenkel, Extremely
	// randomized trees, Machine Learning 63, 2006); see [Grower.Seed].
	RandomThresholds bool

	// CategorySmoothing is added to the curvature of categories by whose gradients over curvature
	// they are ordered; those of few documents then lie in the middle.
	CategorySmoothing float64

	// Monotone has a sign a feature, or is nil: leaves' values do not fall (1) or rise (−1) as the
	// feature's value grows and all others stay, or may do either (0). Where the feature is missing
	// they are free.
	Monotone []int8

	// Interactions are groups of features, from 0: features divide documents on one path only if
	// some group has them all. A feature of no group is alone on its paths. No groups are no
	// constraint.
	Interactions [][]int
}

// FeatureBytes returns the bytes that growing takes of each feature, whatever the number of documents: its bins, and
// histograms of the leaves that may be divided.
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

// child returns where a document goes that has a value of the node's feature.
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
