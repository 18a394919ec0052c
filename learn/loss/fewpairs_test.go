package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A query with few relevant documents has the bits that it has with all pairs. Weights of 1 change nothing,
// but with weights no pair is left out.
func TestFewPairsGiveTheBitsOfAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	fewer := 0
	for _, m := range rankMeasures(t) {
		for _, kind := range []Lambda{LambdaLogistic, LambdaStep, LambdaSpring} {
			for trial := range 12 {
				n := 1 + rng.IntN(60)
				grades, scores, ones := make([]float64, n), make([]float64, n), slices.Repeat([]float64{1}, n)
				for i := range grades {
					if scores[i] = float64(rng.IntN(30)) / 4; trial%4 == 3 {
						scores[i] *= 400 // too far apart for products of exponentials
					}
					if rng.IntN(7) == 0 {
						grades[i] = float64(rng.IntN(3))
					}
				}
				l := LambdaRank{Measure: m, Kind: kind, Truncation: trial % 3 * 9, GapNorm: trial%2 == 0, SumNorm: trial%5 > 1}
				few, err := l.Bind(grades, nil)
				if err != nil {
					t.Fatal(err)
				}
				all, err := l.BindWeighted(grades, PairWeights{ones, ones}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if few == Nothing {
					continue
				}
				fewer++
				var got, want [2][]float64
				for k := range got {
					got[k], want[k] = make([]float64, n), make([]float64, n)
				}
				few.Eval(scores, got[0], new(Scratch))
				all.Eval(scores, want[0], new(Scratch))
				checkBits(t, got[0], want[0])
				if few, ok := few.(Diagonal); ok {
					few.EvalSecond(scores, got[0], got[1], new(Scratch))
					all.(Diagonal).EvalSecond(scores, want[0], want[1], new(Scratch))
					checkBits(t, got[0], want[0])
					checkBits(t, got[1], want[1])
				}
			}
		}
	}
	if fewer < 100 {
		t.Errorf("%d queries have pairs, expected 100 at least", fewer)
	}
}

func checkBits(t *testing.T, got, want []float64) {
	t.Helper()
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("element %d is %v, with all pairs %v", i, got[i], want[i])
		}
	}
}
