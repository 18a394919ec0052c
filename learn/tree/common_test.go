package tree

import (
	"math/rand/v2"
	"sync/atomic"
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

// Workers that share the rows of a leaf fill the histograms of a single one, and take them back.
func TestWorkersShareRows(t *testing.T) {
	const workers = 3
	m := emptyTogether(fewChunks*workers*chunk+100, (blocksAtOnce+1)*blockFeatures)
	g, err := NewGrower(m, Options{Leaves: 2, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range m.rows {
		g.index, g.packed[i] = append(g.index, uint32(i)), sums(rng.Uint64())
	}
	want := make([]histogram, m.blocks)
	new(gatherer).add(want, m, 0, m.blocks, g.index, g.packed, false)
	l := leaf{to: m.rows, sums: g.take()}
	called := make([]atomic.Int32, m.blocks)
	count := func(from, to int) {
		for b := from; b < to; b++ {
			called[b].Add(1)
		}
	}
	g.fill(&l, count)
	if len(g.free) != workers-1 {
		t.Fatalf("%d workers left %d histograms, so they have not shared rows", workers, len(g.free))
	}
	for b := range want {
		if l.sums[b] != want[b] || called[b].Load() != 1 {
			t.Fatalf("block %d was reported %d times, with the sums of one worker: %v", b, called[b].Load(), l.sums[b] == want[b])
		}
	}
	g.add(l.sums, &l, true, count)
	for b := range want {
		if l.sums[b] != (histogram{}) {
			t.Fatalf("something is left of block %d without its documents", b)
		}
	}
}
