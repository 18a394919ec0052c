package tree

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func (d *made) exact(t testing.TB, o Options) *Exact {
	t.Helper()
	g, err := NewExact(d.x, d.features, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// parts returns the documents of each leaf, in order of the first.
func parts(leaves int, rows func(leaf int) []uint32) [][]uint32 {
	var all [][]uint32
	for l := range leaves {
		all = append(all, slices.Clone(rows(l)))
	}
	slices.SortFunc(all, slices.Compare[[]uint32])
	return all
}

// Where every value has a bin, exact splits and those by histograms divide documents alike,
// under all options that both have, on all documents or some.
func TestExactAndHistogramsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	d := made{features: 9}
	for range 900 {
		i := len(d.lambda)
		d.lambda, d.second = append(d.lambda, rng.NormFloat64()), append(d.second, 0.1+rng.Float64())
		for f := range d.features {
			v := float32(rng.IntN(200)) / 7
			switch {
			case f == 3 && rng.IntN(3) == 0:
				v = float32(math.NaN())
			case f == 4:
				v = 2
			case f == 5:
				v = float32(i % 2)
			}
			d.x = append(d.x, v)
		}
		d.lambda[i] += math.Sin(float64(d.x[i*9])) + float64(d.x[i*9+1])/20
	}
	m := d.matrix(t, 255, 1)
	var bag []uint32
	for i := range uint32(900) {
		if i%4 > 0 {
			bag = append(bag, i)
		}
	}
	for _, o := range []Options{
		{}, {Growth: DepthWise}, {Depth: 4}, {L1: 1, L2: 2}, {LeafDocuments: 40, LeafCurvature: 25}, {LeastGain: 5},
		{Monotone: []int8{1, -1, 0, 1, 0, 1, 0, 0, -1}}, {Interactions: [][]int{{0, 3}, {1, 2, 3}, {5}}},
	} {
		o.Leaves, o.LeafDocuments = 20, max(10, o.LeafDocuments)
		for _, rows := range [][]uint32{nil, bag} {
			g, err := NewGrower(m, o)
			if err != nil {
				t.Fatal(err)
			}
			e := d.exact(t, o)
			g.Bar([]bool{7: true, 8: false})
			e.Bar([]bool{7: true, 8: false})
			byBins, byValues := g.Grow(d.lambda, d.second, rows), e.Grow(d.lambda, d.second, rows)
			if byValues.Leaves < 8 || !reflect.DeepEqual(parts(byBins.Leaves, g.Rows), parts(byValues.Leaves, e.Rows)) {
				t.Fatalf("%+v: %d leaves by histograms and %d by exact splits, which are others", o, byBins.Leaves, byValues.Leaves)
			}
			a, b := make([]float64, 900), make([]float64, 900)
			g.Add(a, g.Values(d.lambda, d.second))
			e.Add(b, e.Values(d.lambda, d.second))
			inBag := make([]bool, 900)
			for _, r := range bag {
				inBag[r] = rows != nil
			}
			for i := range a {
				// Others may fall elsewhere: thresholds lie halfway to another document's value. Bounds of
				// monotone trees come from sums that are rounded to integers.
				if in := rows == nil || inBag[i]; math.Abs(a[i]-b[i]) > 1e-6 && in {
					t.Fatalf("%+v: document %d has %v by histograms, %v by exact splits", o, i, a[i], b[i])
				}
				if leaf := byValues.Leaf(d.row(i)); b[i] != e.Values(d.lambda, d.second)[leaf] {
					t.Fatalf("%+v: document %d has %v, its leaf %d another value", o, i, b[i], leaf)
				}
			}
		}
	}
}

// Exact splits are the best of all, by every value, where there are more of them than bins.
func TestExactSplitsAreTheBest(t *testing.T) {
	for seed, o := range []Options{{Leaves: 8}, {Leaves: 8, L2: 3, L1: 0.5}, {Leaves: 12, LeafDocuments: 15, Growth: DepthWise}, {Leaves: 12, LeafCurvature: 12}} {
		d := makeData(300, 7, uint64(seed))
		m := d.matrix(t, 255, 1)
		for f := range m.bins.cuts { // every value is a cut
			m.bins.cuts[f] = nil
			for i := range 300 {
				if v := d.row(i)[f]; v == v {
					m.bins.cuts[f] = append(m.bins.cuts[f], v)
				}
			}
		}
		grown := d.exact(t, o).Grow(d.lambda, d.second, nil)
		if len(grown.Nodes) < 3 {
			t.Fatalf("%+v: %d nodes", o, len(grown.Nodes))
		}
		var check func(at int, rows []int)
		check = func(at int, rows []int) {
			if at < 0 {
				return
			}
			n := grown.Nodes[at]
			left, right := d.part(rows, n.Feature, n.Threshold, n.MissingLeft)
			best, _ := exactSplit(&d, m, rows, o)
			// Not the documents are compared: one without gradient may be on either side.
			if gain, allowed := d.gainOf(left, right, o); !allowed || gain < best-1e-9 {
				t.Errorf("%+v: node %d gains %v (allowed: %t), the best division %v", o, at, gain, allowed, best)
			}
			check(n.Left, left)
			check(n.Right, right)
		}
		check(0, numbers(300))
	}
}

// Exact trees keep the limits and constraints that are set, do not depend on workers, and find
// the same random thresholds whatever was divided before.
func TestExactTreesKeepTheirLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawData(t)
		o := Options{
			Growth: Growth(rapid.IntRange(0, 1).Draw(t, "growth")), Leaves: rapid.IntRange(2, 50).Draw(t, "leaves"), Depth: rapid.IntRange(0, 4).Draw(t, "depth"),
			LeafDocuments: rapid.IntRange(0, 5).Draw(t, "documents"), LeafCurvature: float64(rapid.IntRange(0, 3).Draw(t, "curvature")),
			L2: float64(rapid.IntRange(0, 2).Draw(t, "L2")), RandomThresholds: rapid.Bool().Draw(t, "random"), Workers: 1,
		}
		if rapid.Bool().Draw(t, "constrained") {
			drawConstraints(t, &o, make([]bool, d.features))
		}
		g, err := NewExact(d.x, d.features, o)
		if err != nil {
			t.Fatal(err)
		}
		grown := g.Grow(d.lambda, d.second, nil)
		checkLimits(t, &d, grown, g.Rows, g.Values(d.lambda, d.second), o)
		o.Workers = 3
		if g, err = NewExact(d.x, d.features, o); err != nil {
			t.Fatal(err)
		}
		g.Grow(d.second, d.second, []uint32{0})
		if again := g.Grow(d.lambda, d.second, nil); !reflect.DeepEqual(again, grown) {
			t.Fatalf("three workers grow %+v, one %+v", again, grown)
		}
	})
}

// A random threshold is drawn evenly between the least and the largest value.
func TestExactRandomThresholds(t *testing.T) {
	d := made{features: 1, x: []float32{0, 1, 4, 10}, lambda: []float64{1, 2, -1, -2}, second: []float64{1, 1, 1, 1}}
	g := d.exact(t, Options{Leaves: 2, RandomThresholds: true})
	const trees = 4000
	var below [3]int
	for seed := range uint64(trees) {
		g.Seed(seed)
		switch at := g.Grow(d.lambda, d.second, nil).Nodes[0].Threshold; {
		case at < 1:
			below[0]++
		case at < 4:
			below[1]++
		default:
			below[2]++
		}
	}
	for i, part := range []float64{0.1, 0.3, 0.6} {
		if want := part * trees; math.Abs(float64(below[i])-want) > 5*math.Sqrt(want*(1-part)) {
			t.Errorf("thresholds fell %v times between the values, expected .1, .3 and .6 of %d", below, trees)
			break
		}
	}
	if _, err := NewExact(d.x, 1, Options{Leaves: 4, Growth: Symmetric}); err == nil {
		t.Error("symmetric growth is accepted")
	}
}
