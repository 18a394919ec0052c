package optimize

import (
	"context"
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// CuttingPlane minimises
//
//	F(x) = ½‖x‖² + C·R(x)
//
// for a convex R that may have kinks, such as the structured hinge of SVMmap or the pairwise hinge of
// RankSVM. It asks for the value and one subgradient at a point ([Objective]). Each is a plane below R.
// The maximum of the planes is a model of R. Its minimum with ½‖x‖² is found exactly by the dual problem,
// which has a variable for each plane:
//
//	maximise  C·Σ_k α_k b_k − ½‖C·Σ_k α_k a_k‖²   over  α ≥ 0, Σα = 1,   x = −C·Σ_k α_k a_k
//
// This is the one-slack formulation of T. Joachims, T. Finley, C.-N. J. Yu, Cutting-Plane Training of
// Structural SVMs, Machine Learning 77, 2009, algorithm 3. See also C. H. Teo et al., Bundle Methods for
// Regularized Risk Minimization, JMLR 11, 2010. The dual value is a lower bound on the minimum, so the run
// ends with a certificate. As in V. Franc and S. Sonnenburg, Optimized Cutting Plane Algorithm (ICML
// 2008), F is searched along the segment from the best point so far to the model's minimum. So F falls
// monotonically, and every point evaluated adds its plane.
//
// The same function, settings and start give the same bits.
type CuttingPlane struct {
	C             float64 // of C·R; 0 means 1
	MaxIterations int     // minima of models; 0 means 10000

	// GapTolerance ends the run when F is certified to be within GapTolerance·max(1, |F|) of the minimum. 0
	// means 1e-6; a negative number disables it.
	GapTolerance float64

	// Patience is the number of iterations after which a plane that had no part in
	// the model's minimum is dropped; 0 means 50.
	Patience int

	// Observe, if not nil, is called with the start and after every iteration, with
	// the best point so far. An error ends the run and is returned by Minimize,
	// except for ErrStop.
	Observe func(Iteration) error
}

// Minimize looks for a minimum of ½‖x‖² + C·risk from x0, which has risk.Dim() elements and is left
// unchanged. It returns an error if settings or start do not fit, if the risk is not finite, if the
// observer failed, or if ctx was cancelled. In the last two cases the result is that of the last complete
// iteration, otherwise nil. Missing the tolerance is no error: see Result.Status. Result.GradNorm is the
// norm of the aggregate subgradient, −C·Σ α_k a_k − x. It is the distance from the best point to the last
// model's minimum.
func (c CuttingPlane) Minimize(ctx context.Context, risk Objective, x0 []float64) (*Result, error) {
	if err := c.setDefaults(); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	b := newBundle(c, risk)
	if err := b.begin(x0); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	status, err := b.iterate(ctx)
	if err != nil {
		err = fmt.Errorf("optimize: %v after %d iterations: %w", status, b.iteration, err)
	}
	return &Result{
		X: b.best.x, F: b.best.f, GradNorm: b.distance(), Gap: b.gap(),
		Iterations: b.iteration, Evaluations: b.evaluations, Status: status,
	}, err
}

func (c *CuttingPlane) setDefaults() error {
	if err := checkFactor("factor C", c.C, "1"); err != nil {
		return err
	}
	if err := checkCounts(setting[int]{"iteration limit", c.MaxIterations}, setting[int]{"patience", c.Patience}); err != nil {
		return err
	}
	if err := checkTolerances(setting[float64]{"gap", c.GapTolerance}); err != nil {
		return err
	}
	defaultTo(&c.C, 1)
	defaultTo(&c.MaxIterations, 10000)
	defaultTo(&c.GapTolerance, 1e-6)
	defaultTo(&c.Patience, 50)
	return nil
}

// plane is a plane below C·R: its value at x is a·x + b.
type plane struct {
	a    []float64
	b    float64
	idle int // iterations since it had a part in the model's minimum
}

// sighting is a point that has been evaluated.
type sighting struct {
	x       []float64
	f       float64   // F(x)
	grad    []float64 // a subgradient of F
	rounded float64   // bound on the rounding error of f
}

// most is the largest that F(x) may be.
func (s *sighting) most() float64 { return s.f + s.rounded }

// rounding bounds the rounding error of a value at x with the slope a, and of its plane's height at 0,
// value − a·x. Far from 0 both terms are large, and cancellation leaves few digits of their difference.
func rounding(value float64, a, x []float64) float64 {
	size := math.Abs(value)
	for j, v := range x {
		size += math.Abs(float64(v * a[j]))
	}
	return float64(0x1p-49 * size)
}

// bundle is one minimisation by CuttingPlane.
type bundle struct {
	set         CuttingPlane
	risk        Objective
	planes      []plane
	qp          simplexQP
	best, trial sighting
	model       []float64 // the minimum of the model
	dir         []float64
	drop        []bool
	lower       float64 // bound on the minimum of F
	iteration   int
	evaluations int
	stall       stall
}

// stall detects that the gap no longer closes.
type stall struct {
	mark float64 // the gap when it last had closed notably
	idle int     // iterations since
}

// worthwhile is the part of a gap that is worth the iterations that it takes to close.
const worthwhile = 1e-3

// gone records the gap before an iteration and reports whether the run has stalled. It has if the gap did
// not close by a thousandth in maxIdleModels iterations. Then only rounding is left, or the planes have so
// different scales that their minimum is beyond floating-point precision.
func (s *stall) gone(gap float64) bool {
	s.idle++
	if s.mark == 0 || gap < s.mark*(1-worthwhile) {
		s.mark, s.idle = gap, 0
	}
	return s.idle >= maxIdleModels
}

func newBundle(set CuttingPlane, risk Objective) *bundle {
	n := risk.Dim()
	point := func() sighting { return sighting{x: make([]float64, n), grad: make([]float64, n)} }
	return &bundle{
		set: set, risk: risk, best: point(), trial: point(),
		model: make([]float64, n), dir: make([]float64, n), lower: math.Inf(-1),
	}
}

func (b *bundle) begin(x0 []float64) error {
	if err := takeStart(b.trial.x, x0); err != nil {
		return err
	}
	if err := b.evaluate(); err != nil {
		return err
	}
	b.best, b.trial = b.trial, b.best
	b.minimizeModel()
	return nil
}

// evaluate completes the trial at its x and adds the plane there.
func (b *bundle) evaluate() error {
	t := &b.trial
	value := float64(b.set.C * b.risk.Eval(t.x, t.grad))
	kernel.Scale(b.set.C, t.grad)
	b.evaluations++
	if !finite(value) || notFinite(t.grad) >= 0 {
		return fmt.Errorf("the risk is %v or its subgradient not finite, expected finite numbers", value)
	}
	t.rounded = rounding(value, t.grad, t.x)
	p := plane{a: append([]float64(nil), t.grad...), b: value - kernel.Dot(t.grad, t.x) - t.rounded}
	b.planes = append(b.planes, p)
	row := make([]float64, len(b.planes))
	for i, other := range b.planes {
		row[i] = kernel.Dot(p.a, other.a)
	}
	b.qp.add(row, p.b)
	t.f = value + float64(kernel.Dot(t.x, t.x)/2)
	kernel.Add(t.grad, t.x)
	return nil
}

// minimizeModel finds the minimum of the model and the bound on the minimum of F.
func (b *bundle) minimizeModel() {
	b.qp.solve(b.modelTolerance())
	clear(b.model)
	offset := 0.0
	for k := range b.planes {
		p, alpha := &b.planes[k], b.qp.alpha[k]
		if !b.qp.isIn[k] {
			p.idle++
			continue
		}
		p.idle = 0
		offset += float64(alpha * p.b)
		kernel.Axpy(-alpha, p.a, b.model)
	}
	bound := offset - float64(kernel.Dot(b.model, b.model)/2)
	if bound > b.lower {
		b.lower = bound
	}
	b.forget()
}

// modelTolerance is the tolerance of the model's minimum: a small part of the remaining gap, or of the
// tolerated gap.
func (b *bundle) modelTolerance() float64 {
	scale := math.Max(1, math.Abs(b.best.f))
	least := math.Max(b.set.GapTolerance, 1e-10) * scale
	if gap := b.best.most() - b.lower; !math.IsInf(gap, 1) {
		least = math.Max(least, gap)
	}
	return 1e-3 * least
}

// forget drops the planes that have been idle for long.
func (b *bundle) forget() {
	b.drop = b.drop[:0]
	kept := b.planes[:0]
	for _, p := range b.planes {
		old := p.idle > b.set.Patience
		b.drop = append(b.drop, old)
		if !old {
			kept = append(kept, p)
		}
	}
	if len(kept) < len(b.drop) {
		clear(b.planes[len(kept):])
		b.planes = kept
		b.qp.remove(b.drop)
	}
}

// gap bounds how far the best value is above the minimum. It is never less than the rounding of F.
func (b *bundle) gap() float64 {
	return math.Max(b.best.most()-b.lower, 0x1p-52*math.Abs(b.best.f))
}

// distance is the distance of the best point from the model's minimum.
func (b *bundle) distance() float64 {
	copy(b.dir, b.model)
	kernel.Axpy(-1, b.best.x, b.dir)
	return norm(b.dir)
}

// maxSteps bounds the evaluations on one segment, and flat is the part of the
// first slope at which a slope counts as 0.
const (
	maxSteps = 6
	flat     = 0.1
)

// search looks for the minimum of F on the segment from the best point to the
// model's minimum, by the slopes at the points it tries.
func (b *bundle) search() error {
	copy(b.dir, b.model)
	kernel.Axpy(-1, b.best.x, b.dir)
	start := append([]float64(nil), b.best.x...)
	first := kernel.Dot(b.best.grad, b.dir)
	low, lowSlope := 0.0, first
	high, highSlope := 1.0, math.Inf(1)
	step := 1.0
	for range maxSteps {
		copy(b.trial.x, start)
		kernel.Axpy(step, b.dir, b.trial.x)
		if err := b.evaluate(); err != nil {
			return err
		}
		slope := kernel.Dot(b.trial.grad, b.dir)
		if b.trial.most() < b.best.most() {
			b.best, b.trial = b.trial, b.best
		}
		if math.Abs(slope) <= flat*math.Abs(first) || (step == 1 && slope <= 0) {
			return nil
		}
		if slope < 0 {
			low, lowSlope = step, slope
		} else {
			high, highSlope = step, slope
		}
		part := 0.5
		if lowSlope < 0 {
			part = min(max(lowSlope/(lowSlope-highSlope), 0.1), 0.9)
		}
		step = low + float64(part*(high-low))
	}
	return nil
}

// maxIdleModels is the number of iterations without notable progress after which
// the search is given up.
const maxIdleModels = 20

// ended returns the status and error with which a run ends before its next iteration, or 0 to continue.
func (c *CuttingPlane) ended(ctx context.Context, gap, f float64, iteration int, s *stall) (Status, error) {
	switch {
	case gap <= c.GapTolerance*math.Max(1, math.Abs(f)):
		return GapReached, nil
	case s.gone(gap):
		return SearchStalled, nil
	case iteration >= c.MaxIterations:
		return IterationLimit, nil
	case ctx.Err() != nil:
		return Cancelled, context.Cause(ctx)
	}
	return 0, nil
}

func (b *bundle) iterate(ctx context.Context) (Status, error) {
	if stop, err := b.observe(); stop {
		return Stopped, err
	}
	for {
		if status, err := b.set.ended(ctx, b.gap(), b.best.f, b.iteration, &b.stall); status != 0 {
			return status, err
		}
		if err := b.search(); err != nil {
			return Diverged, err
		}
		b.minimizeModel()
		b.iteration++
		if stop, err := b.observe(); stop {
			return Stopped, err
		}
	}
}

// observe passes the best point to the observer and returns whether it wants to stop.
func (b *bundle) observe() (stop bool, err error) {
	return observed(b.set.Observe, Iteration{
		Number: b.iteration, F: b.best.f, GradNorm: b.distance(), Gap: b.gap(),
		Evaluations: b.evaluations, X: b.best.x,
	})
}
