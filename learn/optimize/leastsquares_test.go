package optimize

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Claim: the sums are those of adding row after row, bit for bit, whatever the number of workers and of features, some
// of which are 0 in most rows.
func TestLeastSquaresAddsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 40 {
		features := 1 + rng.IntN(20)
		e := NewLeastSquares(features, 1+rng.IntN(4))
		xx, xy := make([]float64, features*features), make([]float64, features)
		var origin []float32
		rows := 1 + rng.IntN(4*heldRows)
		for range rows {
			x := make([]float32, features)
			for j := range x {
				if rng.IntN(4) == 0 {
					x[j] = float32(rng.NormFloat64())
				}
			}
			if origin == nil {
				origin = x
			}
			y, weight := float64(rng.IntN(3)), rng.Float64()
			e.Add(x, y, weight)
			for j := range x {
				v := float64((float64(x[j]) - float64(origin[j])) * weight)
				xy[j] += float64(v * y)
				for k := range j + 1 {
					xx[j*features+k] += float64(v * (float64(x[k]) - float64(origin[k])))
				}
			}
		}
		e.flush()
		if !slices.Equal(e.xx, xx) || !slices.Equal(e.xy, xy) {
			t.Fatalf("%d rows of %d features have other sums", rows, features)
		}
	}
}

func BenchmarkLeastSquares(b *testing.B) {
	const features, rows = 136, 1024
	rng := rand.New(rand.NewPCG(23, 24))
	x := make([]float32, rows*features)
	for i := range x {
		x[i] = rng.Float32()
	}
	e := NewLeastSquares(features, 0)
	for b.Loop() {
		for i := range rows {
			e.Add(x[i*features:(i+1)*features], 1, 1)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
