package tree

import (
	"math"
	"slices"
	"testing"
)

// gainOf is the gain of a division, in floating point, and whether it is allowed.
func (d *made) gainOf(a, b []int, o Options) (gain float64, allowed bool) {
	strength := func(rows ...int) (s, h float64) {
		var g float64
		for _, i := range rows {
			g, h = g+d.lambda[i], h+d.second[i]
		}
		g = math.Copysign(max(0, math.Abs(g)-o.L1), g)
		if h+o.L2 <= 0 {
			return 0, h
		}
		return g * g / (h + o.L2), h
	}
	left, lh := strength(a...)
	right, rh := strength(b...)
	all, _ := strength(append(slices.Clone(a), b...)...)
	useful := func(rows []int) bool {
		return slices.ContainsFunc(rows, func(i int) bool { return d.lambda[i] != 0 || d.second[i] != 0 })
	}
	return left + right - all, useful(a) && useful(b) && min(len(a), len(b)) >= o.LeafDocuments && min(lh, rh) >= o.LeafCurvature
}

func (d *made) part(rows []int, f int, cut float32, missingLeft bool) (a, b []int) {
	for _, i := range rows {
		if v := d.row(i)[f]; v <= cut || v != v && missingLeft {
			a = append(a, i)
		} else {
			b = append(b, i)
		}
	}
	return a, b
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// exactLevel divides all leaves by the one split whose gains have the largest sum; leaves that
// must not be divided by it stay.
func (d *made) exactLevel(m *Matrix, leaves [][]int, o Options) [][]int {
	best, next := o.LeastGain, [][]int(nil)
	for f := range d.features {
		for _, cut := range append(slices.Clone(m.bins.cuts[f]), math.MaxFloat32) {
			for _, missingLeft := range []bool{false, true} {
				var sum float64
				var parts [][]int
				for _, rows := range leaves {
					a, b := d.part(rows, f, cut, missingLeft)
					if gain, allowed := d.gainOf(a, b, o); allowed {
						sum, parts = sum+gain, append(parts, a, b)
					} else {
						parts = append(parts, rows)
					}
				}
				if sum > best+1e-9 {
					best, next = sum, parts
				}
			}
		}
	}
	return next
}

// Every level of a symmetric tree divides by the split that is the best of all for the leaves
// of the level together; leaves that it would divide to no use, or against the limits, stay
// whole and the rest goes on.
func TestSymmetricLevelsAreTheBest(t *testing.T) {
	for seed, o := range []Options{
		{Leaves: 16}, {Leaves: 33, L2: 3, L1: 0.5}, {Leaves: 64, LeafDocuments: 12}, {Leaves: 64, LeafCurvature: 9}, {Leaves: 64, LeastGain: 30}, {Leaves: 64, Depth: 3},
	} {
		o.Growth = Symmetric
		d := makeData(250, 7, uint64(seed))
		m := d.matrix(t, 12, 1)
		g, err := NewGrower(m, o)
		if err != nil {
			t.Fatal(err)
		}
		grown := g.Grow(d.lambda, d.second, nil)
		want := [][]int{numbers(250)}
		for level := 0; 2<<level <= o.Leaves && (o.Depth == 0 || level < o.Depth); level++ {
			next := d.exactLevel(m, want, o)
			if next == nil {
				break
			}
			want = next
		}
		if grown.Leaves != len(want) {
			t.Fatalf("%+v: %d leaves, expected %d", o, grown.Leaves, len(want))
		}
		for l := range grown.Leaves {
			var rows []int
			for _, r := range g.Rows(l) {
				if at := grown.Leaf(d.row(int(r))); at != l {
					t.Fatalf("%+v: row %d is in leaf %d, the tree says %d", o, r, l, at)
				}
				rows = append(rows, int(r))
			}
			if !slices.ContainsFunc(want, func(w []int) bool { return slices.Equal(w, rows) }) {
				t.Errorf("%+v: no leaf of the best levels has the documents of leaf %d, %v", o, l, rows)
			}
		}
		checkLevels(t, grown, o)
	}
}

// checkLevels checks that the splits along every path are in one order, which is that of the
// levels.
func checkLevels(t *testing.T, grown *Tree, o Options) {
	t.Helper()
	type by struct {
		feature     int
		threshold   float32
		missingLeft bool
	}
	var order []by
	for _, n := range grown.Nodes {
		if b := (by{n.Feature, n.Threshold, n.MissingLeft}); !slices.Contains(order, b) {
			order = append(order, b)
		}
	}
	if 1<<len(order) > o.Leaves {
		t.Errorf("%+v: %d different splits", o, len(order))
	}
	var walk func(at, least int)
	walk = func(at, least int) {
		if at < 0 {
			return
		}
		n := grown.Nodes[at]
		place := slices.Index(order, by{n.Feature, n.Threshold, n.MissingLeft})
		if place < least {
			t.Errorf("%+v: node %d divides by the split of level %d below one of level %d", o, at, place, least-1)
		}
		walk(n.Left, place+1)
		walk(n.Right, place+1)
	}
	walk(0, 0)
}

// Depth-wise growth divides a level before the next one, each node by its best split, and of
// the level for which the leaves do not suffice those of the largest gain.
func TestDepthWiseGrowsByLevels(t *testing.T) {
	d := makeData(300, 7, 8)
	m := d.matrix(t, 16, 1)
	for _, leaves := range []int{2, 3, 6, 11, 16, 23} {
		o := Options{Growth: DepthWise, Leaves: leaves, LeafDocuments: 4}
		g, err := NewGrower(m, o)
		if err != nil {
			t.Fatal(err)
		}
		grown := g.Grow(d.lambda, d.second, nil)
		checkNode(t, &d, m, grown, 0, numbers(300), o)
		level := [][]int{numbers(300)}
		want := [][]int(nil) // leaves
		for room := leaves - 1; len(level) > 0; {
			type division struct {
				gain float64
				left []int
				rows []int
			}
			var divisions []division
			for _, rows := range level {
				gain, left := exactSplit(&d, m, rows, o)
				divisions = append(divisions, division{gain, left, rows})
			}
			slices.SortFunc(divisions, func(a, b division) int { return int(math.Copysign(1, b.gain-a.gain)) })
			level = nil
			for _, v := range divisions {
				if v.left == nil || room == 0 {
					want = append(want, v.rows)
					continue
				}
				room--
				right := slices.DeleteFunc(slices.Clone(v.rows), func(i int) bool { return slices.Contains(v.left, i) })
				level = append(level, v.left, right)
			}
		}
		if len(want) != grown.Leaves {
			t.Errorf("%d leaves, expected %d", grown.Leaves, len(want))
		}
		for l := range grown.Leaves {
			var rows []int
			for _, r := range g.Rows(l) {
				rows = append(rows, int(r))
			}
			if !slices.ContainsFunc(want, func(w []int) bool { return slices.Equal(w, rows) }) {
				t.Errorf("%d leaves: no leaf by levels has the documents of leaf %d", leaves, l)
			}
		}
	}
}

// Where no document of a level has a feature's value missing, missing values go to the side with
// the larger curvature, in symmetric growth as in the other orders.
func TestMissingGoesToTheLargerSide(t *testing.T) {
	for larger, missingLeft := range map[float64]bool{0.5: false, 2: true} {
		d := made{features: 1, x: []float32{1, 1, 2, 2}, lambda: []float64{1, 2, -1, -2}, second: []float64{larger, larger, 1, 1}}
		for _, growth := range []Growth{LeafWise, DepthWise, Symmetric} {
			g, err := NewGrower(d.matrix(t, 9, 1), Options{Growth: growth, Leaves: 2})
			if err != nil {
				t.Fatal(err)
			}
			if n := g.Grow(d.lambda, d.second, nil).Nodes[0]; n.MissingLeft != missingLeft {
				t.Errorf("growth %d, curvatures %v and 1: missing values go left: %t", growth, larger, n.MissingLeft)
			}
		}
		if n := d.exact(t, Options{Leaves: 2}).Grow(d.lambda, d.second, nil).Nodes[0]; n.MissingLeft != missingLeft {
			t.Errorf("exact, curvatures %v and 1: missing values go left: %t", larger, n.MissingLeft)
		}
	}
}
