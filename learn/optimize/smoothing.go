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

	// Support returns c and overwrites grad with a, the gradient of R_δ at x, such that R(v) ≥ c + a·v at every v.
	Support(x, grad []float64) (c float64, err error)
}

// Smoothing minimises F(x) = ½‖x‖² + R(x) for a convex R with kinks. [Newton] minimises smooth approximations that
// round off the kinks over a width δ. The minimum for one δ is the start for the next, smaller δ. The gradient a of
// an approximation belongs to a plane below R, c + a·v ≤ R(v), so
//
//	min F ≥ min_v ½‖v‖² + c + a·v = c − ½‖a‖².
//
// The right side is the dual objective. At the approximation's minimum, the gap between F and this bound is the
// difference between R and R_δ. For a sum of many hinges, the gap is about a sixth of δ² times the density of the
// hinges at the kink. So a δ of a thousandth of the margin certifies a millionth of F. Many hinges are then still
// rounded, and the Hessian is regular.
type Smoothing struct {
	Width         float64 // initial δ; 0 means 1
	MaxStages     int     // largest number of different δ; 0 means 40
	MaxIterations int     // largest number of iterations of Newton's method in all stages; 0 means 1000

	// GapTolerance ends the run when the certified gap between F and its minimum is at most GapTolerance·max(1, |F|).
	// 0 means 1e-6. A negative number disables it.
	GapTolerance float64

	// Observe, if not nil, is called after every stage with the best point so far. Iteration.Number counts the
	// iterations of Newton's method. An error ends the run. Minimize returns the error, except for ErrStop.
	Observe func(Iteration) error
}

// Minimize searches for the minimum of F, starting at x0, which has exact.Dim() elements and is not changed. exact is
// F with a subgradient, and rounded returns the approximation of F for a width. The error is about invalid settings,
// an invalid start, a value that is not finite, a failed callback, or a cancelled ctx. In the last two cases the
// result is that of the last complete stage, or nil. Result.GradNorm is the norm of the gradient of the last
// approximation.
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
	tolerance float64 // relative gap at which the next stage stops
	x         []float64
	grad      []float64
	best      Result
	lower     float64 // lower bound on the minimum of F
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

// stage minimises the approximation for the present width, starting at the last minimum. change is R − R_δ there.
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
	plane := c + kernel.Dot(r.grad, r.x) // value of the plane at x
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

// narrow chooses the next width so that the change due to rounding off, which is proportional to the square of the
// width, is half the tolerance. The width shrinks at most tenfold, so that Newton's method has little to do.
func (r *smoothingRun) narrow(change float64) {
	goal := math.Max(r.set.GapTolerance, 0)
	factor := math.Min(math.Max(math.Sqrt(goal/2/change), 0.1), 0.5)
	r.width *= factor
	r.tolerance = math.Max(math.Max(change*factor*factor, goal)/10, 0x1p-49)
}

// observe reports the best point to the observer. stop reports whether the run ends.
func (r *smoothingRun) observe() (stop bool, err error) {
	return observed(r.set.Observe, Iteration{
		Number: r.best.Iterations, F: r.best.F, GradNorm: r.best.GradNorm, Gap: r.best.Gap,
		Evaluations: r.best.Evaluations, X: r.best.X,
	})
}
