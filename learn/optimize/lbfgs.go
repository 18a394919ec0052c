package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/internal/kernel"
)

// LBFGS minimises by the limited-memory BFGS method: J. Nocedal and S. J. Wright, Numerical Optimization (2nd ed.,
// 2006), algorithms 7.4 and 7.5. The line search satisfies the strong Wolfe conditions (algorithms 3.5 and 3.6). The
// zero value is ready to use. The first step has length 1. Later steps are scaled by γ = sᵀy/yᵀy of the newest pair
// (eq. 7.20).
//
// The same objective, settings and start give the same bits. Between the first iteration and the result, only the
// objective and the callbacks allocate memory.
type LBFGS struct {
	// Memory is the number of correction pairs; 0 means 10. The solver stores 2·Memory+7 vectors.
	Memory int

	// MaxIterations is the largest number of iterations, including iterations before a resumed state; 0 means 1000.
	MaxIterations int

	// GradientTolerance ends the run when ‖∇f‖ ≤ GradientTolerance·max(1, |f|). 0 means 1e-8; a negative
	// number disables it. A gradient of zero always ends the run.
	GradientTolerance float64

	// FunctionTolerance ends the run when the last 5 iterations together decreased f by at most
	// FunctionTolerance·max(1, |f|). A negative number disables it. 0 means 1e-9, or disabled if StrongConvexity is
	// set, because the gap is the better rule.
	FunctionTolerance float64

	// StrongConvexity is a number μ > 0 such that f(x) − ½μ‖x‖² is convex. μ is 2/C for a convex loss plus ‖x‖²/C,
	// and 1 for a convex loss plus ½‖x‖². Then f* ≥ f(x) − ‖∇f(x)‖²/(2μ) at any x (S. Boyd and L. Vandenberghe,
	// Convex Optimization, eq. 9.9). The largest of these bounds over the iterates certifies the gap between f and
	// its minimum. 0 means unknown.
	StrongConvexity float64

	// GapTolerance ends the run when the certified gap is at most GapTolerance·max(1, |f|). 0 means 1e-6. A negative
	// number disables it.
	GapTolerance float64

	// Observe, if not nil, is called at the start and after every iteration. An error ends the run. Minimize returns
	// the error, except for ErrStop.
	Observe func(Iteration) error

	// Resumption defines how the run is interrupted and resumed, between two iterations.
	Resumption[LBFGSState]
}

const (
	window       = 5       // number of iterations whose decrease FunctionTolerance limits
	maxIdle      = 50      // number of consecutive iterations that may change f and ‖∇f‖ by rounding only
	minCurvature = 0x1p-52 // pairs with sᵀy ≤ minCurvature·yᵀy are skipped
)

