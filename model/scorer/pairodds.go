package scorer

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// Two activations are logistic functions, whose value for a pair follows from one
// exponential for each of its documents: with odds r = exp(cv_j)·exp(cw_k),
//
//	f(v_j + w_k) = σ(v_j + w_k)   = r/(1 + r)        c = 1    f' = σ(1 − σ)
//	tanh(v_j + w_k)               = 2r/(1 + r) − 1   c = 2    f' = 4σ(1 − σ)
//
// so a pair takes a division in place of an exponential.

// oddsLimit bounds the logarithm of the odds of pairs: they stay below 2^100.
const oddsLimit = 69

// toOdds replaces the documents' parts of z_tjk by the factors of the odds. It
// reports false, with nothing done, if the activation is none of the two, or the
// odds may grow too large for [kernel.LogisticRow].
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

// largest returns the largest absolute value; NaN if there is one.
func largest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

// sumByOdds is sum after toOdds.
func (s pairSpace) sumByOdds(sums []float64, f Activation) {
	row := s.block[:len(sums)]
	clear(row)
	for j, a := range s.self {
		sum := kernel.OddsRow(a, s.other, row) // what it adds to row is not needed
		own := float64(a * s.other[j])
		sums[j] = sum - own/(1+own)
	}
	if f == Tanh {
		kernel.Scale(2, sums)
		addConstant(sums, -float64(len(sums)-1))
	}
}

// sumSlopesByOdds is sumSlopes after toOdds.
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
