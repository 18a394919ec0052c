package tree

import (
	"slices"
	"testing"
)

// Histograms that were given back are filled again as they were, and no more are kept than
// leaves can still be divided.
func TestThinnedHistogramsAreRestored(t *testing.T) {
	d := makeData(2000, 6, 3)
	g, err := NewGrower(d.matrix(t, 40, 1), Options{Leaves: 6, LeafDocuments: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	g.begin(d.lambda, d.second, nil)
	for len(g.leaves) < g.Leaves {
		at := g.next()
		l := &g.leaves[at]
		g.restore(l)
		before := slices.Clone(l.sums)
		g.release(l)
		g.restore(l)
		if !slices.Equal(l.sums, before) {
			t.Fatalf("with %d leaves: the histograms are others than before", len(g.leaves))
		}
		g.searchBoth(g.divide(at, g.read(l, l.best.slot)))
		g.thin()
		kept := 0
		for i := range g.leaves {
			if g.leaves[i].sums != nil {
				kept++
			}
		}
		if left := g.Leaves - len(g.leaves); kept > left {
			t.Errorf("with %d leaves: %d have histograms, of which %d can be divided", len(g.leaves), kept, left)
		}
	}
}
