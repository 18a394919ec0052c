package logrank

import (
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
)

// variances sets second to factor·Σ_y c_y (∂e_y/∂s)² − grad², given the suffix sums of c in e,
// where grad is factor·Σ_y c_y ∂e_y/∂s. ∂e_y/∂s is 2κ times a whole number n_y that changes
// for two documents a step, so that
//
//	Σ_y c_y n_y² = Σ_y c_y n_start² + Σ_steps (Σ_{y from the step on} c_y) (n_after² − n_before²).
func (l *sampledLaw) variances(second, grad, e []float64, factor float64, scratch *loss.Scratch) {
	w := l.set.Walks
	clear(second)
	for _, r := range l.restarts {
		c := kernel.Dot(r.walks, e[:w])
		for i, n := range r.coefficients {
			second[i] += float64(c * n * n)
		}
	}
	number := scratch.Floats(len(second))
	for walk, start := range l.set.Start {
		if coefficients := l.set.Restarts[start]; coefficients != nil {
			copy(number, coefficients)
		} else {
			clear(number)
		}
		l.flips.AddSquares(second, number, e[w:], w, walk)
	}
	factor *= l.scale * l.scale
	for i, g := range grad {
		second[i] = max(0, float64(factor*second[i])-float64(g*g))
	}
}
