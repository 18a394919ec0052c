package optimize

import (
	"context"
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// SecondOrder is an [Objective] whose Hessian can be multiplied with a vector.
type SecondOrder interface {
	Objective

	// HessianTimes overwrites dst with H·v, where H is the Hessian at the point of the last Eval, symmetric and
	// positive semidefinite. Where the gradient has a kink, H is a generalised Hessian. Both slices have Dim elements
	// and do not overlap.
	HessianTimes(dst, v []float64)
}

// Newton minimises a convex function by a truncated Newton method. Conjugate gradients solve the Newton equations H·d
// = −∇f until the residual is at most min(0.1, √(‖∇f‖/‖∇f_0‖))·‖∇f‖. So the solution is coarse far from the minimum.
// Then a backtracking line search starts from the full step. Sources: J. Nocedal and S. J. Wright, Numerical
// Optimization, 2nd ed., algorithm 7.1; O. Chapelle and S. S. Keerthi, Efficient Algorithms for Ranking with SVMs,
// 2010, for the squared hinge. The zero value is ready to use.
//
// The same objective, settings and start give the same bits. No memory is allocated between the first iteration and
// the result.
type Newton struct {
	MaxIterations int // largest number of iterations; 0 means 200
	MaxProducts   int // largest number of products H·v in one iteration; 0 means 250

	// GradientTolerance ends the run when ‖∇f‖ ≤ GradientTolerance·max(1, |f|). 0 means 1e-8. A negative number
	// disables it. A gradient of zero always ends the run.
	GradientTolerance float64

	// StrongConvexity is a number μ > 0 such that f(x) − ½μ‖x‖² is convex. It gives the certified gap, as in [LBFGS].
	// 0 means unknown.
	StrongConvexity float64

	// GapTolerance ends the run when the certified gap is at most GapTolerance·max(1, |f|). 0 means 1e-6. A negative
	// number disables it.
	GapTolerance float64

	// Observe, if not nil, is called at the start and after every iteration. An error ends the run. Minimize returns
	// the error, except for ErrStop.
	Observe func(Iteration) error
}

// Minimize searches for the minimum of obj, starting at x0, which has obj.Dim() elements and is not changed. The
// error is about invalid settings, an invalid start, an objective that is not finite at the start, a failed observer,
// or a cancelled ctx. In the last two cases the result is that of the last complete iteration, otherwise nil. A
// tolerance that was not reached is no error: see Result.Status. Result.Evaluations counts evaluations of values and
// gradients, not products.
func (n Newton) Minimize(ctx context.Context, obj SecondOrder, x0 []float64) (*Result, error) {
	if err := n.setDefaults(); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	r := newNewtonRun(n, obj)
	if err := r.begin(x0); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	status, err := r.iterate(ctx)
	if err != nil {
		err = fmt.Errorf("optimize: %v after %d iterations: %w", status, r.iteration, err)
	}
	return &Result{
		X: r.x, F: r.f, GradNorm: r.gradNorm, Gap: r.gap(),
		Iterations: r.iteration, Evaluations: r.evaluations, Status: status,
	}, err
}

func (n *Newton) setDefaults() error {
	if err := checkCounts(setting[int]{"iteration limit", n.MaxIterations}, setting[int]{"limit of products", n.MaxProducts}); err != nil {
		return err
	}
	if err := checkTolerances(setting[float64]{"gradient", n.GradientTolerance}, setting[float64]{"gap", n.GapTolerance}); err != nil {
		return err
	}
	if err := checkConvexity(n.StrongConvexity); err != nil {
		return err
	}
	defaultTo(&n.MaxIterations, 200)
	defaultTo(&n.MaxProducts, 250)
	defaultTo(&n.GradientTolerance, 1e-8)
	defaultTo(&n.GapTolerance, 1e-6)
	return nil
}

// newtonRun is one minimisation by Newton.
type newtonRun struct {
	set Newton
	obj SecondOrder

	x, grad   []float64
	f         float64
	gradNorm  float64
	lower     float64 // lower bound on the minimum; −Inf if there is none
	firstNorm float64 // norm of the gradient at the start

	trial, trialGrad       []float64
	dir                    []float64
	residual, probe, times []float64 // vectors of conjugate gradients

	step                   float64
	iteration, evaluations int
}

func newNewtonRun(set Newton, obj SecondOrder) *newtonRun {
	n := obj.Dim()
	vectors := make([]float64, 8*n)
	next := func() []float64 {
		v := vectors[:n:n]
		vectors = vectors[n:]
		return v
	}
	return &newtonRun{
		set: set, obj: obj, lower: math.Inf(-1),
		x: next(), grad: next(), trial: next(), trialGrad: next(),
		dir: next(), residual: next(), probe: next(), times: next(),
	}
}

func (r *newtonRun) begin(x0 []float64) error {
	if err := takeStart(r.trial, x0); err != nil {
		return err
	}
	f := r.evaluate()
	if !finite(f) || !finite(norm(r.trialGrad)) {
		return fmt.Errorf("the objective is %v at the start with a gradient of norm %v, expected finite numbers", f, norm(r.trialGrad))
	}
	r.accept(f)
	r.firstNorm = r.gradNorm
	return nil
}

func (r *newtonRun) evaluate() float64 {
	r.evaluations++
	return r.obj.Eval(r.trial, r.trialGrad)
}

// accept makes the trial point, which was evaluated last, the new iterate.
func (r *newtonRun) accept(f float64) {
	r.x, r.trial = r.trial, r.x
	r.grad, r.trialGrad = r.trialGrad, r.grad
	r.f, r.gradNorm = f, norm(r.grad)
	if mu := r.set.StrongConvexity; mu > 0 {
		r.lower = math.Max(r.lower, r.f-r.gradNorm*r.gradNorm/(2*mu))
	}
}

// gap bounds the difference between f and the minimum. It is never less than the rounding error of f.
func (r *newtonRun) gap() float64 {
	return math.Max(r.f-r.lower, 0x1p-52*math.Abs(r.f))
}

func (r *newtonRun) iterate(ctx context.Context) (Status, error) {
	if stop, err := r.observe(); stop {
		return Stopped, err
	}
	for {
		scale := math.Max(1, math.Abs(r.f))
		switch {
		case r.gap() <= r.set.GapTolerance*scale:
			return GapReached, nil
		case r.gradNorm == 0 || r.gradNorm <= r.set.GradientTolerance*scale:
			return GradientSmall, nil
		case r.iteration >= r.set.MaxIterations:
			return IterationLimit, nil
		case ctx.Err() != nil:
			return Cancelled, context.Cause(ctx)
		}
		r.direction()
		if !r.search() {
			if ctx.Err() != nil { // the objective may be incomplete
				return Cancelled, context.Cause(ctx)
			}
			return SearchStalled, nil
		}
		r.iteration++
		if stop, err := r.observe(); stop {
			return Stopped, err
		}
	}
}

// direction solves the Newton equations by conjugate gradients. It stops when the residual is small enough. Every
// iterate of conjugate gradients is a descent direction.
func (r *newtonRun) direction() {
	clear(r.dir)
	for i, g := range r.grad {
		r.residual[i], r.probe[i] = -g, -g
	}
	square := r.gradNorm * r.gradNorm
	enough := math.Min(0.1, math.Sqrt(r.gradNorm/r.firstNorm)) * r.gradNorm
	for k := range r.set.MaxProducts {
		r.obj.HessianTimes(r.times, r.probe)
		curvature := kernel.Dot(r.probe, r.times)
		if !(curvature > 0x1p-52*kernel.Dot(r.probe, r.probe)) || math.IsInf(curvature, 1) {
			if k == 0 {
				copy(r.dir, r.probe)
			}
			return
		}
		length := square / curvature
		kernel.Axpy(length, r.probe, r.dir)
		kernel.Axpy(-length, r.times, r.residual)
		next := kernel.Dot(r.residual, r.residual)
		if math.Sqrt(next) <= enough {
			return
		}
		kernel.Scale(next/square, r.probe)
		kernel.Add(r.probe, r.residual)
		square = next
	}
}

// A step must decrease f by at least sufficient times the decrease that the slope predicts. maxHalvings is the
// largest number of times that a step is shortened.
const (
	sufficient  = 1e-4
	maxHalvings = 60
)

// search shortens the step until it decreases f enough, and moves there. It returns false if no step does.
func (r *newtonRun) search() bool {
	slope := kernel.Dot(r.grad, r.dir)
	if !(slope < 0) {
		return false
	}
	r.step = 1
	for range maxHalvings {
		copy(r.trial, r.x)
		kernel.Axpy(r.step, r.dir, r.trial)
		f := r.evaluate()
		if r.lowers(f, slope) {
			r.accept(f)
			return true
		}
		rise := f - r.f - float64(r.step*slope) // f above its tangent
		// Step to the minimum of the parabola through both values and the slope, within bounds.
		part := 0.5
		if finite(rise) && rise > 0 {
			part = math.Min(math.Max(-r.step*slope/(2*rise), 0.1), 0.5)
		}
		r.step *= part
	}
	return false
}

// lowers reports whether f at the trial point is low enough. If the decrease is within rounding errors, the norm of
// the gradient decides.
func (r *newtonRun) lowers(f, slope float64) bool {
	if math.Abs(f-r.f) <= noise*math.Abs(r.f) {
		return norm(r.trialGrad) <= 0.9*r.gradNorm
	}
	return f <= r.f+float64(sufficient*r.step*slope)
}

// observe reports the current iterate to the observer. stop reports whether the run ends.
func (r *newtonRun) observe() (stop bool, err error) {
	return observed(r.set.Observe, Iteration{
		Number: r.iteration, F: r.f, GradNorm: r.gradNorm, Gap: r.gap(),
		Step: r.step, Evaluations: r.evaluations, X: r.x,
	})
}