// Minimize searches for a minimum of obj, starting at x0. x0 has obj.Dim() elements and is not changed. It must be
// nil if a state is resumed. The error is about invalid settings, an invalid start or state, an objective that is not
// finite at the start, a failed callback, or a cancelled ctx. In the last two cases the result is that of the last
// complete iteration, otherwise nil. A tolerance that was not reached is no error: see Result.Status.
func (l LBFGS) Minimize(ctx context.Context, obj Objective, x0 []float64) (*Result, error) {
	if err := l.setDefaults(); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	r := newLBFGSRun(ctx, l, obj)
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

// iterate makes iterations until the run ends. The state is complete when iterate returns.
func (r *lbfgsRun) iterate() (Status, error) {
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

// finished applies the stopping rules to the state. 0 means that the run continues.
func (r *lbfgsRun) finished() Status {
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

// observe reports the current iterate to the observer. stop reports whether the run ends.
func (r *lbfgsRun) observe() (stop bool, err error) {
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

// LBFGSState is the [State] of an [LBFGS] between two iterations. The run may be resumed with other tolerances,
// Memory and MaxIterations.
type LBFGSState struct {
	Iteration   int // number of completed iterations
	Evaluations int // number of evaluations of the objective
	X           []float64
	F           float64   // the value at X
	Grad        []float64 // the gradient at X

	s, y   [][]float64 // correction pairs, the oldest first
	recent []float64   // the last values of f, the oldest first; the last element is F

	// The lowest value and gradient norm when one of them last decreased by more than rounding, and the number of
	// iterations since then.
	bestF, bestGrad float64
	idle            int

	strongConvexity float64 // the μ for which lower is valid
	lower           float64 // lower bound on the minimum; −Inf if there is none
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

// validate returns an error if st cannot be the state of a run.
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

// lbfgsRun is one minimisation by LBFGS. All its memory is allocated before the first iteration. st determines all
// further iterations, and is complete between iterations. The other fields are derived from st or are working memory.
type lbfgsRun struct {
	ctx context.Context
	set LBFGS // with defaults filled in
	obj Objective
	st  LBFGSState

	gradNorm float64   // ‖st.Grad‖
	rho      []float64 // rho[i] = 1/sᵢᵀyᵢ of pair i
	alpha    []float64 // coefficients of the two-loop recursion
	dir      []float64 // the search direction
	step     float64   // the last step as a multiple of dir
	keep     keeper[LBFGSState]

	// The point that the line search evaluated last, st.X + trial.step·dir.
	trial     point
	trialX    []float64
	trialGrad []float64
	trialNorm float64 // ‖trialGrad‖
	trials    int     // number of evaluations in this search

	interrupted bool // the context ended during the search
}

func newLBFGSRun(ctx context.Context, set LBFGS, obj Objective) *lbfgsRun {
	n, m := obj.Dim(), set.Memory
	vectors := make([]float64, (2*m+7)*n)
	next := func() []float64 {
		v := vectors[:n:n]
		vectors = vectors[n:]
		return v
	}
	r := &lbfgsRun{ctx: ctx, set: set, obj: obj}
	r.keep = keeper[LBFGSState]{set.Resumption, &r.st, -1}
	r.st.X, r.st.Grad = next(), next()
	r.dir, r.trialX, r.trialGrad = next(), next(), next()
	// The slices of pairs have capacity for one pair more than Memory. Their elements beyond the length are vectors
	// for the next pairs.
	r.st.s, r.st.y = make([][]float64, m+1), make([][]float64, m+1)
	for i := range m + 1 {
		r.st.s[i], r.st.y[i] = next(), next()
	}
	r.st.s, r.st.y = r.st.s[:0], r.st.y[:0]
	r.rho, r.alpha = make([]float64, 0, m+1), make([]float64, m)
	r.st.recent = make([]float64, 0, window+1)
	r.st.strongConvexity = set.StrongConvexity
	r.st.lower, r.st.bestF, r.st.bestGrad = math.Inf(-1), math.Inf(1), math.Inf(1)
	return r
}

// begin evaluates the objective at x0.
func (r *lbfgsRun) begin(x0 []float64) error {
	if err := takeStart(r.st.X, x0); err != nil {
		return err
	}
	f := r.obj.Eval(r.st.X, r.st.Grad)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("the objective is %v at the start, expected a finite number", f)
	}
	if i := notFinite(r.st.Grad); i >= 0 {
		return fmt.Errorf("gradient[%d] is %v at the start, expected a finite number", i, r.st.Grad[i])
	}
	r.gradNorm = norm(r.st.Grad)
	if math.IsInf(r.gradNorm, 1) {
		return errors.New("the gradient at the start is so long that its square overflows")
	}
	r.st.F = f
	r.st.Evaluations = 1
	r.arrived()
	return nil
}

// resume checks that a state fits and continues from it.
func (r *lbfgsRun) resume(from *LBFGSState) error {
	if err := from.validate(); err != nil {
		return unfit("resumed state: %w", err)
	}
	if err := sameSize(from.X, r.st.X); err != nil {
		return err
	}
	if from.strongConvexity != r.set.StrongConvexity {
		return unfit("resumed state is for strong convexity %v, expected %v", from.strongConvexity, r.set.StrongConvexity)
	}
	st := &r.st
	copy(st.X, from.X)
	copy(st.Grad, from.Grad)
	st.F, st.Iteration, st.Evaluations, st.lower = from.F, from.Iteration, from.Evaluations, from.lower
	st.bestF, st.bestGrad, st.idle = from.bestF, from.bestGrad, from.idle
	st.recent = append(st.recent, from.recent...)
	for i := max(0, len(from.s)-r.set.Memory); i < len(from.s); i++ {
		s, y := r.spare()
		copy(s, from.s[i])
		copy(y, from.y[i])
		st.s, st.y = append(st.s, s), append(st.y, y)
		r.rho = append(r.rho, 1/kernel.Dot(s, y))
	}
	r.gradNorm = norm(st.Grad)
	r.keep.saved = st.Iteration
	return nil
}

// advance makes one iteration and returns 0. If it finds no better point, or if the context ended, it returns the
// status and does not change the point and the pairs of the state.
func (r *lbfgsRun) advance() Status {
	evaluations := r.st.Evaluations
	slope := r.direction()
	first := 1.0
	if len(r.st.s) == 0 {
		first = 1 / r.gradNorm
	}
	found := slope < 0 && r.searched(first, slope)
	if !found && len(r.st.s) > 0 && !r.interrupted {
		// Rounding errors or a kink between points can make the pairs useless. Try the negative gradient.
		slope = r.steepest()
		if found = r.searched(1/r.gradNorm, slope); found {
			r.forget()
		}
	}
	switch {
	case r.interrupted:
		r.st.Evaluations = evaluations // the resumed run will count them again
		return Cancelled
	case !found:
		return SearchStalled
	}
	r.accept()
	return 0
}

// searched does what search does, but returns false if the context ended, because the objective may then be
// incomplete.
func (r *lbfgsRun) searched(first, slope float64) bool {
	found := r.search(first, slope)
	if r.ctx.Err() != nil {
		r.interrupted = true
	}
	return found && !r.interrupted
}

// accept makes the trial point the new iterate.
func (r *lbfgsRun) accept() {
	r.remember()
	st := &r.st
	st.X, r.trialX = r.trialX, st.X
	st.Grad, r.trialGrad = r.trialGrad, st.Grad
	st.F, r.gradNorm, r.step = r.trial.f, r.trialNorm, r.trial.step
	st.Iteration++
	r.arrived()
}

// arrived updates the state's progress and lower bound after a move to a new iterate.
func (r *lbfgsRun) arrived() {
	st := &r.st
	scale := math.Max(1, math.Abs(st.F))
	if st.F < st.bestF-float64(noise*scale) || r.gradNorm < 0.9*st.bestGrad {
		st.bestF, st.bestGrad = math.Min(st.bestF, st.F), math.Min(st.bestGrad, r.gradNorm)
		st.idle = 0
	} else {
		st.idle++
	}
	if len(st.recent) == window+1 {
		copy(st.recent, st.recent[1:])
		st.recent = st.recent[:window]
	}
	st.recent = append(st.recent, st.F)
	if mu := r.set.StrongConvexity; mu > 0 {
		st.lower = math.Max(st.lower, st.F-r.gradNorm*r.gradNorm/(2*mu))
	}
}

// gap bounds the difference between st.F and the minimum. It is never less than the rounding error of F.
func (r *lbfgsRun) gap() float64 {
	return math.Max(r.st.F-r.st.lower, 0x1p-52*math.Abs(r.st.F))
}

// norm returns ‖x‖, or +Inf if the square of the norm overflows.
func norm(x []float64) float64 { return math.Sqrt(kernel.Dot(x, x)) }

// notFinite returns the index of the first element that is not finite, or −1.
func notFinite(x []float64) int {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return i
		}
	}
	return -1
}

// The correction pairs approximate the inverse Hessian H. With pairs
//
//	s = xₖ₊₁ − xₖ,  y = ∇f(xₖ₊₁) − ∇f(xₖ),  ρ = 1/sᵀy,  γ = sᵀy/yᵀy (newest pair)
//
// H starts as γI and is updated with the pairs, from the oldest to the newest, by
//
//	H ← (I − ρsyᵀ) H (I − ρysᵀ) + ρssᵀ
//
// (Nocedal and Wright, eqs. 7.16, 7.17 and 7.20).

// direction sets r.dir to −H∇f by the two-loop recursion (algorithm 7.4) and
// returns its slope, dirᵀ∇f.
func (r *lbfgsRun) direction() float64 {
	s, y := r.st.s, r.st.y
	newest := len(s) - 1
	if newest < 0 {
		return r.steepest()
	}
	negate(r.dir, r.st.Grad)
	for i := newest; i >= 0; i-- {
		r.alpha[i] = float64(r.rho[i] * kernel.Dot(s[i], r.dir))
		kernel.Axpy(-r.alpha[i], y[i], r.dir)
	}
	gamma := 1 / (r.rho[newest] * kernel.Dot(y[newest], y[newest]))
	for i := range r.dir {
		r.dir[i] *= gamma
	}
	for i := range s {
		beta := float64(r.rho[i] * kernel.Dot(y[i], r.dir))
		kernel.Axpy(r.alpha[i]-beta, s[i], r.dir)
	}
	return kernel.Dot(r.dir, r.st.Grad)
}

// steepest sets r.dir to −∇f and returns its slope.
func (r *lbfgsRun) steepest() float64 {
	negate(r.dir, r.st.Grad)
	return kernel.Dot(r.dir, r.st.Grad)
}

// remember adds the correction pair of the step to the trial point. It skips pairs without clearly positive
// curvature, so that H stays positive definite.
func (r *lbfgsRun) remember() {
	st := &r.st
	n := len(st.s)
	s, y := r.spare()
	for i, x := range r.trialX {
		s[i] = x - st.X[i]
		y[i] = r.trialGrad[i] - st.Grad[i]
	}
	sy := kernel.Dot(s, y)
	if !usable(sy, kernel.Dot(y, y)) {
		return
	}
	st.s, st.y, r.rho = st.s[:n+1], st.y[:n+1], append(r.rho, 1/sy)
	if n == r.set.Memory {
		dropOldest(&st.s)
		dropOldest(&st.y)
		copy(r.rho, r.rho[1:])
		r.rho = r.rho[:n]
	}
}

// spare returns the vectors for the next pair.
func (r *lbfgsRun) spare() (s, y []float64) {
	n := len(r.st.s)
	return r.st.s[:n+1][n], r.st.y[:n+1][n]
}

// dropOldest removes the first vector, and puts it after the end as the spare vector.
func dropOldest(v *[][]float64) {
	old, last := (*v)[0], len(*v)-1
	copy(*v, (*v)[1:])
	(*v)[last] = old
	*v = (*v)[:last]
}

// forget removes all pairs.
func (r *lbfgsRun) forget() {
	r.st.s, r.st.y, r.rho = r.st.s[:0], r.st.y[:0], r.rho[:0]
}

// usable reports whether a pair has enough curvature to be kept. sy is sᵀy, and yy is yᵀy.
func usable(sy, yy float64) bool {
	return sy > minCurvature*yy && !math.IsInf(1/sy, 0) && !math.IsInf(sy, 0)
}

func negate(dst, x []float64) {
	for i, v := range x {
		dst[i] = -v
	}
}
