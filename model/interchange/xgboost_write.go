package interchange

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// xgbForest is a sum of trees as XGBoost stores it. Values of leaves and conditions are float32. A
// feature value below the condition goes left, and so does a category outside the set of a node.
// The leaves of the first tree include the constant, since some programs that read XGBoost's files
// ignore base_score.
type xgbForest struct {
	features   int
	names      []string
	trees      [][]xgbNode
	categories []bool // for each feature, whether a node has categories
	typed      bool   // whether to write the types of the features even if no feature has categories
}

// xgbNode is a node. The right child follows the left child in the list.
type xgbNode struct {
	parent, left int // left is 0 for a leaf
	feature      int
	value        float32 // value of a leaf, or condition
	set          []float32
	missingLeft  bool
}

// xgbForestOf converts a model to XGBoost's trees.
func xgbForestOf(m *model.Model, o WriteOptions) (_ *xgbForest, _ []string, err error) {
	defer catch(&err)
	e := must(treesOf(m))
	if o.Scores == ShiftedScores {
		e.shiftLeaves()
	}
	e.spreadConstant()
	f := &xgbForest{features: e.features, names: e.names, categories: make([]bool, e.features)}
	var notes []string
	for k, t := range e.trees {
		nodes, err := f.tree(t)
		if err != nil {
			return nil, nil, fmt.Errorf("tree %d: %w", k+1, err)
		}
		f.trees = append(f.trees, nodes)
	}
	if slices.Contains(f.categories, true) {
		notes = append(notes, "XGBoost cuts a category's decimals off, where this module takes 2.5 as no category")
	}
	return f, notes, nil
}

// tree returns the nodes of a tree, level by level.
func (f *xgbForest) tree(t tree) (_ []xgbNode, err error) {
	defer catch(&err)
	type place struct{ child, parent int }
	queue, nodes := []place{{t.root(), math.MaxInt32}}, make([]xgbNode, 0, 2*len(t.nodes)+1)
	for at := 0; at < len(queue); at++ {
		p := queue[at]
		if p.child < 0 {
			v := float32(t.values[-1-p.child])
			if math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("found the value %v of a leaf, expected one within the range of float32", t.values[-1-p.child])
			}
			nodes = append(nodes, xgbNode{parent: p.parent, value: v})
			continue
		}
		n := &t.nodes[p.child]
		out, swapped := must2(f.divide(n))
		out.parent, out.left = p.parent, len(queue)
		children := [2]int{n.Left, n.Right}
		if swapped {
			children = [2]int{n.Right, n.Left}
		}
		nodes = append(nodes, out)
		queue = append(queue, place{children[0], at}, place{children[1], at})
	}
	return nodes, nil
}

// divide returns the test of a node. swapped reports whether the children change sides.
func (f *xgbForest) divide(n *scorer.TreeNode) (out xgbNode, swapped bool, err error) {
	out = xgbNode{feature: n.Feature, missingLeft: n.MissingLeft}
	switch {
	case n.Categories != nil:
		for _, c := range n.Categories {
			if c < 0 || c > maxCategory || c != float32(math.Trunc(float64(c))) {
				return out, false, fmt.Errorf("found the category %v of feature %d, expected whole numbers from 0 to %d", c, n.Feature+1, maxCategory)
			}
		}
		f.categories[n.Feature] = true
		out.set, out.missingLeft = n.Categories, !n.MissingLeft
		return out, true, nil
	case n.Threshold == math.MaxFloat32: // all numbers go left; after the swap, no number is below the condition
		out.value, out.missingLeft = -math.MaxFloat32, !n.MissingLeft
		return out, true, nil
	}
	out.value = math.Nextafter32(n.Threshold, float32(math.Inf(1)))
	return out, false, nil
}

// writeXGBoost writes a file in the format of XGBoost's save_model, version 2, which older versions of
// XGBoost also read.
func writeXGBoost(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	f, notes := must2(xgbForestOf(m, o))
	if o.FirstFeature == ColumnsFromOne {
		if f.names != nil {
			return nil, errors.New("found feature names, expected none for a file whose column 0 is not used (--first-feature 1)")
		}
		f.shiftFeatures()
	}
	if f.names != nil {
		names, renames := renamed(f.names, "XGBoost", func(r rune) bool { return strings.ContainsRune("[]<", r) })
		check(checkRenamed(names))
		f.names, notes = names, append(notes, renames...)
	}
	return notes, f.write(w, o.Scores)
}

// write writes the trees in the format of save_model.
func (f *xgbForest) write(w io.Writer, scores Scores) (err error) {
	defer catch(&err)
	names := must(strictjson.Marshal(append([]string{}, f.names...)))
	objective := `{"lambda_rank_param":{},"lambdarank_param":{},"name":"rank:ndcg"}`
	base := "0E0"
	if scores == LogisticScores {
		objective, base = `{"name":"binary:logistic","reg_loss_param":{"scale_pos_weight":"1"}}`, "5E-1"
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `{"learner":{"attributes":{},"feature_names":%s,"feature_types":%s,"gradient_booster":{"model":{"gbtree_model_param":{"num_parallel_tree":"1","num_trees":"%d"},`,
		names, f.types(), len(f.trees))
	writeInts(out, "iteration_indptr", len(f.trees)+1, func(i int) int { return i })
	writeInts(out, "tree_info", len(f.trees), func(int) int { return 0 })
	_, _ = out.WriteString(`"trees":[`)
	for k, nodes := range f.trees {
		if k > 0 {
			_, _ = out.WriteString(",")
		}
		f.writeTree(out, k, nodes)
	}
	fmt.Fprintf(out, `]},"name":"gbtree"},"learner_model_param":{"base_score":"%s","boost_from_average":"0","num_class":"0","num_feature":"%d","num_target":"1"},"objective":%s},"version":[2,0,0]}`,
		base, f.features, objective)
	_, _ = out.WriteString("\n")
	return out.Flush()
}

