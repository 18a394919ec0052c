package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestRankCosineAgainstFormula: half of one minus the cosine, and its gradient.
func TestRankCosineAgainstFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, grades := range [][]float64{{0, 1}, {2, 0, 1, 1, 4}, {1, 1, 1, 0}} {
		for m := LogMapping; m <= ExpMapping; m++ {
			f := func(s []float64) float64 {
				var product, ss, pp float64
				for i, l := range grades {
					product += s[i] * m.Score(l)
					ss += s[i] * s[i]
					pp += m.Score(l) * m.Score(l)
				}
				return (1 - product/math.Sqrt(ss*pp)) / 2
			}
			b := mustBind(t, RankCosine{Mapping: m}, grades, 1)
			for range 5 {
				s := normals(rng, len(grades), 2)
				s[0]++ // not near zero, where differences know nothing
				againstReference(t, fmt.Sprintf("%v of %v", m, grades), b, f, s)
			}
		}
	}
}

// TestRankCosineScale: scores of any size have the loss of their direction, 0 for
// the mapped grades and 1 for their opposite, and the gradient shrinks as they
// grow.
func TestRankCosineScale(t *testing.T) {
	grades := []float64{2, 0, 1, 4}
	b := mustBind(t, RankCosine{}, grades, 1)
	want, wantGrad := evaluated(b, []float64{1, 2, 3, 5})
	for _, scale := range []float64{1e-290, 1e-3, 1e5, 1e305} {
		s, back := []float64{1, 2, 3, 5}, make([]float64, 4)
		for i := range s {
			s[i] *= scale
		}
		v, grad := evaluated(b, s)
		for i := range grad {
			back[i] = grad[i] * scale
		}
		if !near(v, want, 1e-14) {
			t.Errorf("scores times %v: %v, want %v", scale, v, want)
		}
		checkVector(t, fmt.Sprintf("gradient at scores times %v", scale), back, wantGrad, 1e-13)
	}
	for sign, want := range map[float64]float64{1: 0, -1: 1} {
		s := []float64{sign * 20, 0, sign * 10, sign * 40}
		if v, _ := evaluated(b, s); !near(v, want, 1e-15) {
			t.Errorf("at %v: %v, want %v", s, v, want)
		}
	}
}

// TestRankCosineAtZero: where the loss has no limit it is ½, and λ leads to where
// it is 0.
func TestRankCosineAtZero(t *testing.T) {
	grades := []float64{2, 0, 1, 4}
	b := mustBind(t, RankCosine{Mapping: QuadraticMapping}, grades, 1)
	for _, size := range []float64{0, 1e-310, 5e-324} {
		s := []float64{0, size, 0, 0}
		v, grad := evaluated(b, s)
		if v != 0.5 {
			t.Errorf("at %v the loss is %v", s, v)
		}
		for i := range s {
			s[i] -= grad[i]
		}
		if v, _ := evaluated(b, s); !near(v, 0, 1e-15) {
			t.Errorf("a step along λ leads to a loss of %v", v)
		}
	}
}
