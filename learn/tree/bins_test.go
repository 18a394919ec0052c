package tree

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Bins have about equally many documents, a value with more than its share one of its own,
// and every value lies between the bounds of its bin.
func TestBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n = 20000
	x := make([]float32, n)
	for i := range x {
		if x[i] = float32(rng.NormFloat64()); rng.IntN(2) == 0 {
			x[i] = 0
		}
	}
	b, err := NewBins(x, 1, BinOptions{Most: 50})
	if err != nil {
		t.Fatal(err)
	}
	cuts := b.cuts[0]
	if len(cuts) < 40 || len(cuts) > 49 || !slices.IsSorted(cuts) {
		t.Fatalf("%d cuts: %v", len(cuts), cuts)
	}
	counts := make([]int, 256)
	for _, v := range x {
		c := b.Code(0, v)
		counts[c]++
		if int(c) < len(cuts) && v > cuts[c] || c > 0 && v <= cuts[c-1] {
			t.Fatalf("%v has code %d of %v", v, c, cuts)
		}
	}
	for c, count := range counts[:len(cuts)+1] {
		if zero := int(b.Code(0, 0)) == c; zero && count < n/2-300 || !zero && (count > 600 || count < 50) {
			t.Errorf("bin %d of %d has %d documents", c, len(cuts)+1, count)
		}
	}
	for _, bad := range []struct{ values, features, most int }{{5, 2, 255}, {4, 2, 1}, {4, 2, 256}, {4, 0, 255}} {
		if _, err := NewBins(make([]float32, bad.values), bad.features, BinOptions{Most: bad.most}); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// Weights count as that many documents: bins by weights are those of rows that are there as
// often.
func TestWeightedBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	var x, repeated []float32
	var weights []float64
	for range 3000 {
		v, n := float32(rng.NormFloat64()), rng.IntN(5)
		x, weights = append(x, v), append(weights, float64(n))
		for range n {
			repeated = append(repeated, v)
		}
	}
	weighted, err := NewBins(x, 1, BinOptions{Most: 20, Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := NewBins(repeated, 1, BinOptions{Most: 20})
	if err != nil {
		t.Fatal(err)
	}
	// A bound lies between neighbouring values, and those of weight 0 are values, too.
	for i, v := range x {
		if a, b := weighted.Code(0, v), plain.Code(0, v); a != b && weights[i] > 0 {
			t.Fatalf("%v of weight %v has code %d by weights, %d by rows", v, weights[i], a, b)
		}
	}
	if len(weighted.cuts[0]) != len(plain.cuts[0]) || len(plain.cuts[0]) < 15 {
		t.Errorf("%d cuts by weights, %d by rows", len(weighted.cuts[0]), len(plain.cuts[0]))
	}
	for _, o := range []BinOptions{{Weights: []float64{1}}, {Weights: []float64{1, -1}}, {Weights: []float64{1, math.NaN()}}, {Categorical: []bool{true, false}}} {
		o.Most = 4
		if _, err := NewBins([]float32{1, 2}, 1, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// The categories of the largest weight have a code each; others, and those never seen, have
// that of missing values.
func TestCategoricalBins(t *testing.T) {
	nan := float32(math.NaN())
	x := []float32{7, 7, 7, -2, -2, 5, 5, 9, 0.5, nan, nan, nan}
	for most, want := range map[int]map[float32]uint8{
		3: {-2: 0, 5: 1, 7: 2, 9: 255, 0.5: 255, 6: 255},
		4: {-2: 0, 0.5: 1, 5: 2, 7: 3, 9: 255, 100: 255, -3: 255},
		9: {-2: 0, 0.5: 1, 5: 2, 7: 3, 9: 4, 1: 255, nan: 255},
	} {
		b, err := NewBins(x, 1, BinOptions{Most: most, Categorical: []bool{true}})
		if err != nil {
			t.Fatal(err)
		}
		for v, code := range want {
			if got := b.Code(0, v); got != code {
				t.Errorf("%d categories: %v has code %d, expected %d", most, v, got, code)
			}
		}
	}
	b, err := NewBins(x, 1, BinOptions{Most: 2, Categorical: []bool{true}, Weights: []float64{0, 0, 0, 1, 1, 1, 1, 1, 9, 1, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if a, z := b.Code(0, 0.5), b.Code(0, -2); a != 1 || z != 0 {
		t.Errorf("by weights the codes are %d and %d", a, z)
	}
}

// Claim: bins are the same if features are loaded some at a time, and of more rows than are looked at those alone;
// so are codes if rows come in parts, in any order, and in a file.
func TestBinsAndCodesOfParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	const rows, features = 2*sampleRows + 17, 11
	x := make([]float32, rows*features)
	for i := range x {
		switch x[i] = float32(rng.NormFloat64()); rng.IntN(9) {
		case 0:
			x[i] = float32(rng.IntN(40))
		case 1:
			x[i] = float32(math.NaN())
		}
		if i%features == 5 {
			x[i] = 1
		}
	}
	weights, categorical := make([]float64, rows), make([]bool, features)
	for i := range weights {
		weights[i] = float64(rng.IntN(3))
	}
	categorical[3] = true
	for name, o := range map[string]BinOptions{"plain": {Most: 255}, "weighted": {Most: 30, Weights: weights}, "categories": {Most: 20, Categorical: categorical}} {
		want, err := NewBins(x, features, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{1, 4, features} {
			got, err := NewBinsOf(rows, features, most, o, func(part []float32, from, to int) {
				for row := 0; row < rows; row += Step(rows) {
					part = part[copy(part, x[row*features+from:row*features+to]):]
				}
				if len(part) > 0 {
					t.Errorf("%d values too many", len(part))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got.cuts, want.cuts, slices.Equal) || !slices.EqualFunc(got.categories, want.categories, slices.Equal) {
				t.Errorf("%s, %d features together: found other bins", name, most)
			}
		}
		matrix := NewMatrix(x, want, 2)
		c := NewCoder(want, rows, 2)
		const part = 100_003
		for from := rows / part * part; from >= 0; from -= part {
			c.Code(from/part%2, from, x[from*features:min(rows, from+part)*features])
		}
		m := c.Matrix()
		if !slices.Equal(m.words, matrix.words) || !slices.Equal(m.has, matrix.has) || !slices.Equal(m.common, matrix.common) || !slices.Equal(m.slots, matrix.slots) {
			t.Errorf("%s: found other codes", name)
		}
	}
}
