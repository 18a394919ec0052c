package interchange

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model/scorer"
)

// listIn returns the elements of a list, which must be there.
func listIn(v strictjson.Value, name string) ([]strictjson.Value, error) {
	switch {
	case v.Text == nil:
		return nil, fmt.Errorf("found no %q, expected a list", name)
	case v.Text[0] != '[':
		return nil, wrong(v, "found %.40s as %q, expected a list", v.Text, name)
	}
	return strictjson.Elements(v)
}

// singles reads a list of numbers, which may be infinite; null is NaN.
func singles(v strictjson.Value, name string) ([]float32, error) {
	list, err := listIn(v, name)
	if err != nil {
		return nil, err
	}
	numbers := make([]float32, len(list))
	for i, e := range list {
		x, err := strconv.ParseFloat(string(e.Text), 32)
		switch {
		case string(e.Text) == "null":
			x = math.NaN()
		case errors.Is(err, strconv.ErrRange):
		case err != nil:
			return nil, wrong(e, "found %.40s in %q, expected a number", e.Text, name)
		}
		numbers[i] = float32(x)
	}
	return numbers, nil
}

// flags reads a list of 0 and 1, or of false and true.
func flags(v strictjson.Value, name string) ([]bool, error) {
	list, err := listIn(v, name)
	if err != nil {
		return nil, err
	}
	values := make([]bool, len(list))
	for i, e := range list {
		switch string(e.Text) {
		case "1", "true":
			values[i] = true
		case "0", "false":
		default:
			return nil, wrong(e, "found %.40s in %q, expected 0 or 1", e.Text, name)
		}
	}
	return values, nil
}

// tree returns the tree of the lists.
func (x *xgbTree) tree(features int) (tree, error) {
	n := len(x.Left)
	vector, err := wholeOf(x.Param.Vector, "size_leaf_vector", 1)
	if err != nil {
		return tree{}, err
	}
	if vector > 1 {
		return tree{}, wrong(x.Param.Vector, `found "size_leaf_vector" %d, expected one value a leaf`, vector)
	}
	conditions, err := singles(x.Condition, "split_conditions")
	if err != nil {
		return tree{}, err
	}
	left, err := flags(x.Default, "default_left")
	if err != nil {
		return tree{}, err
	}
	if n == 0 || len(x.Right) != n || len(x.Feature) != n || len(conditions) != n || len(left) != n || x.Type != nil && len(x.Type) != n {
		return tree{}, fmt.Errorf("found %d right_children, %d split_indices, %d split_conditions, %d default_left and %d split_type, expected %d of each, as of left_children",
			len(x.Right), len(x.Feature), len(conditions), len(left), len(x.Type), n)
	}
	if stated, err := wholeOf(x.Param.Nodes, "num_nodes", n); err != nil || stated != n {
		return tree{}, cmp.Or(err, wrong(x.Param.Nodes, `found %d nodes, expected %d, as "num_nodes" says`, n, stated))
	}
	if stated, err := wholeOf(x.Param.Features, "num_feature", features); err != nil || stated != features {
		return tree{}, cmp.Or(err, wrong(x.Param.Features, `found a tree of %d features, expected %d, as the model has`, stated, features))
	}
	sets, err := x.sets()
	if err != nil {
		return tree{}, err
	}
	numbers, inner := numberNodes(x.Left)
	nodes, values := make([]scorer.TreeNode, 0, inner), make([]float64, 0, n-inner)
	for i := range n {
		if x.Left[i] < 0 {
			values = append(values, float64(conditions[i]))
			continue
		}
		node, err := x.node(i, numbers, features)
		if err != nil {
			return tree{}, err
		}
		divideXGBoost(&node, conditions[i], left[i], sets[i])
		if len(x.Type) > 0 && x.Type[i] == 1 && sets[i] == nil {
			return tree{}, fmt.Errorf("found no categories of node %d, expected some", i)
		}
		nodes = append(nodes, node)
	}
	return grow(nodes, values)
}

// numberNodes returns the number of each node among those with children, or −1 − its number
// among the leaves, and the count of the former.
func numberNodes(left []int) (numbers []int, inner int) {
	numbers = make([]int, len(left))
	for i, c := range left {
		if c < 0 {
			numbers[i] = -1 - (i - inner)
		} else {
			numbers[i] = inner
			inner++
		}
	}
	return numbers, inner
}

// node returns a node with its feature and children.
func (x *xgbTree) node(i int, numbers []int, features int) (scorer.TreeNode, error) {
	if x.Feature[i] < 0 || x.Feature[i] >= features {
		return scorer.TreeNode{}, fmt.Errorf(`found %d in "split_indices" of node %d, expected a feature from 0 to %d`, x.Feature[i], i, features-1)
	}
	for _, c := range [2]int{x.Left[i], x.Right[i]} {
		if c < 1 || c >= len(numbers) {
			return scorer.TreeNode{}, fmt.Errorf("found the child %d of node %d, expected one from 1 to %d", c, i, len(numbers)-1)
		}
	}
	return scorer.TreeNode{Feature: x.Feature[i], Left: numbers[x.Left[i]], Right: numbers[x.Right[i]]}, nil
}

// divideXGBoost sets how a node divides: x below the condition goes left, or x that is not in
// the set of categories, if there is one.
func divideXGBoost(n *scorer.TreeNode, condition float32, missingLeft bool, set []float32) {
	if set != nil {
		n.Categories, n.MissingLeft = set, !missingLeft
		n.Left, n.Right = n.Right, n.Left
		return
	}
	n.Threshold, n.MissingLeft = before(condition), missingLeft
}

// before returns the largest float32 below x: y < x and y ≤ before(x) are the same.
func before(x float32) float32 { return math.Nextafter32(x, float32(math.Inf(-1))) }

// sets returns the categories of each node that has some.
func (x *xgbTree) sets() (map[int][]float32, error) {
	if len(x.Nodes) != len(x.Segments) || len(x.Nodes) != len(x.Sizes) {
		return nil, fmt.Errorf("found %d categories_nodes, %d categories_segments and %d categories_sizes, expected as many of each", len(x.Nodes), len(x.Segments), len(x.Sizes))
	}
	sets, at := make(map[int][]float32, len(x.Nodes)), 0
	for k, node := range x.Nodes {
		from, size := x.Segments[k], x.Sizes[k]
		if from != at || size < 0 || size > len(x.Categories)-from || sets[node] != nil {
			return nil, fmt.Errorf("found %d categories from %d on for node %d, expected the segments of different nodes one after the other", size, from, node)
		}
		at += size
		set, err := categorySet(x.Categories[from : from+size])
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", node, err)
		}
		sets[node] = set
	}
	return sets, nil
}

// categorySet returns categories in ascending order, not nil.
func categorySet(numbers []int) ([]float32, error) {
	set := make([]float32, len(numbers))
	for i, c := range numbers {
		if c < 0 || c >= 1<<24 {
			return nil, fmt.Errorf("found the category %d, expected one from 0 to %d", c, 1<<24-1)
		}
		set[i] = float32(c)
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}
