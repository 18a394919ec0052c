package losstest

import (
	"math"
	"slices"
	"testing"
)

// testOnes tests that weights of 1 change nothing, up to rounding.
func (s *suite) testOnes(t *testing.T) {
	plain, err := s.bind(s.grades, nil)
	if err != nil {
		t.Fatal(err)
	}
	ones, err := s.bind(s.grades, slices.Repeat([]float64{1}, len(s.grades)))
	if err != nil {
		t.Fatal(err)
	}
	rng := newRand()
	for _, spread := range []float64{1, 8} {
		x := s.apart(rng, spread)
		a, b := suite{bound: plain}, suite{bound: ones}
		want, wantGrad := a.eval(x)
		got, grad := b.eval(x)
		if !near(got, want, 1e-11) {
			t.Errorf("weights of 1: loss %v, want %v", got, want)
		}
		s.compare(t, "weights of 1", grad, wantGrad, 1e-11)
	}
}

// testCopies tests that a document of weight w counts as w copies. It skips losses whose λ is no
// gradient. Such a λ depends on ranks, and copies of a document have different ranks.
func (s *suite) testCopies(t *testing.T) {
	if s.Sampled || s.traits.NonGradient {
		return
	}
	weights := make([]float64, len(s.grades))
	var grades []float64
	var of []int // document of each copy
	for i := range weights {
		weights[i] = float64(1 + i%3)
		for range 1 + i%3 {
			grades, of = append(grades, s.grades[i]), append(of, i)
		}
	}
	weighted, err := s.bind(s.grades, weights)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := s.bind(grades, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := newRand()
	for _, x := range [][]float64{s.apart(rng, 1), s.apart(rng, 8), s.tied(rng)} {
		scores := make([]float64, len(of))
		for k, i := range of {
			scores[k] = x[i]
		}
		a, b := suite{bound: weighted}, suite{bound: copied}
		got, grad := a.eval(x)
		want, gradOfCopies := b.eval(scores)
		wantGrad := make([]float64, len(x))
		for k, i := range of {
			wantGrad[i] += gradOfCopies[k]
		}
		if !near(got, want, 1e-11) {
			t.Errorf("loss of weighted documents %v, of copies %v", got, want)
		}
		s.compare(t, "weighted documents", grad, wantGrad, 1e-11)
	}
}

// testWrongWeights tests that a wrong number of weights, and weights that are not positive and finite,
// are errors.
func (s *suite) testWrongWeights(t *testing.T) {
	n := len(s.grades)
	for _, w := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		weights := slices.Repeat([]float64{1}, n)
		weights[n-1] = w
		if _, err := s.bind(s.grades, weights); err == nil {
			t.Errorf("weight %v was accepted", w)
		}
	}
	if _, err := s.bind(s.grades, make([]float64, n+1)); err == nil {
		t.Errorf("%d weights of %d documents were accepted", n+1, n)
	}
}
