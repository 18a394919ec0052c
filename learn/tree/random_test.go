package tree

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// The search through an order of thresholds finds, where all are allowed, what the plain one
// does.
func TestBothSearchesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 3000 {
		var of [256]sums
		cuts := 1 + rng.IntN(20)
		s := searcher{Options: &Options{L2: float64(rng.IntN(2)), LeafCurvature: float64(rng.IntN(4))}, unit: quanta{gradient: 1, curvature: 1}}
		var counts [256]uint32
		add := func(c int) {
			n := rng.IntN(4)
			counts[c] = uint32(n)
			s.all += counts[c]
			for range n {
				of[c] += sums(uint64(int64(rng.IntN(9)-4))<<32 + uint64(rng.IntN(3)))
			}
			s.total += of[c]
		}
		for c := range cuts + 1 {
			add(c)
		}
		if rng.IntN(2) == 0 {
			add(missingCode)
		}
		s.parent = s.strength(float64(s.total.gradient()), float64(s.total.curvature()))
		if rng.IntN(2) == 0 {
			s.counts, s.leastDoc = &counts, uint32(1+rng.IntN(4))
		}
		c := candidates{order: identity[:cuts+1], to: cuts + 1}
		if a, b := s.best(2, &of, cuts), s.bestAmong(2, &of, &c, 0); a != b {
			t.Fatalf("%+v, %d cuts, %v: the plain search finds %+v, the other one %+v", s, cuts, of[:cuts+1], a, b)
		}
	}
}

// Random thresholds are drawn evenly among those that divide a leaf; of the features' ones the
// best is taken, and missing values go to the better side.
func TestRandomThresholds(t *testing.T) {
	nan := float32(math.NaN())
	d := made{features: 2, x: []float32{1, 1, 2, 2, 3, nan, 5, 1, 9, 2}, lambda: []float64{-1, 1, 4, -1, 1}, second: []float64{1, 1, 1, 1, 1}}
	m := d.matrix(t, 255, 1)
	strength := func(rows []int) (s float64) {
		for _, i := range rows {
			s += d.lambda[i]
		}
		return s * s / float64(max(1, len(rows)))
	}
	for _, growth := range []Growth{LeafWise, Symmetric} {
		g, err := NewGrower(m, Options{Growth: growth, Leaves: 2, RandomThresholds: true})
		if err != nil {
			t.Fatal(err)
		}
		const trees = 8000
		counts := map[float32]int{}
		for seed := range uint64(trees) {
			g.Seed(seed)
			n := g.Grow(d.lambda, d.second, nil).Nodes[0]
			if n.Feature == 0 {
				counts[n.Threshold]++
			} else {
				counts[-n.Threshold]++
			}
		}
		// By the definition: each feature's threshold is one of those that divide the documents, the
		// second's, with its missing values, also the one above all.
		want := map[float32]float64{}
		for _, first := range m.bins.cuts[0] {
			for _, second := range []float32{1.5, math.MaxFloat32} {
				best, which := -1.0, float32(0)
				for f, cut := range []float32{first, second} {
					for _, missingLeft := range []bool{false, true} {
						a, b := d.part(numbers(5), f, cut, missingLeft)
						if gain := strength(a) + strength(b); len(a) > 0 && len(b) > 0 && gain > best+1e-9 {
							best, which = gain, []float32{cut, -cut}[f]
						}
					}
				}
				want[which] += trees / 8
			}
		}
		for cut, n := range want {
			if math.Abs(float64(counts[cut])-n) > 5*math.Sqrt(n) {
				t.Errorf("growth %d: threshold %v was taken %d times, expected about %v; all are %v", growth, cut, counts[cut], n, counts)
			}
			delete(counts, cut)
		}
		if len(counts) > 0 {
			t.Errorf("growth %d: found the thresholds %v, too", growth, counts)
		}
	}
}

// What is drawn for a leaf depends on the path to it, not on what was divided before it.
func TestRandomThresholdsBelongToTheirLeaf(t *testing.T) {
	d := makeData(600, 6, 2)
	m := d.matrix(t, 100, 1)
	paths := func(growth Growth) map[string]Node {
		g, err := NewGrower(m, Options{Growth: growth, Leaves: 600, RandomThresholds: true, LeafDocuments: 20})
		if err != nil {
			t.Fatal(err)
		}
		g.Seed(5)
		grown := g.Grow(d.lambda, d.second, nil)
		found := map[string]Node{}
		var walk func(at int, path string)
		walk = func(at int, path string) {
			if at < 0 {
				return
			}
			n := grown.Nodes[at]
			walk(n.Left, path+"l")
			walk(n.Right, path+"r")
			n.Left, n.Right = 0, 0
			found[path] = n
		}
		walk(0, "")
		return found
	}
	leafWise, depthWise := paths(LeafWise), paths(DepthWise)
	if len(leafWise) < 10 || len(leafWise) != len(depthWise) {
		t.Fatalf("%d and %d nodes", len(leafWise), len(depthWise))
	}
	for path, n := range leafWise {
		if !reflect.DeepEqual(depthWise[path], n) {
			t.Errorf("node %q is %+v leaf-wise, %+v depth-wise", path, n, depthWise[path])
		}
	}
}
