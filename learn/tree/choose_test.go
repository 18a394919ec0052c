package tree

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// A tree is the same whether the documents of a split are counted when a leaf gets it or when the
// leaf is divided by it, also where missing values have no gradient and are known by counts alone.
func TestCountingLaterMakesTheSameTree(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	failed := 0
	for _, o := range []Options{
		{Leaves: 20, LeafDocuments: 30}, {Leaves: 60, LeafDocuments: 150}, {Leaves: 40, LeafDocuments: 60, Growth: DepthWise},
		{Leaves: 20, LeafDocuments: 60, RandomThresholds: true}, {Leaves: 20, LeafDocuments: 50, Monotone: []int8{1, 0, 0, -1, 0, 0, 1}},
	} {
		for seed := range uint64(20) {
			d := makeData(3000, 7, seed)
			for i := range d.lambda { // a few documents have all the gradient: their splits are tempting
				if d.lambda[i] *= math.Exp(3 * rng.NormFloat64()); i%5 > 0 {
					d.lambda[i], d.second[i] = 0, 0
				}
			}
			m := d.matrix(t, 60, 1)
			var trees [2]*Tree
			for later := range trees {
				g, err := NewGrower(m, o)
				if err != nil {
					t.Fatal(err)
				}
				g.Seed(seed)
				if later == 1 && !o.RandomThresholds {
					g.leaves = make([]leaf, 1) // as after a tree in which no split failed
				}
				trees[later] = g.Grow(d.lambda, d.second, nil)
				failed += g.failed
			}
			if !reflect.DeepEqual(trees[0], trees[1]) {
				t.Fatalf("%+v, data %d: counting later makes another tree", o, seed)
			}
		}
	}
	if failed == 0 {
		t.Error("no split left too few documents: this shows nothing")
	}
}

// Random thresholds depend on what is counted, so that they are counted at once.
func TestRandomThresholdsCountAtOnce(t *testing.T) {
	d := makeData(500, 7, 1)
	g, err := NewGrower(d.matrix(t, 60, 1), Options{Leaves: 8, LeafDocuments: 2, RandomThresholds: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		g.failed = 0
		if g.Grow(d.lambda, d.second, nil); !g.countAtOnce {
			t.Fatal("documents are counted later")
		}
	}
}
