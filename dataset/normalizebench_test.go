package dataset

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkZScore normalizes a query of 120 documents with 136 features.
func BenchmarkZScore(b *testing.B) {
	const docs, features = 120, 136
	rng := rand.New(rand.NewPCG(1, 2))
	from, x := make([]float32, docs*features), make([]float32, docs*features)
	for i := range from {
		from[i] = rng.Float32()
	}
	var memory []float64
	for b.Loop() {
		copy(x, from)
		memory = ZScore.ApplyWith(memory, x, features)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(docs*features), "ns/value")
}
