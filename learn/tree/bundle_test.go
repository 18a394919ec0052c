package tree

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
)

// oneHot returns rows with the one-hot codes of three texts, some counts that are mostly 0, and four numbers, of which
// one is missing at times.
func oneHot(rows int) (x []float32, features int) {
	rng := rand.New(rand.NewPCG(7, 7))
	texts := []int{3, 40, 70}
	features = 3 + 40 + 70 + 10 + 4
	x = make([]float32, rows*features)
	for i := range rows {
		row, at := x[i*features:][:features], 0
		for _, n := range texts {
			row[at+min(rng.IntN(n), rng.IntN(n))] = 1
			at += n
		}
		for range 10 {
			if rng.IntN(4) == 0 {
				row[at] = float32(rng.IntN(300))
			}
			at++
		}
		for k := range 4 {
			row[at+k] = rng.Float32()
		}
		if rng.IntN(3) == 0 {
			row[at] = float32(math.NaN())
		}
	}
	return x, features
}

// separate gives every slot a column of its own.
func (m *Matrix) separate() {
	places, blocks := make([]place, len(m.slots)), blocksFor(len(m.slots))
	words, columns := make([]uint64, m.rows*blocks), make([]uint8, m.rows*len(m.slots))
	for slot := range places {
		places[slot] = place{slot, 0, alone}
		for r := range m.rows {
			code := m.codeAt(slot, uint32(r))
			words[r*blocks+slot/blockFeatures] |= uint64(code) << (8 * (slot % blockFeatures))
			columns[slot*m.rows+r] = code
		}
	}
	if m.columns == nil {
		columns = nil
	}
	m.places, m.blocks, m.words, m.columns = places, blocks, words, columns
	m.index()
}

// A matrix with bundles takes no more memory than the two bytes per code that a training counts, also while it is made.
func TestBundlesTakeNoMemory(t *testing.T) {
	const rows = 100_000
	x, features := oneHot(rows)
	bins, err := NewBins(x, features, BinOptions{Most: 63})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := NewMatrix(x, bins, 1)
	runtime.ReadMemStats(&after)
	if m.blocks >= blocksFor(features) {
		t.Fatal("the slots share no columns")
	}
	const marks = 0.125 // a bit for each row and bundle
	if got, most := float64(after.TotalAlloc-before.TotalAlloc)/float64(rows*features), 2+marks+0.1; got > most {
		t.Errorf("the matrix allocated %.2f bytes for each code, want at most %.2f", got, most)
	}
}

// Slots that share columns give the same trees as slots with columns of their own.
func TestBundlesDoNotChangeTrees(t *testing.T) {
	const rows = 5000
	x, features := oneHot(rows)
	bins, err := NewBins(x, features, BinOptions{Most: 63})
	if err != nil {
		t.Fatal(err)
	}
	coder := NewCoder(bins, rows, 1)
	coder.Code(0, 0, x)
	rng := rand.New(rand.NewPCG(3, 1))
	lambda, second := make([]float64, rows), make([]float64, rows)
	var bag []uint32
	for i := range rows {
		lambda[i] = rng.NormFloat64() + float64(x[i*features+1]-x[i*features+5]-2*x[i*features+44])
		second[i] = rng.Float64()
		if rng.IntN(3) > 0 {
			bag = append(bag, uint32(i))
		}
	}
	for name, m := range map[string]*Matrix{"in memory": NewMatrix(x, bins, 2), "in parts": coder.Matrix()} {
		if got, want := m.blocks, blocksFor(3+10+4); got > want {
			t.Fatalf("%s: %d features take %d blocks, want at most %d", name, features, got, want)
		}
		other := *m
		other.separate()
		for _, o := range []Options{
			{Leaves: 31, LeafDocuments: 1},
			{Leaves: 31, LeafDocuments: 40, Growth: DepthWise},
			{Leaves: 32, LeafDocuments: 40, Growth: Symmetric},
			{Leaves: 31, LeafDocuments: 5, RandomThresholds: true},
			{Leaves: 31, LeafDocuments: 5, Monotone: append([]int8{1, -1}, make([]int8, features-2)...)},
		} {
			for _, rows := range [][]uint32{nil, bag} {
				var trees [2]*Tree
				var scores [2][]float64
				for k, m := range []*Matrix{m, &other} {
					o.Workers = 1 + k
					g, err := NewGrower(m, o)
					if err != nil {
						t.Fatal(err)
					}
					g.Seed(5)
					for range 2 { // the second tree counts documents later
						trees[k] = g.Grow(lambda, second, rows)
					}
					scores[k] = make([]float64, m.rows)
					g.Add(scores[k], g.Values(lambda, second))
				}
				about := fmt.Sprintf("%s, growth %d, random %v, %d rows", name, o.Growth, o.RandomThresholds, len(rows))
				if trees[0].Leaves < 8 {
					t.Errorf("%s: %d leaves, too few to compare", about, trees[0].Leaves)
				}
				if !reflect.DeepEqual(trees[0], trees[1]) || !reflect.DeepEqual(scores[0], scores[1]) {
					t.Errorf("%s: the trees differ", about)
				}
			}
		}
	}
}

func BenchmarkGrowOneHot(b *testing.B) {
	const rows = 50_000
	x, features := oneHot(rows)
	bins, err := NewBins(x, features, BinOptions{Most: MaxBins})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 1))
	lambda, second := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		lambda[i], second[i] = rng.NormFloat64(), rng.Float64()
	}
	m := NewMatrix(x, bins, 1)
	for range 2 {
		g, err := NewGrower(m, Options{Leaves: 31, LeafDocuments: 20, Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("blocks=%d", m.blocks), func(b *testing.B) {
			for b.Loop() {
				g.Grow(lambda, second, nil)
			}
		})
		m.separate()
	}
}
