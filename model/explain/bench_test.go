package explain

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkTreePaths takes the scores of 64 documents apart by 300 trees of up to 31 leaves on 136
// features, on one processor if -cpu 1 says so. Nothing is allocated but what spreads the work.
func BenchmarkTreePaths(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const features, docs = 136, 64
	d := randomData(b, rng, 40, features)
	m := modelOf(randomTrees(b, rng, features, 300, 31), rng)
	e, err := New(m, d, Options{})
	if err != nil {
		b.Fatal(err)
	}
	x, dst := d.X()[:docs*features], make([]float64, docs*features)
	b.ReportAllocs()
	for b.Loop() {
		e.how.add(dst, x)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*docs), "µs/document")
}
