package scorer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawTree draws a tree by dividing leaves; thresholds are on a coarse grid, so that values
// meet them exactly.
func drawTree(t *rapid.T, features int) []TreeNode {
	type place struct{ node, side int }
	var nodes []TreeNode
	open := []place{{-1, 0}}
	for range rapid.IntRange(0, 6).Draw(t, "nodes") {
		at := rapid.IntRange(0, len(open)-1).Draw(t, "leaf")
		if p := open[at]; p.node >= 0 {
			if p.side == 0 {
				nodes[p.node].Left = len(nodes)
			} else {
				nodes[p.node].Right = len(nodes)
			}
		}
		open[at] = place{len(nodes), 0}
		open = append(open, place{len(nodes), 1})
		n := TreeNode{Feature: rapid.IntRange(0, features-1).Draw(t, "feature")}
		if rapid.IntRange(0, 3).Draw(t, "categorical") == 0 {
			n.Categories = slices.Sorted(maps.Keys(rapid.MapOfN(rapid.SampledFrom([]float32{-2, -0.5, 0, 1, 1.5}), rapid.Bool(), 1, 5).Draw(t, "categories")))
		} else {
			n.Threshold, n.MissingLeft = float32(rapid.IntRange(-3, 3).Draw(t, "threshold"))/2, rapid.Bool().Draw(t, "missing left")
		}
		nodes = append(nodes, n)
	}
	for leaf, p := range open {
		switch {
		case p.node < 0:
		case p.side == 0:
			nodes[p.node].Left = -1 - leaf
		default:
			nodes[p.node].Right = -1 - leaf
		}
	}
	return nodes
}

// leafOf is the definition, from a node on.
func leafOf(nodes []TreeNode, at int, x []float32) int {
	if len(nodes) == 0 || at < 0 {
		return max(0, -1-at)
	}
	n := nodes[at]
	v := x[n.Feature]
	left := math.IsNaN(float64(v)) && n.MissingLeft || v <= n.Threshold
	if n.Categories != nil {
		left = slices.Contains(n.Categories, v)
	}
	if left {
		return leafOf(nodes, n.Left, x)
	}
	return leafOf(nodes, n.Right, x)
}

// Trees score as the sum of their leaves' values, written down from the definition; Backward
// is the adjoint of that sum, what was in grad stays; and the form in model files comes back
// with the same bits.
func TestTreesScoreAndBackward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		features := rapid.IntRange(1, 4).Draw(t, "features")
		trees := make([][]TreeNode, rapid.IntRange(0, 4).Draw(t, "trees"))
		for k := range trees {
			trees[k] = drawTree(t, features)
		}
		s, err := NewTrees(features, trees)
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float64, s.NumParams())
		for i := range w {
			w[i] = rapid.Float64Range(-3, 3).Draw(t, "value")
		}
		docs := rapid.IntRange(0, 6).Draw(t, "docs")
		x, lambda := make([]float32, docs*features), make([]float64, docs)
		for i := range x {
			if x[i] = float32(rapid.IntRange(-4, 5).Draw(t, "x")) / 2; x[i] > 2 {
				x[i] = float32(math.NaN())
			}
		}
		got, grad, wantGrad := make([]float64, docs), make([]float64, len(w)), make([]float64, len(w))
		for k := range grad {
			grad[k], wantGrad[k] = float64(k), float64(k)
		}
		s.Score(got, w, x, nil)
		for i := range docs {
			lambda[i] = rapid.Float64Range(-2, 2).Draw(t, "lambda")
			want, first := 0.0, 0
			for _, nodes := range trees {
				p := first + leafOf(nodes, 0, x[i*features:(i+1)*features])
				want += w[p]
				wantGrad[p] += lambda[i]
				first += len(nodes) + 1
			}
			if got[i] != want {
				t.Fatalf("document %d scores %v, want %v", i, got[i], want)
			}
		}
		s.Backward(grad, w, x, lambda, nil)
		for k := range grad {
			if math.Abs(grad[k]-wantGrad[k]) > 1e-12 {
				t.Fatalf("gradient %d is %v, want %v", k, grad[k], wantGrad[k])
			}
		}
		raw, err := Encode(s, w)
		if err != nil {
			t.Fatal(err)
		}
		back, params, err := Decode(raw)
		if err != nil || !slices.Equal(params, w) || !reflect.DeepEqual(back.(*Trees).Trees(), s.Trees()) {
			t.Fatalf("%s came back as %#v %v, %v", raw, back, params, err)
		}
	})
}

// The form that scripts rely on: features count from 1, leaves from −1 down.
func TestTreesForm(t *testing.T) {
	s, err := NewTrees(3, [][]TreeNode{{{Feature: 2, Threshold: 0.5, Left: -1, Right: 1}, {Threshold: -1, MissingLeft: true, Left: -2, Right: -3}}, nil})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Encode(s, []float64{0.25, -1, 2, 7})
	want := `{"type":"trees","features":3,"trees":[{"feature":[3,1],"threshold":[0.5,-1],"left":[-1,-2],"right":[1,-3],"missing_left":[1],"values":[0.25,-1,2]},` +
		`{"feature":[],"threshold":[],"left":[],"right":[],"missing_left":[],"values":[7]}]}`
	if err != nil || string(raw) != want {
		t.Errorf("form is %s, %v; want %s", raw, err, want)
	}
	if s, err = NewTrees(2, [][]TreeNode{{{Feature: 1, Categories: []float32{-1, 0, 2.5}, Left: -1, Right: -2}}}); err != nil {
		t.Fatal(err)
	}
	raw, err = Encode(s, []float64{0.25, -1})
	want = `{"type":"trees","features":2,"trees":[{"feature":[2],"threshold":[null],"left":[-1],"right":[-2],"missing_left":[],"categories":[{"node":0,"left":[-1,0,2.5]}],"values":[0.25,-1]}]}`
	if err != nil || string(raw) != want {
		t.Errorf("form is %s, %v; want %s", raw, err, want)
	}
}

