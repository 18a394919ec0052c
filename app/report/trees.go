package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// trees contains the data of a system whose models are trees.
type trees struct {
	System int   `json:"system"`
	Count  []int `json:"count"` // number of trees in each division
	Leaves int   `json:"leaves"`

	// Features contains feature numbers, from 1, by descending Gain. Gain is the share of the
	// variance of the trees' values that the feature's splits explain. Splits is the number of
	// splits by the feature in all divisions.
	Features []int     `json:"f"`
	Gain     []float64 `json:"g"`
	Splits   []int     `json:"n"`
	Others   int       `json:"others,omitempty"`

	// Value contains the mean of the first measure after each number of trees in At. Best is the
	// index of the largest value.
	At    []int     `json:"x"`
	Value []float64 `json:"y"`
	Best  int       `json:"best"`

	First []drawnTree `json:"first"` // first trees of the first division
}

const (
	stagedPoints = 200 // largest number of points in a staged curve
	firstTrees   = 3   // number of drawn trees
)

// lookAtTrees analyzes the systems whose models are trees in all divisions.
func (r *Report) lookAtTrees(in *input) error {
	r.data.Trees = []trees{} // not null
	for s := range in.names {
		var l treesLook
		for k := range in.divisions {
			if m := in.model(s, k); m != nil {
				d := in.divisions[k].Test
				if f, ok := m.Scorer.(*scorer.Trees); ok {
					columns, err := m.Columns(d)
					if err != nil {
						return err
					}
					l.forests = append(l.forests, forestOf{m, columns, in.features.places(m, d), f, f.Trees()})
				}
			}
		}
		if len(l.forests) < len(in.divisions) {
			continue
		}
		l.stage()
		for k, f := range l.forests {
			l.pass(in, f, in.divisions[k].Test)
		}
		t := l.summary(s)
		r.data.Trees = append(r.data.Trees, t)
		r.view.Trees = append(r.view.Trees, treesText{in.names[s], textOf(t.First, in.features.list())})
	}
	r.data.Features = in.features.list()
	return nil
}

type forestOf struct {
	model   *model.Model
	columns []int // columns of the data for the features; nil: the first ones
	places  []int // indices of the features on the page; nil: their numbers
	*scorer.Trees
	nodes [][]scorer.TreeNode
}

// treesLook collects the data in one pass over the documents of all divisions.
type treesLook struct {
	forests      []forestOf
	at           []int     // numbers of trees after which the measure is computed
	sums         []float64 // weighted sums of the measure at each, over the queries that count
	counted      float64   // sum of the weights of these queries
	gain, splits []float64 // by feature
	first        []drawnTree

	x      []float32
	scores []float64
	ranker measure.Ranker
}

// stage chooses the numbers of trees after which the measure is computed.
func (l *treesLook) stage() {
	most := 0
	for _, f := range l.forests {
		most = max(most, len(f.nodes))
		for len(l.gain) < max(f.NumFeatures(), 1+slices.Max(append([]int{0}, f.places...))) {
			l.gain, l.splits = append(l.gain, 0), append(l.splits, 0)
		}
	}
	step := max(1, (most+stagedPoints-1)/stagedPoints)
	for t := min(1, most); t <= most; t += step {
		l.at = append(l.at, t)
	}
	if last := l.at[len(l.at)-1]; last < most {
		l.at = append(l.at, most)
	}
	l.sums = make([]float64, len(l.at))
}

func (l *treesLook) pass(in *input, f forestOf, d *dataset.Dataset) {
	docs := make([]int, f.NumParams()) // number of documents at each leaf
	l.ranker.Ties = in.Ties
	for i := range d.Queries {
		q := &d.Queries[i]
		l.x = f.model.Inputs(l.x[:0], q, f.columns)
		l.scores = append(l.scores[:0], make([]float64, q.Len())...)
		ok := false
		for k, next := 0, 0; next < len(l.at); k++ {
			if k == l.at[next] {
				var v float64
				if v, ok = l.ranker.Value(in.Measures[0], q.Grades, l.scores); ok {
					l.sums[next] += float64(q.Weight() * v)
				}
				next++
			}
			if k < len(f.nodes) {
				for j := range l.scores {
					leaf := f.Leaf(k, l.x[j*f.NumFeatures():(j+1)*f.NumFeatures()])
					docs[leaf]++
					l.scores[j] += f.model.Params[leaf]
				}
			}
		}
		if ok {
			l.counted += q.Weight()
		}
	}
	l.weigh(f, docs)
}

