package objective

import "github.com/listwise/listwise/internal/kernel"

// Penalty returns the c of the penalty ‖w‖²/c, 0 if there is none. Eval adds it;
// EvalTerm, which is one query's loss, does not.
func (r *Risk) Penalty() float64 {
	if r.inverse == 0 {
		return 0
	}
	return r.c
}

// addPenalty adds ‖w‖²·inverse to a value and its gradient to grad.
func addPenalty(inverse, value float64, w, grad []float64) float64 {
	if inverse > 0 {
		value += float64(inverse * kernel.Dot(w, w))
		kernel.Axpy(2*inverse, w, grad)
	}
	return value
}
