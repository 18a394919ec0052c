package tree

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
)

// Claim: trees by exact splits whose columns are in a file are those whose columns are in memory, with the same values
// and documents in the same leaves, also of those that taught no tree: under all options, tree after tree, for any
// number of workers. Leaves begin and end within pages; some values are missing, some are −0.
func TestStoredExactIsExact(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const rows = 12_000
	rng := rand.New(rand.NewPCG(8, 1))
	d := made{features: 7}
	for i := range rows {
		d.lambda, d.second = append(d.lambda, rng.NormFloat64()), append(d.second, 0.1+rng.Float64())
		for f := range d.features {
			v := float32(rng.NormFloat64())
			switch {
			case f == 1:
				v = float32(rng.IntN(5) - 2)
				if v == 0 && rng.IntN(2) == 0 {
					v = float32(math.Copysign(0, -1))
				}
			case f == 2 && rng.IntN(3) == 0:
				v = float32(math.NaN())
			case f == 3:
				v = 4
			case f == 4:
				v = float32(math.NaN())
			}
			d.x = append(d.x, v)
		}
		d.lambda[i] += math.Sin(float64(d.x[i*7])) + float64(d.x[i*7+1])/3
	}
	var bag []uint32
	for i := range uint32(rows) {
		if i%5 > 1 {
			bag = append(bag, i)
		}
	}
	column := make([]float32, rows)
	for i, o := range []Options{
		{}, {Growth: DepthWise, Depth: 4}, {L1: 1, L2: 2, LeafDocuments: 40}, {RandomThresholds: true},
		{Monotone: []int8{1, -1, 0, 0, 0, 1, 0}}, {Interactions: [][]int{{0, 2}, {1, 2, 6}, {5}}}, {Leaves: 200},
	} {
		o.Leaves = max(o.Leaves, 20)
		held := d.exact(t, o)
		for _, workers := range [][]int{{1, 3}, {3}}[min(i, 1)] {
			o.Workers = workers
			stored, err := NewStoredExact(rows, d.features, workers, o, func(f int) []float32 {
				for i := range column {
					column[i] = d.x[i*d.features+f]
				}
				return column
			})
			if err != nil {
				t.Fatal(err)
			}
			for k, of := range [][]uint32{nil, bag, nil, {7}} {
				for _, g := range []*Exact{held, stored} {
					g.Seed(uint64(k))
					g.Bar([]bool{6: k == 2})
				}
				want, got := held.Grow(d.lambda, d.second, of), stored.Grow(d.lambda, d.second, of)
				if !reflect.DeepEqual(got, want) || k < 3 && want.Leaves < 8 {
					t.Fatalf("%+v, tree %d: %d leaves from a file and %d from memory, which are others", o, k, got.Leaves, want.Leaves)
				}
				values := held.Values(d.lambda, d.second)
				if !slices.Equal(stored.Values(d.lambda, d.second), values) {
					t.Fatalf("%+v, tree %d: other values", o, k)
				}
				for range 2 {
					a, b := make([]float64, rows), make([]float64, rows)
					held.Add(a, values)
					stored.Add(b, values)
					if !slices.Equal(a, b) {
						t.Fatalf("%+v, tree %d: other scores", o, k)
					}
				}
			}
			if err := stored.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}
