package scorer

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// The activations sigmoid and tanh of a pair's input v_j + w_k can be computed from one exponential for
// each document. With the odds r = exp(c·v_j)·exp(c·w_k),
//
//	f(v_j + w_k) = σ(v_j + w_k)   = r/(1 + r)        c = 1    f' = σ(1 − σ)
//	tanh(v_j + w_k)               = 2r/(1 + r) − 1   c = 2    f' = 4σ(1 − σ)
//
// A pair then costs a division instead of an exponential.

// oddsLimit is the largest allowed logarithm of the odds of a pair. The odds stay below 2^100.
const oddsLimit = 69

// toOdds replaces self and other by the factors exp(c·v_j) and exp(c·w_k) of the odds. It returns false
// and changes nothing if the activation is neither sigmoid nor tanh, or if the odds may be too large
// for [kernel.LogisticRow].
func (s pairSpace) toOdds(f Activation) bool {
	c := 1.0
	switch f {
	case Tanh:
		c = 2
	case Sigmoid:
	default:
		return false
	}
	if !(c*(largest(s.self)+largest(s.other)) < oddsLimit) {
		return false
	}
	for _, z := range [...][]float64{s.self, s.other} {
		kernel.Scale(c, z)
		kernel.Exp(z, z)
	}
	return true
}

// largest returns the largest absolute value of x. It returns NaN if x contains NaN.
func largest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

// sumByOdds sets sums[j] to Σ_{k≠j} f(z_tjk), as sum does. It expects the factors that toOdds computes.
func (s pairSpace) sumByOdds(sums []float64, f Activation) {
	row := s.block[:len(sums)]
	clear(row)
	for j, a := range s.self {
		sum := kernel.OddsRow(a, s.other, row) // OddsRow also adds to row, which is not used
		own := float64(a * s.other[j])
		sums[j] = sum - own/(1+own)
	}
	if f == Tanh {
		kernel.Scale(2, sums)
		addConstant(sums, -float64(len(sums)-1))
	}
}

// sumSlopesByOdds computes the sums of sumSlopes. It expects the factors that toOdds computes.
func (s pairSpace) sumSlopesByOdds(u float64, lambda []float64, f Activation) {
	if f == Tanh {
		u *= 4
	}
	for j, a := range s.self {
		c := u * lambda[j]
		r := float64(a * s.other[j])
		d := 1 + r
		own := r / float64(d*d)
		s.bySelf[j] = c * (kernel.SlopeRow(a, c, s.other, s.byOther) - own)
		s.byOther[j] -= float64(c * own)
	}
}