// weigh adds the variance that the splits of a forest explain, by feature. docs is the number of
// documents at each leaf. A split explains the variance between its two sides,
//
//	n_l·n_r/(n_l + n_r) · (mean_l − mean_r)²
//
// for n_l and n_r documents with the mean values mean_l and mean_r. The sum over all splits is the
// variance of the tree's values.
func (l *treesLook) weigh(f forestOf, docs []int) {
	values := f.model.Params
	for _, nodes := range f.nodes {
		n, sum := make([]int, len(nodes)), make([]float64, len(nodes))
		of := func(child int) (int, float64) {
			if child >= 0 {
				return n[child], sum[child]
			}
			return docs[-1-child], float64(docs[-1-child]) * values[-1-child]
		}
		for i := len(nodes) - 1; i >= 0; i-- {
			ln, ls := of(nodes[i].Left)
			rn, rs := of(nodes[i].Right)
			n[i], sum[i] = ln+rn, ls+rs
			place := placeOf(f.places, nodes[i].Feature)
			l.splits[place]++
			if ln > 0 && rn > 0 {
				between := ls/float64(ln) - rs/float64(rn)
				l.gain[place] += float64(float64(ln) * float64(rn) / float64(ln+rn) * between * between)
			}
		}
		if len(l.first) < firstTrees && f.Trees == l.forests[0].Trees {
			l.first = append(l.first, newDrawnTree(nodes, f.places, docs[:len(nodes)+1], values[:len(nodes)+1]))
		}
		docs, values = docs[len(nodes)+1:], values[len(nodes)+1:]
	}
}

func (l *treesLook) summary(system int) trees {
	t := trees{System: system, At: l.at, First: l.first}
	for _, f := range l.forests {
		t.Count = append(t.Count, len(f.nodes))
		t.Leaves = max(t.Leaves, f.NumParams())
	}
	for i, sum := range l.sums {
		t.Value = append(t.Value, rounded(sum/float64(max(1, l.counted)), 5))
		if t.Value[i] > t.Value[t.Best] {
			t.Best = i
		}
	}
	total := 0.0
	var order []int
	for f, n := range l.splits {
		total += l.gain[f]
		if n > 0 {
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.gain[b], l.gain[a]), cmp.Compare(l.splits[b], l.splits[a]))
	})
	t.Others = max(0, len(order)-shownFeatures)
	for _, f := range order[:min(len(order), shownFeatures)] {
		t.Features, t.Splits = append(t.Features, f+1), append(t.Splits, int(l.splits[f]))
		t.Gain = append(t.Gain, rounded(l.gain[f]/math.Max(total, math.SmallestNonzeroFloat64), 3))
	}
	return t
}

// drawnTree is a tree as drawn on the page, from the root down to depth drawnDepth.
type drawnTree struct {
	Feature int        `json:"f,omitempty"` // feature number, from 1; 0 for a leaf
	Test    string     `json:"t,omitempty"` // condition for yes
	Docs    int        `json:"n"`           // number of documents that reach the node
	Value   float64    `json:"v,omitempty"` // value of a leaf
	Cut     int        `json:"c,omitempty"` // number of leaves below that are not drawn; Value is then the mean over their documents
	Yes     *drawnTree `json:"y,omitempty"`
	No      *drawnTree `json:"x,omitempty"`
}

const (
	drawnDepth      = 4
	drawnCategories = 5
)

// newDrawnTree returns the drawing of a tree. places are the indices of features on the page. docs
// and values are the numbers of documents and the values at the leaves.
func newDrawnTree(nodes []scorer.TreeNode, places, docs []int, values []float64) drawnTree {
	b := treeDrawer{nodes, places, docs, values}
	if len(nodes) == 0 {
		return b.from(-1, 0)
	}
	return b.from(0, 0)
}

type treeDrawer struct {
	nodes  []scorer.TreeNode
	places []int // indices of features on the page; nil: their numbers
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

// below returns the numbers of leaves and documents below a node, and the sum of the documents'
// values.
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

type treesText struct{ Name, Text string }

// textOf draws trees as text, with a line for each node.
func textOf(list []drawnTree, names []string) string {
	var b strings.Builder
	for i := range list {
		fmt.Fprintf(&b, "tree %d\n", i+1)
		list[i].write(&b, names, "", "")
	}
	return b.String()
}

// write writes a node and its children. The line of the node begins with branch. The lines of its
// children begin with below.
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
