package optimize

import (
	"context"
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// Rounded is a smooth approximation ½‖x‖² + R_δ(x) of F(x) = ½‖x‖² + R(x), where R is convex with kinks.
type Rounded interface {
	SecondOrder

	// Support returns c and overwrites grad with a such that R(v) ≥ c + a·v at every
	// v, where a is the gradient of R_δ at x.
	Support(x, grad []float64) (c float64, err error)
}

// Smoothing minimises F(x) = ½‖x‖² + R(x) for a convex R with kinks. [Newton] minimises smooth
// approximations that round off the kinks over a width δ. The minimum for one δ is the start for the next,
// smaller one. The gradient a of an approximation belongs to a plane below R, c + a·v ≤ R(v), so that
//
//	min F ≥ min_v ½‖v‖² + c + a·v = c − ½‖a‖²,
//
// which is the dual objective. At the approximation's minimum this bound differs from F by the change due
// to rounding. For a sum of many hinges the change is about a sixth of δ² times their density at the kink.
// So a thousandth of a margin certifies a millionth of F. Many hinges are then still rounded, and the
// Hessian is regular.
type Smoothing struct {
	Width         float64 // δ to begin with; 0 means 1
	MaxStages     int     // different δ; 0 means 40
	MaxIterations int     // of Newton's method, altogether; 0 means 1000

	// GapTolerance ends the run when F is certified to be within GapTolerance·max(1, |F|) of the minimum. 0
	// means 1e-6; a negative number disables it.
	GapTolerance float64

	// Observe, if not nil, is called after every stage with the best point so far;
	// the number of the iteration is Newton's. An error ends the run and is returned
	// by Minimize, except for ErrStop.
	Observe func(Iteration) error
}

// Minimize looks for a minimum of F from x0, which has exact.Dim() elements and is left unchanged. exact
// is F with a subgradient; rounded returns the approximation of a width. It returns an error if settings
// or start do not fit, if a value is not finite, if a callback failed, or if ctx was cancelled. In the
// last two cases the result is that of the last complete stage, or nil. Result.GradNorm is the norm of the
// last approximation's gradient.
func (s Smoothing) Minimize(ctx context.Context, exact Objective, rounded func(width float64) (Rounded, error), x0 []float64) (*Result, error) {
	if err := s.setDefaults(); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	n := exact.Dim()
	r := &smoothingRun{
		set: s, exact: exact, rounded: rounded, width: s.Width, tolerance: 0.01,
		x: make([]float64, n), grad: make([]float64, n), lower: math.Inf(-1),
	}
	if err := takeStart(r.x, x0); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	status, err := r.iterate(ctx)
	if err != nil {
		err = fmt.Errorf("optimize: %v after %d iterations: %w", status, r.best.Iterations, err)
	}
	if r.best.X == nil {
		return nil, err
	}
	r.best.Status = status
	return &r.best, err
}

func (s *Smoothing) setDefaults() error {
	if err := checkFactor("width", s.Width, "the default"); err != nil {
		return err
	}
	if err := checkCounts(setting[int]{"limit of stages", s.MaxStages}, setting[int]{"iteration limit", s.MaxIterations}); err != nil {
		return err
	}
	if err := checkTolerances(setting[float64]{"gap", s.GapTolerance}); err != nil {
		return err
	}
	defaultTo(&s.Width, 1)
	defaultTo(&s.MaxStages, 40)
	defaultTo(&s.MaxIterations, 1000)
	defaultTo(&s.GapTolerance, 1e-6)
	return nil
}

// smoothingRun is one minimisation by Smoothing.
type smoothingRun struct {
	set     Smoothing
	exact   Objective
	rounded func(width float64) (Rounded, error)

	width     float64
	tolerance float64 // of the stage's minimum, relative to F
	x         []float64
	grad      []float64
	best      Result
	lower     float64 // bound on the minimum of F
}

func (r *smoothingRun) iterate(ctx context.Context) (Status, error) {
	for range r.set.MaxStages {
		change, status, err := r.stage(ctx)
		if err != nil {
			return status, err
		}
		scale := math.Max(1, math.Abs(r.best.F))
		r.best.Gap = math.Max(r.best.F-r.lower, 0x1p-52*math.Abs(r.best.F))
		if stop, err := r.observe(); stop {
			return Stopped, err
		}
		switch {
		case r.best.Gap <= r.set.GapTolerance*scale:
			return GapReached, nil
		case r.best.Iterations >= r.set.MaxIterations:
			return IterationLimit, nil
		case change <= 0x1p-50*scale:
			return SearchStalled, nil
		}
		r.narrow(change / scale)
	}
	return IterationLimit, nil
}

// stage minimises the approximation of the present width from the last minimum. It returns the change due
// to rounding.
func (r *smoothingRun) stage(ctx context.Context) (change float64, status Status, err error) {
	smooth, err := r.rounded(r.width)
	if err != nil {
		return 0, Stopped, err
	}
	newton := Newton{
		MaxIterations:     max(1, r.set.MaxIterations-r.best.Iterations),
		StrongConvexity:   1,
		GapTolerance:      r.tolerance,
		GradientTolerance: -1,
	}
	result, err := newton.Minimize(ctx, smooth, r.x)
	if err != nil {
		return 0, Cancelled, err
	}
	copy(r.x, result.X)
	c, err := smooth.Support(r.x, r.grad)
	if err != nil {
		return 0, Stopped, err
	}
	half := float64(kernel.Dot(r.x, r.x) / 2)
	plane := c + kernel.Dot(r.grad, r.x) // at x
	r.lower = math.Max(r.lower, c-float64(kernel.Dot(r.grad, r.grad)/2))

	f := r.exact.Eval(r.x, r.grad)
	r.best.Iterations += result.Iterations
	r.best.Evaluations += result.Evaluations + 2
	if !finite(f) {
		return 0, Diverged, fmt.Errorf("the objective is %v, expected a finite number", f)
	}
	if r.best.X == nil || f < r.best.F {
		r.best.X, r.best.F = append(r.best.X[:0], r.x...), f
	}
	r.best.GradNorm = result.GradNorm
	return f - half - plane, 0, nil
}

// narrow chooses the next width so that the change due to rounding, proportional to its square, is half
// the tolerance. The width shrinks at most tenfold, so that Newton's method has little to do.
func (r *smoothingRun) narrow(change float64) {
	goal := math.Max(r.set.GapTolerance, 0)
	factor := math.Min(math.Max(math.Sqrt(goal/2/change), 0.1), 0.5)
	r.width *= factor
	r.tolerance = math.Max(math.Max(change*factor*factor, goal)/10, 0x1p-49)
}

// observe passes the best point to the observer and returns whether it wants to stop.
func (r *smoothingRun) observe() (stop bool, err error) {
	return observed(r.set.Observe, Iteration{
		Number: r.best.Iterations, F: r.best.F, GradNorm: r.best.GradNorm, Gap: r.best.Gap,
		Evaluations: r.best.Evaluations, X: r.best.X,
	})
}