// shiftFeatures inserts an unused feature before all others.
func (f *xgbForest) shiftFeatures() {
	f.features++
	f.categories = slices.Insert(f.categories, 0, false)
	for _, nodes := range f.trees {
		for i := range nodes {
			nodes[i].feature++
		}
	}
}

// used reports for each feature whether a node tests it.
func (f *xgbForest) used() []bool {
	used := make([]bool, f.features)
	for _, nodes := range f.trees {
		for _, n := range nodes {
			used[n.feature] = used[n.feature] || n.left > 0
		}
	}
	return used
}

// list removes the features that are not listed. No node tests them.
func (f *xgbForest) list(listed []bool) {
	at, n := make([]int, len(listed)), 0
	for j, is := range listed {
		if at[j] = n; is {
			n++
		}
	}
	f.features, f.names, f.categories = n, only(f.names, listed), only(f.categories, listed)
	for _, nodes := range f.trees {
		for i := range nodes {
			nodes[i].feature = at[nodes[i].feature]
		}
	}
}

// types returns the list of the features' types. It is empty unless f.typed is set or a feature has
// categories.
func (f *xgbForest) types() []byte {
	if !f.typed && !slices.Contains(f.categories, true) {
		return []byte("[]")
	}
	text := []byte{'['}
	for j, c := range f.categories {
		text = separate(text, j)
		if c {
			text = append(text, `"c"`...)
		} else {
			text = append(text, `"float"`...)
		}
	}
	return append(text, ']')
}

// writeEach writes a key with a list of n elements, followed by a comma.
func writeEach(out *bufio.Writer, key string, n int, add func(text []byte, i int) []byte) {
	text := append(strconv.AppendQuote(nil, key), ":["...)
	for i := range n {
		text = add(separate(text, i), i)
	}
	_, _ = out.Write(append(text, "],"...)) // Flush returns the error
}

func writeInts(out *bufio.Writer, key string, n int, of func(i int) int) {
	writeEach(out, key, n, func(text []byte, i int) []byte { return strconv.AppendInt(text, int64(of(i)), 10) })
}

func (f *xgbForest) writeTree(out *bufio.Writer, number int, nodes []xgbNode) {
	n := len(nodes)
	child := func(i, right int) int {
		if nodes[i].left == 0 {
			return -1
		}
		return nodes[i].left + right
	}
	oneIf := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	values := func(key string, of func(nd *xgbNode) float32) {
		writeEach(out, key, n, func(text []byte, i int) []byte {
			return strconv.AppendFloat(text, float64(of(&nodes[i])), 'E', -1, 32)
		})
	}
	_, _ = out.WriteString("{")
	values("base_weights", func(nd *xgbNode) float32 {
		if nd.left == 0 {
			return nd.value
		}
		return 0
	})
	writeSets(out, nodes)
	writeInts(out, "default_left", n, func(i int) int { return oneIf(nodes[i].missingLeft) })
	fmt.Fprintf(out, `"id":%d,`, number)
	writeInts(out, "left_children", n, func(i int) int { return child(i, 0) })
	zero := func(*xgbNode) float32 { return 0 }
	values("loss_changes", zero)
	writeInts(out, "parents", n, func(i int) int { return nodes[i].parent })
	writeInts(out, "right_children", n, func(i int) int { return child(i, 1) })
	values("split_conditions", func(nd *xgbNode) float32 { return nd.value })
	writeInts(out, "split_indices", n, func(i int) int { return nodes[i].feature })
	writeInts(out, "split_type", n, func(i int) int { return oneIf(nodes[i].set != nil) })
	values("sum_hessian", zero)
	fmt.Fprintf(out, `"tree_param":{"num_deleted":"0","num_feature":"%d","num_nodes":"%d","size_leaf_vector":"1"}}`, f.features, n)
}

// writeSets writes the categories of all nodes, one set after the other.
func writeSets(out *bufio.Writer, nodes []xgbNode) {
	var all, of, from, sizes []int
	for i := range nodes {
		if nodes[i].set == nil {
			continue
		}
		of, from, sizes = append(of, i), append(from, len(all)), append(sizes, len(nodes[i].set))
		for _, c := range nodes[i].set {
			all = append(all, int(c))
		}
	}
	writeInts(out, "categories", len(all), func(i int) int { return all[i] })
	writeInts(out, "categories_nodes", len(of), func(i int) int { return of[i] })
	writeInts(out, "categories_segments", len(from), func(i int) int { return from[i] })
	writeInts(out, "categories_sizes", len(sizes), func(i int) int { return sizes[i] })
}
