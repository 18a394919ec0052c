package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Claim: average precision has the bits of the sum over the relevant documents in the order of their ranks, however
// many these are, with a cutoff or without, and so has the mean over groups of one document.
func TestAveragePrecisionSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"map", "map@10"} {
		m := parse(t, name, "letor3")
		for range 2000 {
			n, part, k := 1+rng.IntN(60), rng.Float64(), math.MaxInt
			if name == "map@10" {
				k = 10
			}
			ranked, ends := make([]float64, n), make([]int, n)
			seen, want := 0, 0.0
			for i := range ranked {
				ends[i] = i + 1
				if rng.Float64() > part {
					continue
				}
				ranked[i] = float64(1 + rng.IntN(2))
				if seen++; i < k {
					want += float64(seen) / float64(i+1)
				}
			}
			if seen > 0 {
				want /= float64(seen)
			}
			value, _ := m.Value(ranked)
			if average, _ := m.Average(ranked, ends); value != want || average != want {
				t.Fatalf("%s of %v is %v, %v, want %v", name, ranked, value, average, want)
			}
		}
	}
}

// BenchmarkAveragePrecision measures rankings of many and of few relevant documents, another one each time: a
// processor learns to guess the branches of one that comes again and again.
func BenchmarkAveragePrecision(b *testing.B) {
	for _, relevant := range []float64{0.37, 0.1, 0.01} {
		for _, n := range []int{120, 1000} {
			rng := rand.New(rand.NewPCG(1, 2))
			rankings := make([][]float64, 300)
			ends := make([]int, n)
			for i := range ends {
				ends[i] = i + 1
			}
			for k := range rankings {
				rankings[k] = make([]float64, n)
				for i := range n {
					if rng.Float64() < relevant {
						rankings[k][i] = 1
					}
				}
			}
			m := parse(b, "map", "letor3")
			for name, value := range map[string]func(ranked []float64){
				"value":   func(ranked []float64) { m.Value(ranked) },
				"average": func(ranked []float64) { m.Average(ranked, ends) },
			} {
				b.Run(fmt.Sprint(name, n, "/", relevant), func(b *testing.B) {
					i := 0
					for b.Loop() {
						value(rankings[i%len(rankings)])
						i++
					}
				})
			}
		}
	}
}
