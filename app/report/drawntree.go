package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/listwise/listwise/model/scorer"
)

// drawnTree is a tree as the page draws it, from the root down to drawnDepth.
type drawnTree struct {
	Feature int        `json:"f,omitempty"` // from 1; 0 if there is no question
	Test    string     `json:"t,omitempty"` // what a document with yes has of it
	Docs    int        `json:"n"`           // that come here
	Value   float64    `json:"v,omitempty"` // of a leaf
	Cut     int        `json:"c,omitempty"` // leaves below that are not drawn; Value is then their documents' mean
	Yes     *drawnTree `json:"y,omitempty"`
	No      *drawnTree `json:"x,omitempty"`
}

const (
	drawnDepth      = 4
	drawnCategories = 5
)

// newDrawnTree makes the drawing of a tree with the places of its features, the number of documents at each leaf and the
// leaves' values.
func newDrawnTree(nodes []scorer.TreeNode, places, docs []int, values []float64) drawnTree {
	b := treeDrawer{nodes, places, docs, values}
	if len(nodes) == 0 {
		return b.from(-1, 0)
	}
	return b.from(0, 0)
}

type treeDrawer struct {
	nodes  []scorer.TreeNode
	places []int // of features; nil: their numbers
	docs   []int
	values []float64
}

func (b *treeDrawer) from(at, depth int) drawnTree {
	if at < 0 {
		return drawnTree{Docs: b.docs[-1-at], Value: rounded(b.values[-1-at], 3)}
	}
	if depth == drawnDepth {
		leaves, docs, sum := b.below(at)
		if docs > 0 {
			sum /= float64(docs)
		}
		return drawnTree{Docs: docs, Value: rounded(sum, 3), Cut: leaves}
	}
	n := &b.nodes[at]
	yes, no := b.from(n.Left, depth+1), b.from(n.Right, depth+1)
	return drawnTree{Feature: placeOf(b.places, n.Feature) + 1, Test: testOf(n), Docs: yes.Docs + no.Docs, Yes: &yes, No: &no}
}

// below returns the number of leaves below a node, of their documents, and the sum of the
// documents' values.
func (b *treeDrawer) below(at int) (leaves, docs int, sum float64) {
	for open := []int{at}; len(open) > 0; {
		at, open = open[len(open)-1], open[:len(open)-1]
		if at >= 0 {
			open = append(open, b.nodes[at].Left, b.nodes[at].Right)
			continue
		}
		leaves++
		docs += b.docs[-1-at]
		sum += float64(float64(b.docs[-1-at]) * b.values[-1-at])
	}
	return leaves, docs, sum
}

// testOf says which values of its feature go left.
func testOf(n *scorer.TreeNode) string {
	number := func(v float32) string {
		return strings.Replace(strconv.FormatFloat(float64(v), 'g', 6, 32), "-", "−", 1)
	}
	if n.Categories == nil {
		text := "≤ " + number(n.Threshold)
		if n.MissingLeft {
			text += " or missing"
		}
		return text
	}
	var list []string
	for _, v := range n.Categories[:min(len(n.Categories), drawnCategories)] {
		list = append(list, number(v))
	}
	text := "one of " + strings.Join(list, ", ")
	if more := len(n.Categories) - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// treesText are the first trees of a system as text.
type treesText struct{ Name, Text string }

// textOf draws trees with a line a node.
func textOf(list []drawnTree, names []string) string {
	var b strings.Builder
	for i := range list {
		fmt.Fprintf(&b, "tree %d\n", i+1)
		list[i].write(&b, names, "", "")
	}
	return b.String()
}

// write writes a node and those below it; the branch of the node stands before it, the
// branches that go on before those below.
func (t *drawnTree) write(b *strings.Builder, names []string, branch, below string) {
	docs := Thousands(t.Docs) + " documents"
	switch {
	case t.Yes != nil:
		name := fmt.Sprintf("feature %d", t.Feature)
		if t.Feature <= len(names) && names[t.Feature-1] != "" {
			name = names[t.Feature-1]
		}
		fmt.Fprintf(b, "%s%s %s? (%s)\n", branch, name, t.Test, docs)
		t.Yes.write(b, names, below+"├─ yes: ", below+"│  ")
		t.No.write(b, names, below+"└─ no: ", below+"   ")
	case t.Cut > 0:
		fmt.Fprintf(b, "%s… %d leaves, mean %s (%s)\n", branch, t.Cut, signed(t.Value), docs)
	default:
		fmt.Fprintf(b, "%s%s (%s)\n", branch, signed(t.Value), docs)
	}
}

func signed(v float64) string { return strings.Replace(fmt.Sprintf("%+g", v), "-", "−", 1) }
