package transform_test

import (
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// many are 100,000 documents of 40 features.
func many() *dataset.Dataset {
	const docs, features = 100_000, 40
	r := rand.New(rand.NewPCG(1, 2))
	b := dataset.Blocks{Features: features, X: make([]float32, docs*features), Grades: make([]float64, docs)}
	for i := range b.X {
		b.X[i] = float32(r.ExpFloat64())
	}
	for range docs / 100 {
		b.IDs, b.Counts = append(b.IDs, string(rune(len(b.IDs)+32))), append(b.Counts, 100)
	}
	return dataset.FromBlocks(b)
}

// The cost of learning and of applying a step, for a value.
func BenchmarkSteps(b *testing.B) {
	d := many()
	values := float64(len(d.X()))
	for _, text := range []string{"standard", "clip=1%:99%", "clip=0:3", "log1p", "fill=median"} {
		specs := parse(b, text)
		b.Run("learn/"+text, func(b *testing.B) {
			for b.Loop() {
				if _, err := transform.Learn(specs, d); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/values, "ns/value")
		})
		p, err := transform.Learn(specs, d)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("apply/"+text, func(b *testing.B) {
			x := make([]float32, len(d.X()))
			for b.Loop() {
				copy(x, d.X())
				p.Apply(x, d.Features)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/values, "ns/value")
		})
	}
}
