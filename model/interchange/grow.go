package interchange

import (
	"errors"
	"fmt"
	"math"

	"github.com/listwise/listwise/model/scorer"
)

// grow returns the tree of nodes in any order, whose root is node 0. Beyond what
// scorer.NewTrees takes, thresholds may be infinite, categories empty, or missing values go
// left from a node with categories; nodes that cannot be reached are left out. A node that is
// reached twice, or unknown, is an error.
func grow(nodes []scorer.TreeNode, values []float64) (tree, error) {
	return growWith(nodes, values, nil)
}

// growWith is grow for nodes of which those in zeros send what is within lgbmZero of 0, and what is
// missing, where they say, whatever the threshold: left if true.
func growWith(nodes []scorer.TreeNode, values []float64, zeros map[int]bool) (tree, error) {
	if len(nodes) == 0 {
		if len(values) == 0 {
			return tree{}, errors.New("found a tree without leaves, expected at least one")
		}
		return tree{values: values[:1:1]}, nil
	}
	if err := checkReached(nodes, len(values)); err != nil {
		return tree{}, err
	}
	if len(zeros) == 0 && usual(nodes, len(values)) {
		return tree{nodes, values}, nil
	}
	g := grower{nodes: nodes, values: values, zeros: zeros}
	g.pending = append(g.pending, place{node: 0, parent: -1})
	for len(g.pending) > 0 {
		last := len(g.pending) - 1
		p := g.pending[last]
		g.pending = g.pending[:last]
		if err := g.put(p); err != nil {
			return tree{}, err
		}
	}
	return g.tree, nil
}

// checkReached returns an error unless nodes that can be reached are those of a tree.
func checkReached(nodes []scorer.TreeNode, leaves int) error {
	seen, pending := make([]bool, len(nodes)), []int{0}
	seen[0] = true
	for len(pending) > 0 {
		i := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, c := range [2]int{nodes[i].Left, nodes[i].Right} {
			switch {
			case c >= len(nodes) || c < -leaves:
				return fmt.Errorf("found the child %d of node %d, expected one of %d nodes or %d leaves", c, i, len(nodes), leaves)
			case c < 0:
				continue
			case seen[c]:
				return fmt.Errorf("found node %d a second time, as a child of node %d, expected a tree", c, i)
			}
			seen[c] = true
			pending = append(pending, c)
		}
	}
	return nil
}

// usual reports whether the nodes of a tree are as scorer.NewTrees takes them.
func usual(nodes []scorer.TreeNode, leaves int) bool {
	if leaves != len(nodes)+1 {
		return false
	}
	seen := make([]bool, len(nodes)+leaves) // nodes, then leaves
	for i := range nodes {
		n := &nodes[i]
		if t := float64(n.Threshold); math.IsNaN(t) || math.IsInf(t, 0) || n.Categories != nil && (len(n.Categories) == 0 || n.MissingLeft) {
			return false
		}
		for _, c := range [2]int{n.Left, n.Right} {
			at := c
			if c < 0 {
				at = len(nodes) - 1 - c
			}
			if c >= 0 && c <= i || c >= len(nodes) || at >= len(seen) || seen[at] {
				return false
			}
			seen[at] = true
		}
	}
	return true
}

// mostCopies is how many nodes more than a tree was read with it may become.
const mostCopies = 1 << 20

// grower makes a tree.
type grower struct {
	nodes   []scorer.TreeNode
	values  []float64
	zeros   map[int]bool
	tree    tree
	pending []place
}

// place is where a node, or the leaf −1−node, belongs: as a child of a node that is there.
type place struct {
	node, parent int
	right        bool
	known        bool // that the node's feature is not missing
	path         *sign
}

// sign is what the way to a place tells of a feature: below 0, 0 or missing, or above 0.
type sign struct {
	feature, sign int
	before        *sign
}

// of returns the sign of a feature, if the way tells.
func (s *sign) of(feature int) (sign int, ok bool) {
	for ; s != nil; s = s.before {
		if s.feature == feature {
			return s.sign, true
		}
	}
	return 0, false
}

// put adds a node or a leaf to the tree.
func (g *grower) put(p place) error {
	p, unknown := g.decided(p)
	own := len(g.tree.nodes)
	if p.node < 0 {
		own = -1 - len(g.tree.values)
		g.tree.values = append(g.tree.values, g.values[-1-p.node])
	}
	if p.parent >= 0 {
		if parent := &g.tree.nodes[p.parent]; p.right {
			parent.Right = own
		} else {
			parent.Left = own
		}
	}
	if p.node < 0 {
		return nil
	}
	if own >= len(g.nodes)+mostCopies {
		return fmt.Errorf("found a tree that takes more than %d nodes where zeros or missing values go ways of their own, expected fewer", own)
	}
	n := g.nodes[p.node]
	switch {
	case unknown:
		g.divideBySign(p, own)
		return nil
	case n.Categories != nil && len(n.Categories) == 0:
		n.Categories, n.Threshold = nil, float32(math.Inf(-1))
	case n.Categories != nil && n.MissingLeft && !p.known:
		// Values go on to the node, missing ones to a copy of its left side.
		g.tree.nodes = append(g.tree.nodes, scorer.TreeNode{Feature: n.Feature, Threshold: math.MaxFloat32})
		g.pending = append(g.pending, place{n.Left, own, true, false, p.path}, place{p.node, own, false, true, p.path})
		return nil
	}
	if n.Categories != nil {
		n.MissingLeft = false
	}
	switch t := float64(n.Threshold); {
	case math.IsNaN(t):
		return fmt.Errorf("found the threshold %v in node %d, expected a number", t, p.node)
	case math.IsInf(t, -1): // no value is at most this
		n.Threshold, n.Left, n.Right, n.MissingLeft = math.MaxFloat32, n.Right, n.Left, !n.MissingLeft
	case math.IsInf(t, 1):
		n.Threshold = math.MaxFloat32
	}
	g.tree.nodes = append(g.tree.nodes, n)
	g.pending = append(g.pending, place{n.Right, own, true, false, p.path}, place{n.Left, own, false, false, p.path})
	return nil
}

// decided goes down from nodes that send zeros a way of their own where the way to them tells
// where a document goes. unknown reports that such a node is left whose feature's sign is not
// known.
func (g *grower) decided(p place) (at place, unknown bool) {
	for p.node >= 0 {
		zeroLeft, ok := g.zeros[p.node]
		if !ok {
			return p, false
		}
		n := &g.nodes[p.node]
		sign, known := p.path.of(n.Feature)
		switch {
		case !known:
			return p, true
		case sign == 0 && zeroLeft || sign < 0 && n.Threshold >= 0:
			p.node = n.Left
		case sign == 0 || sign > 0 && n.Threshold < 0:
			p.node = n.Right
		default:
			return p, false
		}
	}
	return p, false
}

// divideBySign puts two nodes in the place of one that sends zeros a way of their own: below zero
// or not, above zero or not.
func (g *grower) divideBySign(p place, own int) {
	n := &g.nodes[p.node]
	g.tree.nodes = append(g.tree.nodes,
		scorer.TreeNode{Feature: n.Feature, Threshold: before(-lgbmZero), Right: own + 1},
		scorer.TreeNode{Feature: n.Feature, Threshold: lgbmZero, MissingLeft: true})
	g.pending = append(g.pending,
		place{p.node, own + 1, true, false, &sign{n.Feature, 1, p.path}},
		place{p.node, own + 1, false, false, &sign{n.Feature, 0, p.path}},
		place{p.node, own, false, false, &sign{n.Feature, -1, p.path}})
}
