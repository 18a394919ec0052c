package loss

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestXENDCGAgainstFormula: the cross entropy with the law of 2^l − γ, with the γ
// that the stream gives, drawn once.
func TestXENDCGAgainstFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, grades := range [][]float64{{0, 1}, {2, 0, 1, 0, 4, 0.5}} {
		b := mustBind(t, XENDCG{}, grades, 77)
		draws := rand.New(rand.NewPCG(77, 5))
		target, total := make([]float64, len(grades)), 0.0
		for i, l := range grades {
			target[i] = math.Pow(2, l) - draws.Float64()
			total += target[i]
		}
		f := func(s []float64) float64 {
			var value float64
			for i, p := range target {
				value -= p / total * (s[i] - plainLSE(s))
			}
			return value
		}
		for _, s := range scoresOf(rng, len(grades)) {
			againstReference(t, "xe-ndcg", b, f, s)
		}
	}
}

// TestXENDCGOfFractions: with grades below 1, γ is at most the largest gain.
func TestXENDCGOfFractions(t *testing.T) {
	for _, top := range []float64{0.9, 0.01, 1e-300} {
		share := mustBind(t, XENDCG{}, []float64{0, top, top / 2, 0}, 77).(crossEntropy).target
		draws := rand.New(rand.NewPCG(77, 5))
		var total float64
		expected := make([]float64, len(share))
		for i, l := range []float64{0, top, top / 2, 0} {
			expected[i] = math.Expm1(l*math.Ln2) + (1-draws.Float64())*math.Expm1(top*math.Ln2)
			total += expected[i]
		}
		for i, p := range share {
			if !near(p, expected[i]/total, 1e-12) {
				t.Errorf("largest grade %g: share %v of document %d, expected %v", top, p, i, expected[i]/total)
			}
		}
	}
}

// TestXENDCGOfLargeGrades: the law is finite at any grade.
func TestXENDCGOfLargeGrades(t *testing.T) {
	for _, grades := range [][]float64{{0, 1022, 1023.5}, {1e308, 0, 3}, {0, 1e-300}} {
		b := mustBind(t, XENDCG{}, grades, 1)
		var sum float64
		for i, p := range b.(crossEntropy).target {
			if !(p >= 0 && p <= 1) {
				t.Errorf("grades %v: share %v of document %d", grades, p, i)
			}
			sum += p
		}
		if !near(sum, 1, 1e-15) {
			t.Errorf("grades %v: shares sum to %v", grades, sum)
		}
	}
}
