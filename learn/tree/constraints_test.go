package tree

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// bestValue is the value within bounds that takes most off the objective's approximation, by
// ternary search, and what it takes off twice.
func (d *made) bestValue(rows []int, within bounds, o Options) (v, off float64) {
	var g, h float64
	for _, i := range rows {
		g, h = g+d.lambda[i], h+d.second[i]
	}
	of := func(v float64) float64 { return 2*g*v - (h+o.L2)*v*v - 2*o.L1*math.Abs(v) }
	low, high := max(within.lower, -100), min(within.upper, 100)
	for range 200 {
		a, b := low+(high-low)/3, high-(high-low)/3
		if of(a) < of(b) {
			low = a
		} else {
			high = b
		}
	}
	return (low + high) / 2, of((low + high) / 2)
}

// checkMonotoneNode checks that a node divides by the split that gains most of all that keep the
// order, its parts' values being within bounds.
func (d *made) checkMonotoneNode(t *testing.T, m *Matrix, grown *Tree, at int, rows []int, within bounds, o Options) {
	t.Helper()
	if at < 0 {
		return
	}
	_, whole := d.bestValue(rows, within, o)
	best, left := 0.0, []int(nil)
	for f := range d.features {
		for _, cut := range append(slices.Clone(m.bins.cuts[f]), math.MaxFloat32) {
			for _, missingLeft := range []bool{false, true} {
				a, b := d.part(rows, f, cut, missingLeft)
				if _, allowed := d.gainOf(a, b, o); !allowed {
					continue
				}
				va, offA := d.bestValue(a, within, o)
				vb, offB := d.bestValue(b, within, o)
				if gain := offA + offB - whole; gain > best+1e-7 && (vb-va)*float64(o.Monotone[f]) >= -1e-9 {
					best, left = gain, a
				}
			}
		}
	}
	n := grown.Nodes[at]
	a, b := d.part(rows, n.Feature, n.Threshold, n.MissingLeft)
	if !slices.Equal(a, left) && !slices.Equal(b, left) {
		t.Errorf("node %d divides %d documents into %d and %d, the best division, which gains %v, into %d and %d", at, len(rows), len(a), len(b), best, len(left), len(rows)-len(left))
	}
	va, _ := d.bestValue(a, within, o)
	vb, _ := d.bestValue(b, within, o)
	ba, bb := within, within
	switch middle := (va + vb) / 2; o.Monotone[n.Feature] {
	case 1:
		ba.upper, bb.lower = middle, middle
	case -1:
		ba.lower, bb.upper = middle, middle
	}
	d.checkMonotoneNode(t, m, grown, n.Left, a, ba, o)
	d.checkMonotoneNode(t, m, grown, n.Right, b, bb, o)
}

// Under monotone constraints every node is divided by the best split of all that are allowed,
// by looking at all of them.
func TestMonotoneSplitsAreTheBest(t *testing.T) {
	for seed, o := range []Options{
		{Leaves: 10, Monotone: []int8{1, 0, 0, 0, 0, 0, 0}},
		{Leaves: 10, Monotone: []int8{-1, 1, 0, 1, -1, 1, -1}},
		{Leaves: 10, Monotone: []int8{1, 1, 0, -1, 1, -1, 1}, L1: 0.7, L2: 2},
		{Leaves: 10, Monotone: []int8{1, -1, 0, 1, 1, -1, -1}, LeafDocuments: 12, LeafCurvature: 3},
	} {
		d := makeData(160, 7, uint64(seed+20))
		m := d.matrix(t, 8, 1)
		g, err := NewGrower(m, o)
		if err != nil {
			t.Fatal(err)
		}
		grown := g.Grow(d.lambda, d.second, nil)
		if len(grown.Nodes) < 4 {
			t.Fatalf("%d nodes", len(grown.Nodes))
		}
		d.checkMonotoneNode(t, m, grown, 0, numbers(160), unbounded(), o)
	}
}

// Without constraints the order is not kept and features of several groups meet, and zero signs
// and groups of all features are no constraint.
func TestConstraintsConstrain(t *testing.T) {
	d := makeData(500, 6, 3)
	m := d.matrix(t, 64, 1)
	grow := func(o Options) *Tree {
		o.Leaves = 20
		g, err := NewGrower(m, o)
		if err != nil {
			t.Fatal(err)
		}
		return g.Grow(d.lambda, d.second, nil)
	}
	plain := grow(Options{})
	for _, o := range []Options{{Monotone: make([]int8, 6)}, {Interactions: [][]int{{1}, {0, 1, 2, 3, 4, 5}}}} {
		if got := grow(o); !reflect.DeepEqual(got.Nodes, plain.Nodes) {
			t.Errorf("%+v grows another tree", o)
		}
	}
	for _, o := range []Options{{Monotone: []int8{1, 1, 1, 1, 1, 1}}, {Interactions: [][]int{{0, 1}, {3, 4}}}} {
		if got := grow(o); reflect.DeepEqual(got.Nodes, plain.Nodes) {
			t.Errorf("%+v grows the same tree", o)
		}
	}
	for _, o := range []Options{{Monotone: []int8{1}}, {Interactions: [][]int{{0, 6}}}, {Interactions: [][]int{{-1}}}} {
		o.Leaves = 2
		if _, err := NewGrower(m, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
