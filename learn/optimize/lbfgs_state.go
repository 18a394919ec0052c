package optimize

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/internal/kernel"
)

// LBFGSState is the [State] of an [LBFGS] between two iterations. Tolerances, Memory and
// MaxIterations may be others where the run goes on.
type LBFGSState struct {
	Iteration   int // iterations completed
	Evaluations int // of the objective
	X           []float64
	F           float64   // the value at X
	Grad        []float64 // the gradient at X

	s, y   [][]float64 // correction pairs, the oldest first
	recent []float64   // the last values, the oldest first and F last

	// The lowest value and gradient norm when one of them last fell by more than
	// rounding, and the iterations since.
	bestF, bestGrad float64
	idle            int

	strongConvexity float64 // the μ for which lower holds
	lower           float64 // a lower bound on the minimum, −Inf if there is none
}

var _ State = (*LBFGSState)(nil)

// Kind returns "L-BFGS".
func (st *LBFGSState) Kind() string { return "L-BFGS" }

// AppendBinary implements [State].
func (st *LBFGSState) AppendBinary(b []byte) ([]byte, error) {
	return binarystate.Append(b, st.code), nil
}

// UnmarshalBinary implements [State].
func (st *LBFGSState) UnmarshalBinary(data []byte) error { return readState(data, st) }

func (st *LBFGSState) code(c *binarystate.Codec) {
	n, pairs, recent := len(st.X), len(st.s), len(st.recent)
	c.Ints(&st.Iteration, &st.Evaluations, &st.idle, &n, &pairs, &recent)
	c.Floats(&st.F, &st.bestF, &st.bestGrad, &st.strongConvexity, &st.lower)
	c.Vectors(n, &st.X, &st.Grad)
	codePairs(c, pairs, n, &st.s, &st.y)
	c.Vectors(recent, &st.recent)
}

// Clone returns a copy that shares no memory with st.
func (st *LBFGSState) Clone() *LBFGSState {
	c := *st
	c.X, c.Grad, c.recent = slices.Clone(st.X), slices.Clone(st.Grad), slices.Clone(st.recent)
	c.s, c.y = cloneAll(st.s), cloneAll(st.y)
	return &c
}

func cloneAll(vectors [][]float64) [][]float64 {
	c := make([][]float64, len(vectors))
	for i, v := range vectors {
		c[i] = slices.Clone(v)
	}
	return c
}

// validate returns an error if st is impossible as the state of a run.
func (st *LBFGSState) validate() error {
	switch {
	case st.Iteration < 0 || st.Evaluations <= st.Iteration:
		return fmt.Errorf("%d iterations with %d evaluations, expected more evaluations", st.Iteration, st.Evaluations)
	case len(st.Grad) != len(st.X):
		return fmt.Errorf("gradient of length %d for %d variables", len(st.Grad), len(st.X))
	case !finite(st.F):
		return fmt.Errorf("value %v, expected a finite number", st.F)
	case !finite(norm(st.Grad)):
		return fmt.Errorf("gradient of norm %v, expected a finite one", norm(st.Grad))
	case !(st.strongConvexity >= 0) || math.IsInf(st.strongConvexity, 1):
		return fmt.Errorf("strong convexity %v, expected a finite non-negative number", st.strongConvexity)
	case math.IsNaN(st.lower) || math.IsInf(st.lower, 1):
		return fmt.Errorf("lower bound %v, expected less than +Inf", st.lower)
	}
	if st.idle < 0 || st.idle > st.Iteration || !finite(st.bestF) || !finite(st.bestGrad) {
		return fmt.Errorf("best value %v and gradient norm %v %d iterations ago, expected finite numbers within the run's %d iterations",
			st.bestF, st.bestGrad, st.idle, st.Iteration)
	}
	if i := notFinite(st.X); i >= 0 {
		return fmt.Errorf("x[%d] is %v, expected a finite number", i, st.X[i])
	}
	if n := len(st.recent); n == 0 || n > window+1 || st.recent[n-1] != st.F || notFinite(st.recent) >= 0 {
		return fmt.Errorf("recent values %v, expected 1 to %d finite ones ending in %v", st.recent, window+1, st.F)
	}
	return st.validatePairs()
}

func (st *LBFGSState) validatePairs() error {
	if len(st.s) != len(st.y) {
		return fmt.Errorf("%d steps with %d gradient differences", len(st.s), len(st.y))
	}
	for i, s := range st.s {
		y := st.y[i]
		if len(s) != len(st.X) || len(y) != len(st.X) {
			return fmt.Errorf("correction pair %d of lengths %d and %d for %d variables", i, len(s), len(y), len(st.X))
		}
		if notFinite(s) >= 0 || notFinite(y) >= 0 || !usable(kernel.Dot(s, y), kernel.Dot(y, y)) {
			return fmt.Errorf("correction pair %d has no positive curvature", i)
		}
	}
	return nil
}
