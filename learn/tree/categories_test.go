package tree

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// makeCategories returns data of one feature with six categories, two of them rare, and missing
// values, and one of numbers.
func makeCategories(rows int, seed uint64) made {
	rng := rand.New(rand.NewPCG(seed, 5))
	d := made{features: 2, lambda: make([]float64, rows), second: make([]float64, rows)}
	effect := []float64{1, -1, 0.3, 2, -0.5, 0.1}
	for i := range rows {
		c := min(rng.IntN(6), rng.IntN(7))
		v := float32(10*c) - 3
		if d.lambda[i], d.second[i] = effect[c]+rng.NormFloat64(), 0.2+rng.Float64(); rng.IntN(8) == 0 {
			v, d.lambda[i] = float32(math.NaN()), 0.7
		}
		d.x = append(d.x, v, float32(rng.IntN(6)))
	}
	return d
}

func (d *made) categorical(t *testing.T, most int) *Matrix {
	b, err := NewBins(d.x, d.features, BinOptions{Most: most, Categorical: []bool{true, false}})
	if err != nil {
		t.Fatal(err)
	}
	return NewMatrix(d.x, b, 1)
}

// Without smoothing no division of the categories into two sets, missing values with either,
// gains more than that of a node, by looking at all sets.
func TestCategoriesAreDividedBest(t *testing.T) {
	for seed, o := range []Options{{Leaves: 8}, {Leaves: 8, LeafDocuments: 10}, {Leaves: 8, Growth: DepthWise}} {
		d := makeCategories(200, uint64(seed))
		m := d.categorical(t, 100)
		g, err := NewGrower(m, o)
		if err != nil {
			t.Fatal(err)
		}
		grown, byCategory := g.Grow(d.lambda, d.second, nil), 0
		var check func(at int, rows []int)
		check = func(at int, rows []int) {
			if at < 0 {
				return
			}
			n := grown.Nodes[at]
			best := 0.0
			for set := range 1 << 7 { // missing values are the last
				var a, b []int
				for _, i := range rows {
					c := 6
					if v := d.row(i)[0]; v == v {
						c = int(v+3) / 10
					}
					if set>>c&1 != 0 {
						a = append(a, i)
					} else {
						b = append(b, i)
					}
				}
				if gain, allowed := d.gainOf(a, b, o); allowed {
					best = max(best, gain)
				}
			}
			for _, cut := range m.bins.cuts[1] {
				a, b := d.part(rows, 1, cut, false)
				if gain, allowed := d.gainOf(a, b, o); allowed {
					best = max(best, gain)
				}
			}
			var a, b []int
			for _, i := range rows {
				if v := d.row(i)[n.Feature]; n.Categories != nil && slices.Contains(n.Categories, v) || n.Categories == nil && v <= n.Threshold {
					a = append(a, i)
				} else {
					b = append(b, i)
				}
			}
			if n.Categories != nil {
				byCategory++
			}
			// With a least number of documents a division that is none of the order may be the best.
			if gain, allowed := d.gainOf(a, b, o); !allowed || gain < best-1e-6 && o.LeafDocuments == 0 || gain < 0.8*best {
				t.Errorf("%+v: node %d, %+v, gains %v, the best division %v", o, at, n, gain, best)
			}
			check(n.Left, a)
			check(n.Right, b)
		}
		check(0, numbers(200))
		if byCategory < 2 {
			t.Errorf("%+v: %d nodes divide by categories", o, byCategory)
		}
	}
}

// Categories in no order win over numbers that gain more than any cut between categories, and
// less than the best set of them.
func TestSetsWinOverCuts(t *testing.T) {
	d := made{features: 2}
	for i := range 120 {
		c := i % 6
		sign := float64(1 - 2*(c%2))
		d.x = append(d.x, float32(c), float32(i/60))
		d.lambda, d.second = append(d.lambda, sign+0.8*float64(1-2*(i/60))), append(d.second, 1)
	}
	g, err := NewGrower(d.categorical(t, 9), Options{Leaves: 4})
	if err != nil {
		t.Fatal(err)
	}
	root := g.Grow(d.lambda, d.second, nil).Nodes[0]
	if root.Feature != 0 || !slices.Equal(root.Categories, []float32{1, 3, 5}) && !slices.Equal(root.Categories, []float32{0, 2, 4}) {
		t.Errorf("the root is %+v, expected one by the odd categories or the even ones", root)
	}
}

