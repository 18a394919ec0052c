package tree

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// inFile returns the codes of a matrix in a file.
func (d *made) inFile(t testing.TB, bins int) *Matrix {
	b, err := NewBins(d.x, d.features, BinOptions{Most: bins})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewFileCoder(b, len(d.lambda), 1, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	c.Code(0, 0, d.x)
	m, err := c.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// Claim: trees on codes in a file are those on codes in memory, for leaves of neighbours and of few rows far
// apart, whatever the growth and the number of workers.
func TestTreesOnStoredCodes(t *testing.T) {
	d := makeData(60_000, 90, 5) // 5.3 MB of codes: several windows
	memory, file := d.matrix(t, 255, 2), d.inFile(t, 255)
	rng := rand.New(rand.NewPCG(8, 1))
	var some, few []uint32
	for i := range d.lambda {
		if rng.IntN(3) > 0 {
			some = append(some, uint32(i))
		}
		if rng.IntN(3000) == 0 || i > 50_000 {
			few = append(few, uint32(i))
		}
	}
	lists, crews := [][]uint32{nil, some, few}, []int{1, 3}
	if testing.Short() {
		lists, crews = lists[1:2], crews[1:]
	}
	for _, o := range []Options{{}, {Growth: DepthWise}, {Growth: Symmetric}, {RandomThresholds: true}, {LeafDocuments: 1}, {LeafDocuments: 1000}, {Depth: 3}} {
		o.Leaves, o.LeafDocuments = 40, max(o.LeafDocuments, 20)
		for _, rows := range lists {
			for _, workers := range crews {
				o.Workers = workers
				var grown [2]*Tree
				var scores [2][]float64
				for k, m := range []*Matrix{memory, file} {
					g, err := NewGrower(m, o)
					if err != nil {
						t.Fatal(err)
					}
					for range 2 {
						grown[k] = g.Grow(d.lambda, d.second, rows)
					}
					scores[k] = make([]float64, len(d.lambda))
					g.Add(scores[k], g.Values(d.lambda, d.second))
				}
				if len(grown[0].Nodes) < 3 {
					t.Fatalf("%+v: found %d nodes: nothing is shown", o, len(grown[0].Nodes))
				}
				if !reflect.DeepEqual(grown[0], grown[1]) || !slices.Equal(scores[0], scores[1]) {
					t.Errorf("%+v, %d rows: found other trees on codes in a file", o, len(rows))
				}
			}
		}
	}
}

// Claim: windows have all rows of a list once, in order, within their size, and no two rows far apart.
func TestWindows(t *testing.T) {
	m := &Matrix{blocks: 17, rows: 1 << 20}
	rng := rand.New(rand.NewPCG(4, 4))
	for _, one := range []int{1, 3, 60, 700, 9000} { // rows in one of so many
		var rows []uint32
		for i := range m.rows {
			if rng.IntN(one) == 0 {
				rows = append(rows, uint32(i))
			}
		}
		at := 0
		for _, w := range m.windows(rows) {
			if w.from != at || w.to <= w.from || w.base != rows[w.from] || w.end != rows[w.to-1]+1 || 8*m.blocks*int(w.end-w.base) > windowBytes {
				t.Fatalf("1 of %d: found window %+v after %d rows", one, w, at)
			}
			for i := w.from + 1; i < w.to; i++ {
				if 8*m.blocks*int(rows[i]-rows[i-1]) > gapBytes {
					t.Fatalf("1 of %d: a window has rows %d and %d", one, rows[i-1], rows[i])
				}
			}
			at = w.to
		}
		if at != len(rows) {
			t.Errorf("1 of %d: windows have %d of %d rows", one, at, len(rows))
		}
	}
	if found := m.windows(nil); found != nil {
		t.Errorf("found %v of no rows", found)
	}
}
