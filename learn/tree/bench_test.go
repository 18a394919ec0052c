package tree

import "testing"

func BenchmarkGrow(b *testing.B) {
	d := makeData(100_000, 136, 1)
	m := d.matrix(b, 255, 1)
	g, err := NewGrower(m, Options{Leaves: 31, LeafDocuments: 20, Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g.Grow(d.lambda, d.second, nil)
	}
}

func BenchmarkExact(b *testing.B) {
	d := makeData(50_000, 20, 1)
	b.Run("begin", func(b *testing.B) {
		for b.Loop() {
			d.exact(b, Options{Leaves: 15, LeafDocuments: 20, Workers: 1})
		}
	})
	b.Run("grow", func(b *testing.B) {
		g := d.exact(b, Options{Leaves: 15, LeafDocuments: 20, Workers: 1})
		for b.Loop() {
			g.Grow(d.lambda, d.second, nil)
		}
	})
}

func BenchmarkHistogram(b *testing.B) {
	d := makeData(100_000, 8, 1)
	m := d.matrix(b, 255, 1)
	rows, packed := make([]uint32, 100_000), make([]sums, 100_000)
	for i := range rows {
		rows[i] = uint32(i)
	}
	quantise(packed, rows, d.lambda, d.second)
	h := make([]histogram, 1)
	var w gatherer
	for b.Loop() {
		clear(h)
		w.add(h, m, 0, 1, rows, packed, false)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/800_000, "ns/cell")
}
