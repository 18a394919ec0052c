package tree

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// made is a data set with gradients. Features have few values, many, one alone, or missing
// values; every tenth document has neither gradient nor second derivative.
type made struct {
	x              []float32
	features       int
	lambda, second []float64
}

func makeData(rows, features int, seed uint64) made {
	rng := rand.New(rand.NewPCG(seed, 7))
	d := made{x: make([]float32, rows*features), features: features, lambda: make([]float64, rows), second: make([]float64, rows)}
	for i := range rows {
		for f := range features {
			v := float32(rng.NormFloat64())
			switch f % 5 {
			case 1:
				v = float32(rng.IntN(4))
			case 2:
				v = 3
			case 3:
				if rng.IntN(3) == 0 {
					v = float32(math.NaN())
				}
			}
			d.x[i*features+f] = v
		}
		if i%10 > 0 {
			first := float64(d.x[i*features])
			d.lambda[i] = math.Sin(2*first) + 0.5*rng.NormFloat64()
			d.second[i] = 0.1 + rng.Float64()
			if features > 3 && d.x[i*features+3] != d.x[i*features+3] {
				d.lambda[i] += 1
			}
		}
	}
	return d
}

func (d *made) row(i int) []float32 { return d.x[i*d.features : (i+1)*d.features] }

