package optimize

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/internal/kernel"
)

// LBFGS minimises with the limited-memory BFGS method: J. Nocedal and S. J.
// Wright, Numerical Optimization (2nd ed., 2006), algorithms 7.4 and 7.5, with
// the strong-Wolfe line search of algorithms 3.5 and 3.6. The zero value is
// ready to use. The first step has length 1, later ones are scaled by γ =
// sᵀy/yᵀy of the newest pair (eq. 7.20).
//
// The same objective, settings and start give the same bits. No memory is
// allocated between the first iteration and the result, other than by the
// objective and the callbacks.
type LBFGS struct {
	// Memory is the number of correction pairs; 0 means 10. The solver holds
	// 2·Memory+7 vectors.
	Memory int

	// MaxIterations bounds the iterations, including those before a resumed
	// state; 0 means 1000.
	MaxIterations int

	// GradientTolerance ends the run when ‖∇f‖ ≤ GradientTolerance·max(1, |f|). 0 means 1e-8;
	// a negative number means never, but a gradient of zero always ends the run.
	GradientTolerance float64

	// FunctionTolerance ends the run when the last 5 iterations together lowered f by no more
	// than FunctionTolerance·max(1, |f|). 0 means 1e-9, or never if StrongConvexity is given,
	// as the gap then is the better rule; a negative number means never.
	FunctionTolerance float64

	// StrongConvexity is a number μ > 0 such that f(x) − ½μ‖x‖² is convex: 2/C
	// for a convex loss plus ‖x‖²/C, 1 for one plus ½‖x‖². Then f* ≥ f(x) −
	// ‖∇f(x)‖²/(2μ) at any x (S. Boyd and L. Vandenberghe, Convex Optimization,
	// eq. 9.9), and the largest of these bounds over the iterates certifies how
	// far f is above the minimum. 0 means unknown.
	StrongConvexity float64

	// GapTolerance ends the run when that certificate is at most GapTolerance·max(1, |f|). 0
	// means 1e-6; a negative number means never.
	GapTolerance float64

	// Observe, if not nil, is called with the start and after every iteration.
	// An error ends the run and is returned by Minimize, except for ErrStop.
	Observe func(Iteration) error

	// Resumption says how the run is interrupted and resumed, between two iterations.
	Resumption[LBFGSState]
}

const (
	window       = 5       // iterations whose decrease FunctionTolerance judges
	maxIdle      = 50      // iterations on end that change f and ‖∇f‖ by rounding only
	minCurvature = 0x1p-52 // pairs with sᵀy ≤ minCurvature·yᵀy are skipped
)

// Minimize looks for a minimum of obj from x0, which has obj.Dim() elements and
// is left unchanged (nil if a state is resumed). It returns an error if settings,
// start or state do not fit, if the objective is not finite at the start, if a
// callback failed, or if ctx was cancelled; in the last two cases the result is
// that of the last complete iteration, otherwise nil. Not reaching a tolerance is
// not an error: see Result.Status.
func (l LBFGS) Minimize(ctx context.Context, obj Objective, x0 []float64) (*Result, error) {
	if err := l.setDefaults(); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	r := newRun(ctx, l, obj)
	var err error
	if l.Resume != nil {
		err = r.resume(l.Resume)
	} else {
		err = r.begin(x0)
	}
	if err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	status, err := r.iterate()
	if err != nil {
		err = fmt.Errorf("optimize: %v after %d iterations: %w", status, r.st.Iteration, err)
	}
	return &Result{
		X:           r.st.X,
		F:           r.st.F,
		GradNorm:    r.gradNorm,
		Gap:         r.gap(),
		Iterations:  r.st.Iteration,
		Evaluations: r.st.Evaluations,
		Status:      status,
	}, err
}

func (l *LBFGS) setDefaults() error {
	if err := checkCounts(setting[int]{"memory", l.Memory}, setting[int]{"iteration limit", l.MaxIterations}, setting[int]{"checkpoint interval", l.CheckpointEvery}); err != nil {
		return err
	}
	if err := checkTolerances(setting[float64]{"gradient", l.GradientTolerance}, setting[float64]{"function", l.FunctionTolerance}, setting[float64]{"gap", l.GapTolerance}); err != nil {
		return err
	}
	if err := checkConvexity(l.StrongConvexity); err != nil {
		return err
	}
	defaultTo(&l.Memory, 10)
	defaultTo(&l.MaxIterations, 1000)
	defaultTo(&l.CheckpointEvery, 1)
	defaultTo(&l.GradientTolerance, 1e-8)
	defaultTo(&l.GapTolerance, 1e-6)
	if l.StrongConvexity > 0 {
		defaultTo(&l.FunctionTolerance, -1)
	}
	defaultTo(&l.FunctionTolerance, 1e-9)
	return nil
}

// iterate runs until there is a reason to end. The state is complete whenever
// it returns.
func (r *run) iterate() (Status, error) {
	if r.set.Resume == nil {
		if stop, err := r.observe(); stop {
			return Stopped, err
		}
	}
	for {
		if status := r.finished(); status != 0 {
			return status, nil
		}
		status := Cancelled
		if r.ctx.Err() == nil {
			status = r.advance()
		}
		switch status {
		case Cancelled:
			return status, r.keep.cancelled(r.ctx, r.st.Iteration)
		case SearchStalled:
			return status, nil
		}
		if stop, err := r.observe(); stop {
			return Stopped, err
		}
		if err := r.keep.after(r.st.Iteration); err != nil {
			return Stopped, err
		}
	}
}

// finished applies the stopping rules to the state; 0 means to go on.
func (r *run) finished() Status {
	scale := math.Max(1, math.Abs(r.st.F))
	recent, tolerance := r.st.recent, r.set.FunctionTolerance
	switch {
	case r.gap() <= r.set.GapTolerance*scale:
		return GapReached
	case r.gradNorm == 0 || r.gradNorm <= r.set.GradientTolerance*scale:
		return GradientSmall
	case tolerance >= 0 && len(recent) == window+1 && recent[0]-r.st.F <= tolerance*scale:
		return DecreaseSmall
	case r.st.idle >= maxIdle:
		return SearchStalled
	case r.st.Iteration >= r.set.MaxIterations:
		return IterationLimit
	}
	return 0
}

// observe passes the current iterate to the observer and returns whether it wants to stop.
func (r *run) observe() (stop bool, err error) {
	return observed(r.set.Observe, Iteration{
		Number:      r.st.Iteration,
		F:           r.st.F,
		GradNorm:    r.gradNorm,
		Gap:         r.gap(),
		Step:        r.step,
		Evaluations: r.st.Evaluations,
		X:           r.st.X,
	})
}

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
