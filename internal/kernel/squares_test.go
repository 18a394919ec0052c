package kernel

import (
	"math/rand/v2"
	"testing"
)

// Claim: AddSquares adds what the squares of running sums change by, times the factors, for
// narrow and wide numbers of documents.
func TestAddSquares(t *testing.T) {
	const rows, width = 7, 3
	for _, docs := range []int{5, 1 << 17} {
		rng := rand.New(rand.NewPCG(1, uint64(docs)))
		plus, minus := make([]int32, rows*width), make([]int32, rows*width)
		factors := make([]float64, rows*width)
		for k := range plus {
			plus[k], minus[k], factors[k] = int32(docs-1-rng.IntN(5)), int32(docs-1-rng.IntN(5)), float64(rng.IntN(9)-4)
		}
		p := NewPairs(docs, plus, minus)
		for column := range width {
			got, sum := make([]float64, docs), make([]float64, docs)
			want, running := make([]float64, docs), make([]float64, docs)
			for i := docs - 5; i < docs; i++ {
				sum[i] = float64(i % 4)
				running[i] = sum[i]
			}
			p.AddSquares(got, sum, factors, width, column)
			for k := column; k < len(plus); k += width {
				for _, move := range []struct {
					doc int32
					by  float64
				}{{plus[k], 1}, {minus[k], -1}} {
					before := running[move.doc]
					running[move.doc] += move.by
					want[move.doc] += factors[k] * (running[move.doc]*running[move.doc] - before*before)
				}
			}
			for i := docs - 5; i < docs; i++ {
				if got[i] != want[i] || sum[i] != running[i] {
					t.Errorf("%d documents, column %d: document %d has %v and the sum %v, want %v and %v", docs, column, i, got[i], sum[i], want[i], running[i])
				}
			}
		}
	}
}