// What is no tree is refused: unknown features, children that are missing, shared or in a
// circle, lists of different lengths.
func TestDecodeTreesErrors(t *testing.T) {
	node := func(feature, threshold, left, right, missing, values string) string {
		return fmt.Sprintf(`{"type":"trees","features":2,"trees":[{"feature":[%s],"threshold":[%s],"left":[%s],"right":[%s],"missing_left":[%s],"values":[%s]}]}`, feature, threshold, left, right, missing, values)
	}
	categorical := func(threshold, missing, categories string) string {
		return fmt.Sprintf(`{"type":"trees","features":2,"trees":[{"feature":[1],"threshold":[%s],"left":[-1],"right":[-2],"missing_left":[%s],"categories":[%s],"values":[0,0]}]}`, threshold, missing, categories)
	}
	for text, want := range map[string]string{
		categorical("null", "", `{"node":0,"left":[2,1]}`):                     `tree 1: found the category 1 after 2 in node 0, expected ascending ones`,
		categorical("null", "", `{"node":0,"left":[1,1]}`):                     `tree 1: found the category 1 after 1 in node 0`,
		categorical("null", "", `{"node":0,"left":[]}`):                        `tree 1: found 0 categories`,
		categorical("null", "", `{"node":0}`):                                  `tree 1: found 0 categories`,
		categorical("null", "0", `{"node":0,"left":[1]}`):                      `tree 1: found 1 categories, the threshold 0 and missing values to the left (true)`,
		categorical("1", "", `{"node":0,"left":[1]}`):                          `tree 1: found 1 as threshold 1, expected null`,
		categorical("null", "", `{"node":0,"left":[null]}`):                    `tree 1: found null as category 1 of node 0`,
		categorical("null", "", `{"node":1,"left":[1]}`):                       `tree 1: found no node, or one a second time, in entry 1 of the categories, expected different nodes up to 0`,
		categorical("null", "", `{"node":-1,"left":[1]}`):                      `tree 1: found no node`,
		categorical("null", "", `{"left":[1]}`):                                `tree 1: found no node`,
		categorical("null", "", `{"node":0,"left":[1]},{"node":0,"left":[1]}`): `in entry 2 of the categories`,
		categorical("null", "", `null`):                                        `tree 1: found no node`,
		`{"type":"trees","trees":[]}`:                                          `found "features" = 0`,
		`{"type":"trees","features":2}`:                                        `found no list of trees`,
		node("3", "1", "-1", "-2", "", "0,0"):                                  `tree 1: found feature 3 in node 0, expected one from 1 to 2`,
		node("1", "1", "-1", "-2", "", "0"):                                    `tree 1: found 1 features, 1 thresholds, 1 and 1 children and 1 values`,
		node("1", "1", "-1", "-1", "", "0,0"):                                  `tree 1: found child -1 twice`,
		node("1", "1", "-1", "-3", "", "0,0"):                                  `tree 1: found child -3 of node 0`,
		node("1", "1", "0", "-2", "", "0,0"):                                   `tree 1: found child 0 of node 0, expected a later node`,
		node("1", "1", "1", "-2", "", "0,0"):                                   `tree 1: found child 1 of node 0`,
		node("1,1", "1,1", "-1,-2", "-3,1", "", "0,0,0"):                       `expected a later node`,
		node("1,1", "1,1", "1,-1", "1,-2", "", "0,0,0"):                        `found child 1 twice`,
		node("1", "1", "-1", "-2", "1", "0,0"):                                 `tree 1: found node 1 among those where missing values go left`,
		node("1", "1", "-1", "-2", "0,0", "0,0"):                               `tree 1: found node 0 among those where missing values go left`,
		node("1", "null", "-1", "-2", "", "0,0"):                               `tree 1: found null as threshold 1, expected a number`,
		node("1", "1", "-1", "-2", "null", "0,0"):                              `found null as missing_left 1, expected a number`,
		node("1", "1", "-1", "-2", "", "0,null"):                               `found null as value 2, expected a number`,
		node("null", "1", "-1", "-2", "", "0,0"):                               `found null as feature 1, expected a number`,
		node("1", "1", "null", "-2", "", "0,0"):                                `found null as left 1, expected a number`,
		node("1", "1", "-9223372036854775808", "-2", "", "0,0"):                `tree 1: found child -9223372036854775808 of node 0`,
	} {
		if _, _, err := Decode(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", text, err, want)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := NewTrees(1, [][]TreeNode{{{Threshold: float32(bad), Left: -1, Right: -2}}}); err == nil {
			t.Errorf("the threshold %v is accepted", bad)
		}
		if _, err := NewTrees(1, [][]TreeNode{{{Categories: []float32{float32(bad)}, Left: -1, Right: -2}}}); err == nil {
			t.Errorf("the category %v is accepted", bad)
		}
	}
}