// Categories that λ knows nothing of lose against a number with an effect, however many they are.
func TestManyCategoriesGainNothingByChance(t *testing.T) {
	for _, growth := range []Growth{LeafWise, Symmetric} {
		rng := rand.New(rand.NewPCG(3, 4))
		d := made{features: 2}
		for range 4000 {
			v := float32(rng.NormFloat64())
			d.x = append(d.x, float32(rng.IntN(200)), v)
			d.lambda, d.second = append(d.lambda, float64(0.1*float64(v))+rng.NormFloat64()), append(d.second, 1)
		}
		g, err := NewGrower(d.categorical(t, 255), Options{Leaves: 4, Growth: growth})
		if err != nil {
			t.Fatal(err)
		}
		if root := g.Grow(d.lambda, d.second, nil).Nodes[0]; root.Feature != 1 {
			t.Errorf("growth %v: the root divides by %d random categories", growth, len(root.Categories))
		}
	}
}

// Categories that were never seen, and rare ones without a bin, go where missing values go.
func TestUnseenCategoriesAreMissing(t *testing.T) {
	d := makeCategories(300, 9)
	for _, growth := range []Growth{LeafWise, Symmetric} {
		g, err := NewGrower(d.categorical(t, 4), Options{Leaves: 16, Growth: growth})
		if err != nil {
			t.Fatal(err)
		}
		grown := g.Grow(d.lambda, d.second, nil)
		rare := []float32{-3, 7, 17, 27, 37, 47}
		rare = slices.DeleteFunc(rare, func(v float32) bool { return g.matrix.bins.Code(0, v) != missingCode })
		if len(rare) != 2 {
			t.Fatalf("%v have no bin", rare)
		}
		for _, v := range append(rare, 1e9, 8, -4) {
			for second := float32(0); second < 6; second++ {
				missing := grown.Leaf([]float32{float32(math.NaN()), second})
				if leaf := grown.Leaf([]float32{v, second}); leaf != missing {
					t.Errorf("growth %d: category %v is in leaf %d, missing ones are in %d", growth, v, leaf, missing)
				}
			}
		}
	}
}

// Smoothing pulls categories of few documents to the middle of the order: a category of one
// document with the largest ratio does not stand alone any more.
func TestSmoothingOfCategories(t *testing.T) {
	d := made{features: 1}
	for c, n := range []int{1, 40, 40} {
		for range n {
			d.x, d.lambda, d.second = append(d.x, float32(c)), append(d.lambda, []float64{3, 1, -1}[c]), append(d.second, 1)
		}
	}
	b, err := NewBins(d.x, 1, BinOptions{Most: 10, Categorical: []bool{true}})
	if err != nil {
		t.Fatal(err)
	}
	for smoothing, want := range map[float64][]float32{0: {0}, 10: {1}} {
		var of [256]sums
		var memory [256]uint8
		packed := make([]sums, len(d.lambda))
		m := NewMatrix(d.x, b, 1)
		rows := make([]uint32, len(d.lambda))
		for i := range rows {
			rows[i] = uint32(i)
		}
		unit := quantise(packed, rows, d.lambda, d.second)
		for i := range rows {
			of[m.codeAt(0, uint32(i))] += packed[i]
		}
		order := byRatio(&memory, &of, unit, smoothing)
		if last := order[len(order)-1]; b.categories[0][last] != want[0] {
			t.Errorf("smoothing %v: category %v has the largest ratio, expected %v", smoothing, b.categories[0][last], want[0])
		}
	}
}

// A categorical feature has no order that values could keep.
func TestNoSignOfCategories(t *testing.T) {
	d := makeCategories(50, 1)
	if _, err := NewGrower(d.categorical(t, 9), Options{Leaves: 3, Monotone: []int8{1, 0}}); err == nil {
		t.Error("a sign of a categorical feature is accepted")
	}
	if _, err := NewGrower(d.categorical(t, 9), Options{Leaves: 3, Monotone: []int8{0, 1}}); err != nil {
		t.Error(err)
	}
}
