package tree

import (
	"math/rand/v2"
	"testing"
)

// emptyTogether returns the codes of rows whose features, but for those of the last block, are 0
// together in more than half of them.
func emptyTogether(rows, features int) *Matrix {
	rng := rand.New(rand.NewPCG(5, 9))
	x := make([]float32, rows*features)
	for i := range rows {
		empty := rng.IntN(5) < 3
		for f := range features {
			if !empty || f >= features-blockFeatures {
				x[i*features+f] = float32(rng.IntN(300))
			}
		}
	}
	bins, err := NewBins(x, features, BinOptions{Most: MaxBins})
	if err != nil {
		panic(err)
	}
	return NewMatrix(x, bins, 2)
}

// The sums of documents by code are those by definition, whether words are left out or not.
func TestHistogramsAreSumsByCode(t *testing.T) {
	m := emptyTogether(3000, 3*blockFeatures)
	if !m.common[0].use || !m.common[1].use || m.common[2].use {
		t.Fatalf("the common words are %v, want them used in the first two of three blocks", m.common)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var w gatherer
	for _, docs := range []int{0, 1, 7, 8, 100, part, part + 1, 2500} {
		rows, packed := make([]uint32, docs), make([]sums, m.rows)
		for i := range packed {
			if i%3 > 0 { // the others change nothing
				packed[i] = sums(rng.Uint64())
			}
		}
		for i := range rows {
			rows[i] = uint32(rng.IntN(m.rows))
		}
		want := make([]histogram, m.blocks)
		for _, r := range rows {
			for slot := range m.slots {
				want[slot/blockFeatures][slot%blockFeatures][m.codeAt(slot, r)] += packed[r]
			}
		}
		got := make([]histogram, m.blocks)
		w.add(got, m, 0, m.blocks, rows, packed, false)
		for b := range got {
			if got[b] != want[b] {
				t.Fatalf("%d documents: the sums of block %d are not those by definition", docs, b)
			}
		}
		w.add(got, m, 0, m.blocks, rows, packed, true)
		for b := range got {
			if got[b] != (histogram{}) {
				t.Fatalf("%d documents: something is left of block %d without them", docs, b)
			}
		}
	}
}