func (d *made) matrix(t testing.TB, bins, workers int) *Matrix {
	b, err := NewBins(d.x, d.features, BinOptions{Most: bins, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return NewMatrix(d.x, b, workers)
}

// exactSplit looks at every division of some documents by every feature's bins, missing
// values on either side, and returns the largest gain and the documents on the left.
func exactSplit(d *made, m *Matrix, rows []int, o Options) (best float64, left []int) {
	strength := func(g, h float64) float64 {
		switch h += o.L2; {
		case h <= 0:
			return 0
		case g > o.L1:
			g -= o.L1
		case g < -o.L1:
			g += o.L1
		default:
			g = 0
		}
		return g * g / h
	}
	sum := func(rows []int) (g, h float64) {
		for _, i := range rows {
			g, h = g+d.lambda[i], h+d.second[i]
		}
		return g, h
	}
	all, allH := sum(rows)
	best = o.LeastGain
	for f := range d.features {
		for _, cut := range append(slices.Clone(m.bins.cuts[f]), math.MaxFloat32) {
			for _, missingLeft := range []bool{false, true} {
				var a, b []int
				for _, i := range rows {
					if v := d.row(i)[f]; v <= cut || v != v && missingLeft {
						a = append(a, i)
					} else {
						b = append(b, i)
					}
				}
				ga, ha := sum(a)
				gb, hb := sum(b)
				if len(a) < o.LeafDocuments || len(b) < o.LeafDocuments || ha < o.LeafCurvature || hb < o.LeafCurvature || len(a) == 0 || len(b) == 0 {
					continue
				}
				if gain := strength(ga, ha) + strength(gb, hb) - strength(all, allH); gain > best+1e-9 {
					best, left = gain, a
				}
			}
		}
	}
	return best, left
}

// Every node of a tree is the best division of its documents that there is, by looking at all
// of them in floating point.
func TestSplitsAreTheBest(t *testing.T) {
	for seed, o := range []Options{
		{Leaves: 8}, {Leaves: 8, L2: 3, L1: 0.5}, {Leaves: 12, LeafDocuments: 15}, {Leaves: 12, LeafCurvature: 12}, {Leaves: 30, LeastGain: 4}, {Leaves: 16, Depth: 3},
	} {
		d := makeData(300, 7, uint64(seed))
		m := d.matrix(t, 16, 1)
		g, err := NewGrower(m, o)
		if err != nil {
			t.Fatal(err)
		}
		grown := g.Grow(d.lambda, d.second, nil)
		if len(grown.Nodes) < 3 {
			t.Fatalf("%+v: %d nodes", o, len(grown.Nodes))
		}
		all := make([]int, 300)
		for i := range all {
			all[i] = i
		}
		checkNode(t, &d, m, grown, 0, all, o)
	}
}

func checkNode(t *testing.T, d *made, m *Matrix, grown *Tree, at int, rows []int, o Options) {
	t.Helper()
	if at < 0 {
		return
	}
	n := grown.Nodes[at]
	var left, right []int
	for _, i := range rows {
		if v := d.row(i)[n.Feature]; v <= n.Threshold || v != v && n.MissingLeft {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	gain, want := exactSplit(d, m, rows, o)
	if !slices.Equal(left, want) && !slices.Equal(right, want) {
		t.Errorf("%+v: node %d divides %d documents into %d and %d, the best division, which gains %v, into %d and %d",
			o, at, len(rows), len(left), len(right), gain, len(want), len(rows)-len(want))
	}
	checkNode(t, d, m, grown, n.Left, left, o)
	checkNode(t, d, m, grown, n.Right, right, o)
}

// A tree is grown until no leaf can be divided to any use, and leaf by leaf: with fewer leaves
// it is the beginning of a larger one.
func TestGrowthIsBestFirst(t *testing.T) {
	d := makeData(400, 6, 3)
	m := d.matrix(t, 255, 1)
	grow := func(leaves int) *Tree {
		g, err := NewGrower(m, Options{Leaves: leaves})
		if err != nil {
			t.Fatal(err)
		}
		return g.Grow(d.lambda, d.second, nil)
	}
	small, large := grow(5), grow(20)
	for i, n := range small.Nodes {
		l := large.Nodes[i]
		if n.Feature != l.Feature || n.Threshold != l.Threshold || n.MissingLeft != l.MissingLeft {
			t.Errorf("node %d of 5 leaves is %+v, of 20 leaves %+v", i, n, l)
		}
	}
	full := grow(1000)
	if full.Leaves >= 400 || full.Leaves < 100 {
		t.Errorf("%d leaves without limit", full.Leaves)
	}
}

// The documents of a leaf are those that the tree brings there by their features, their order
// kept; values are Newton steps, and Add gives every document its leaf's, in the bag or out.
func TestLeavesHoldTheirDocuments(t *testing.T) {
	d := makeData(9000, 6, 4)
	m := d.matrix(t, 64, 2)
	g, err := NewGrower(m, Options{Leaves: 13, L2: 0.5, L1: 0.1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	var bag []uint32
	for i := range uint32(9000) {
		if i%3 > 0 {
			bag = append(bag, i)
		}
	}
	for _, rows := range [][]uint32{nil, bag} {
		grown := g.Grow(d.lambda, d.second, rows)
		values := g.Values(d.lambda, d.second)
		if grown.Leaves != 13 || len(values) != 13 {
			t.Fatalf("%d leaves, %d values", grown.Leaves, len(values))
		}
		scores := make([]float64, 9000)
		g.Add(scores, values)
		seen := 0
		for l := range grown.Leaves {
			var gradient, curvature float64
			for i, r := range g.Rows(l) {
				seen++
				if at := grown.Leaf(d.row(int(r))); at != l {
					t.Fatalf("row %d is in leaf %d, the tree says %d", r, l, at)
				}
				if i > 0 && g.Rows(l)[i-1] >= r {
					t.Fatalf("leaf %d: rows out of order", l)
				}
				gradient, curvature = gradient+d.lambda[r], curvature+d.second[r]
			}
			if want := g.soft(gradient) / (curvature + 0.5); math.Abs(values[l]-want) > 1e-12 {
				t.Errorf("leaf %d has the value %v, expected %v", l, values[l], want)
			}
		}
		if want := len(rows); rows == nil && seen != 9000 || rows != nil && seen != want {
			t.Errorf("%d documents in leaves", seen)
		}
		for i := range scores {
			if want := values[grown.Leaf(d.row(i))]; scores[i] != want {
				t.Fatalf("row %d has %v, expected %v", i, scores[i], want)
			}
		}
	}
}

// Same data, same tree, same bits, for any number of workers; also of a grower that has grown
// other trees before.
func TestTreesAreDeterministic(t *testing.T) {
	d := makeData(40000, 30, 5)
	grow := func(o Options, workers int, before bool) (*Tree, []float64) {
		o.Leaves, o.LeafDocuments, o.Workers = 40, 20, workers
		g, err := NewGrower(d.matrix(t, 255, workers), o)
		if err != nil {
			t.Fatal(err)
		}
		if before {
			g.Grow(d.second, d.second, []uint32{1, 5, 7, 11, 13, 17, 19})
		}
		grown := g.Grow(d.lambda, d.second, nil)
		return grown, g.Values(d.lambda, d.second)
	}
	for _, o := range []Options{{}, {Growth: DepthWise}, {Growth: Symmetric}, {RandomThresholds: true}, {Growth: Symmetric, RandomThresholds: true},
		{Monotone: slices.Repeat([]int8{-1, 0, 1}, 10), Interactions: [][]int{{0, 3, 4}, {3, 4, 5, 6, 7}}}} {
		first, values := grow(o, 1, false)
		for _, workers := range []int{1, 2, 8} { // two share rows, eight share blocks
			other, otherValues := grow(o, workers, true)
			if !reflect.DeepEqual(first.Nodes, other.Nodes) || !slices.Equal(values, otherValues) {
				t.Errorf("%+v: %d workers grow another tree", o, workers)
			}
		}
	}
}

// A histogram less its smaller part is that of the larger one, to the bit, and the sums of
// integers are within half a unit a document of the true ones, however the gradients are
// spread.
func TestQuantised(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, spread := range []float64{0, 1, 8} {
		const n = 5000
		lambda, second, rows := make([]float64, n), make([]float64, n), make([]uint32, n)
		var g, h float64
		for i := range lambda {
			lambda[i], second[i], rows[i] = 1e-7*rng.NormFloat64()*math.Exp(spread*rng.NormFloat64()), 1e5*math.Exp(spread*rng.NormFloat64()), uint32(i)
			g, h = g+lambda[i], h+second[i]
		}
		packed := make([]sums, n)
		q := quantise(packed, rows, lambda, second)
		var all, positive sums
		for i, s := range packed {
			all += s
			if lambda[i] > 0 {
				positive += s
			}
			if math.Abs(float64(s.gradient())*q.gradient-lambda[i]) > 0.51*q.gradient || math.Abs(float64(s.curvature())*q.curvature-second[i]) > 0.51*q.curvature {
				t.Fatalf("spread %v: %v and %v became %v and %v", spread, lambda[i], second[i], float64(s.gradient())*q.gradient, float64(s.curvature())*q.curvature)
			}
		}
		if math.Abs(float64(all.gradient())*q.gradient-g) > n*q.gradient/2 || math.Abs(float64(all.curvature())*q.curvature-h) > n*q.curvature/2 {
			t.Errorf("spread %v: sums %v and %v became %v and %v", spread, g, h, float64(all.gradient())*q.gradient, float64(all.curvature())*q.curvature)
		}
		if positive.gradient() < 0 {
			t.Errorf("spread %v: the sum of positive gradients is %d", spread, positive.gradient())
		}
	}
	if q := quantise(make([]sums, 2), []uint32{0, 1}, []float64{0, 0}, []float64{0, 0}); q != (quanta{gradient: 1, curvature: 1}) {
		t.Errorf("units of nothing: %+v", q)
	}
}

// One split separates what one split can, whatever stands beside it: constant features, one
// document, no gradient at all, all documents alike.
func TestEdges(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		x        []float32
		features int
		lambda   []float64
		leaves   int
	}{
		"separable":                {[]float32{5, 1, 5, 2, 5, 3, 5, 4}, 2, []float64{-1, -1, 1, 1}, 2},
		"by missing values":        {[]float32{nan, 1, nan, 1}, 1, []float64{1, -1, 1, -1}, 2},
		"missing with the largest": {[]float32{nan, 1, 2, nan, 1, 2}, 1, []float64{1, -1, 1, 1, -1, 1}, 2},
		"one document":             {[]float32{1, 2}, 2, []float64{1}, 1},
		"no gradient":              {[]float32{1, 2, 3}, 1, []float64{0, 0, 0}, 1},
		"alike":                    {[]float32{1, 1, 1}, 1, []float64{1, 0, -1}, 1},
		"all missing":              {[]float32{nan, nan, nan}, 1, []float64{1, 0, -1}, 1},
		"infinite thresholds":      {[]float32{-math.MaxFloat32, math.MaxFloat32}, 1, []float64{1, -1}, 2},
	} {
		d := made{x: c.x, features: c.features, lambda: c.lambda, second: make([]float64, len(c.lambda))}
		for i := range d.second {
			d.second[i] = 1
		}
		for _, growth := range []Growth{LeafWise, DepthWise, Symmetric} {
			g, err := NewGrower(d.matrix(t, 255, 1), Options{Growth: growth, Leaves: 10, LeastGain: 1e-9})
			if err != nil {
				t.Fatal(err)
			}
			grown := g.Grow(d.lambda, d.second, nil)
			if grown.Leaves != c.leaves {
				t.Errorf("%s, growth %d: %d leaves, expected %d", name, growth, grown.Leaves, c.leaves)
			}
			values := g.Values(d.lambda, d.second)
			for i, l := range c.lambda {
				if v := values[grown.Leaf(d.row(i))]; c.leaves == 2 && v != l {
					t.Errorf("%s, growth %d: document %d has %v, expected %v", name, growth, i, v, l)
				}
			}
		}
		e := d.exact(t, Options{Leaves: 10, LeastGain: 1e-9})
		exact := e.Grow(d.lambda, d.second, nil)
		values := e.Values(d.lambda, d.second)
		for i, l := range c.lambda {
			if v := values[exact.Leaf(d.row(i))]; exact.Leaves != c.leaves || c.leaves == 2 && v != l {
				t.Errorf("%s, exact: document %d has %v, expected %v, of %d leaves", name, i, v, l, exact.Leaves)
			}
		}
	}
	for _, o := range []Options{{}, {Leaves: 2, Growth: -1}, {Leaves: 2, Growth: 3}, {Leaves: 1}, {Leaves: 2, Depth: -1}, {Leaves: 2, LeafDocuments: -1}, {Leaves: 2, L2: -1}, {Leaves: 2, L1: math.NaN()}, {Leaves: 2, LeastGain: math.Inf(1)}} {
		if _, err := NewGrower(&Matrix{}, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
