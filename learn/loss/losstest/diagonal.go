package losstest

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// testDiagonal tests that second derivatives are differences of λ, that EvalSecond returns the value and
// λ of Eval, and that it does not allocate. If λ is no gradient, it omits ties, where the ranking
// changes.
func (s *suite) testDiagonal(t *testing.T) {
	b, ok := s.bound.(loss.Diagonal)
	if s.bound == loss.Nothing {
		return
	}
	if !ok {
		if s.Diagonal {
			t.Error("the loss has no second derivatives")
		}
		return
	}
	rng := newRand()
	var points [][]float64
	for _, spread := range []float64{1, 3, 8} {
		points = append(points, s.smooth(t, func() []float64 { return s.apart(rng, spread) }))
	}
	if !s.traits.NonGradient {
		points = append(points, s.ties(rng)...)
	}
	for _, x := range points {
		s.testSecond(t, b, x)
	}
	s.testSecondFarOut(t, b)
	if raceEnabled {
		return
	}
	x, lambda, second := points[0], make([]float64, len(s.grades)), make([]float64, len(s.grades))
	if n := testing.AllocsPerRun(5, func() { b.EvalSecond(x, lambda, second, &s.scratch) }); n != 0 {
		t.Errorf("an evaluation with second derivatives allocates %v times", n)
	}
}

// testSecond compares second derivatives at x with fourth-order differences of λ.
func (s *suite) testSecond(t *testing.T, b loss.Diagonal, x []float64) {
	n := len(x)
	lambda, second := slices.Repeat([]float64{math.NaN()}, n), slices.Repeat([]float64{math.NaN()}, n)
	value := b.EvalSecond(x, lambda, second, &s.scratch)
	wantValue, wantGrad := s.eval(x)
	if value != wantValue {
		t.Errorf("at %v: value %v with second derivatives, %v without", x, value, wantValue)
	}
	for i := range x {
		if lambda[i] != -wantGrad[i] {
			t.Errorf("at %v: lambda[%d] is %v with second derivatives, %v without", x, i, lambda[i], -wantGrad[i])
		}
		if s.Frozen {
			continue
		}
		const h = step
		at := func(d float64) float64 {
			y := slices.Clone(x)
			y[i] += d
			_, grad := s.eval(y)
			return grad[i]
		}
		want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
		if !near(second[i], want, 1e-8) {
			t.Errorf("at %v: second derivative with respect to score %d is %v, differences say %v",
				x, i, second[i], want)
		}
	}
}

// testSecondFarOut tests that second derivatives are finite and not negative, also at very large scores.
func (s *suite) testSecondFarOut(t *testing.T, b loss.Diagonal) {
	rng := newRand()
	lambda, second := make([]float64, len(s.grades)), make([]float64, len(s.grades))
	for _, size := range []float64{0, 40, 700, 1e6} {
		for range 3 {
			x := make([]float64, len(s.grades))
			for i := range x {
				x[i] = size * float64(1-2*rng.IntN(2))
			}
			b.EvalSecond(x, lambda, second, &s.scratch)
			for i, v := range second {
				if !(v >= 0) || !finite(v) {
					t.Errorf("at %v: second derivative %v with respect to score %d", x, v, i)
				}
			}
		}
	}
}
