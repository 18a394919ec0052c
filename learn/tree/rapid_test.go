package tree

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawData draws a small data set of few values, in which anything may be missing, constant or
// without gradient.
func drawData(t *rapid.T) made {
	rows, features := rapid.IntRange(1, 40).Draw(t, "rows"), rapid.IntRange(1, 10).Draw(t, "features")
	d := made{x: make([]float32, rows*features), features: features, lambda: make([]float64, rows), second: make([]float64, rows)}
	values := rapid.IntRange(0, 4).Draw(t, "values")
	for i := range d.x {
		if d.x[i] = float32(rapid.IntRange(-1, values).Draw(t, "x")); d.x[i] < 0 {
			d.x[i] = float32(math.NaN())
		}
	}
	for i := range rows {
		if rapid.IntRange(0, 4).Draw(t, "teaches") > 0 {
			d.lambda[i] = float64(rapid.IntRange(-3, 3).Draw(t, "lambda"))
			d.second[i] = float64(rapid.IntRange(0, 3).Draw(t, "second"))
		}
	}
	return d
}

// Whatever the data and options: leaves are as many as allowed at most, with at least the documents
// and curvature that are asked for unless the root is one; each document is in the leaf that
// its features lead to; values are finite; and workers change nothing.
func TestTreesKeepTheirLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawData(t)
		o := Options{
			Growth: Growth(rapid.IntRange(0, 2).Draw(t, "growth")), Leaves: rapid.IntRange(2, 50).Draw(t, "leaves"), Depth: rapid.IntRange(0, 4).Draw(t, "depth"),
			LeafDocuments: rapid.IntRange(0, 5).Draw(t, "documents"), LeafCurvature: float64(rapid.IntRange(0, 3).Draw(t, "curvature")),
			L2: float64(rapid.IntRange(0, 2).Draw(t, "L2")), Workers: 1,
			RandomThresholds: rapid.Bool().Draw(t, "random"), CategorySmoothing: float64(rapid.IntRange(0, 2).Draw(t, "smoothing")),
		}
		categorical := rapid.SliceOfN(rapid.Bool(), d.features, d.features).Draw(t, "categorical")
		if rapid.Bool().Draw(t, "constrained") {
			drawConstraints(t, &o, categorical)
		}
		b, err := NewBins(d.x, d.features, BinOptions{Most: rapid.IntRange(2, 8).Draw(t, "bins"), Categorical: categorical})
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGrower(NewMatrix(d.x, b, 1), o)
		if err != nil {
			t.Fatal(err)
		}
		grown := g.Grow(d.lambda, d.second, nil)
		checkLimits(t, &d, grown, g.Rows, g.Values(d.lambda, d.second), o)
		o.Workers = 3
		if g, err = NewGrower(NewMatrix(d.x, b, 3), o); err != nil {
			t.Fatal(err)
		}
		if again := g.Grow(d.lambda, d.second, nil); !reflect.DeepEqual(again, grown) {
			t.Fatalf("three workers grow %+v, one %+v", again, grown)
		}
	})
}

// checkLimits checks a tree grown on all documents, given those of each leaf.
func checkLimits(t *rapid.T, d *made, grown *Tree, rows func(leaf int) []uint32, values []float64, o Options) {
	if grown.Leaves > o.Leaves || len(grown.Nodes) != grown.Leaves-1 || o.Depth > 0 && grown.Leaves > 1<<o.Depth {
		t.Fatalf("%d leaves, %d nodes", grown.Leaves, len(grown.Nodes))
	}
	seen := 0
	for l, v := range values {
		var curvature float64
		for _, r := range rows(l) {
			curvature += d.second[r]
			if at := grown.Leaf(d.row(int(r))); at != l {
				t.Fatalf("row %d is in leaf %d, the tree says %d", r, l, at)
			}
		}
		docs := len(rows(l))
		if seen += docs; grown.Leaves > 1 && (docs < max(1, o.LeafDocuments) || curvature < o.LeafCurvature-1e-6) || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("leaf %d has %d documents, the curvature %v and the value %v", l, docs, curvature, v)
		}
	}
	if seen != len(d.lambda) {
		t.Fatalf("%d documents in leaves, expected %d", seen, len(d.lambda))
	}
	checkConstraints(t, d, grown, values, o)
}

func drawConstraints(t *rapid.T, o *Options, categorical []bool) {
	for _, without := range categorical {
		sign := int8(0)
		if !without {
			sign = int8(rapid.IntRange(-1, 1).Draw(t, "sign"))
		}
		o.Monotone = append(o.Monotone, sign)
	}
	o.Interactions = rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, len(categorical)-1), 0, 4), 0, 3).Draw(t, "interactions")
}

// checkConstraints checks that documents that differ in one feature with a sign have values in
// its order, and that the features of every path are of one group, or one alone.
func checkConstraints(t *rapid.T, d *made, grown *Tree, values []float64, o Options) {
	for i := range d.lambda {
		x := append([]float32(nil), d.row(i)...)
		for f, sign := range o.Monotone {
			last := math.Inf(-1)
			if sign < 0 {
				last = math.Inf(1)
			}
			old := x[f]
			for v := float32(-1); v < 6 && sign != 0; v++ {
				x[f] = v
				if got := values[grown.Leaf(x)]; (got-last)*float64(sign) < 0 {
					t.Fatalf("%+v: feature %d of sign %d: the value goes from %v to %v at %v", grown, f, sign, last, got, x)
				} else {
					last = got
				}
			}
			x[f] = old
		}
	}
	var walk func(at int, path []int)
	walk = func(at int, path []int) {
		if at >= 0 {
			n := grown.Nodes[at]
			path = append(path[:len(path):len(path)], n.Feature)
			walk(n.Left, path)
			walk(n.Right, path)
			return
		}
		in := func(group []int) bool {
			for _, f := range path {
				if !slices.Contains(group, f) {
					return false
				}
			}
			return true
		}
		if len(o.Interactions) > 0 && len(path) > 0 && !slices.ContainsFunc(o.Interactions, in) && !in(path[:1]) {
			t.Fatalf("found a path by the features %v, expected those of one group of %v, or one", path, o.Interactions)
		}
	}
	if len(grown.Nodes) > 0 {
		walk(0, nil)
	}
}
