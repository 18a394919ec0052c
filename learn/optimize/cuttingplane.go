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
// for a convex R that may have kinks, such as the structured hinge of SVMmap or the pairwise hinge of RankSVM. It
// evaluates R and a subgradient at a point ([Objective]). Each evaluation gives a plane below R. The maximum of the
// planes is a model of R. The minimum of the model plus ½‖x‖² is computed exactly by the dual problem, which has a
// variable for each plane:
//
//	maximise  C·Σ_k α_k b_k − ½‖C·Σ_k α_k a_k‖²   over  α ≥ 0, Σα = 1,   x = −C·Σ_k α_k a_k
//
// This is the one-slack formulation of T. Joachims, T. Finley, C.-N. J. Yu, Cutting-Plane Training of Structural
// SVMs, Machine Learning 77, 2009, algorithm 3. See also C. H. Teo et al., Bundle Methods for Regularized Risk
// Minimization, JMLR 11, 2010. The dual value is a lower bound on the minimum, so the run ends with a certificate. As
// in V. Franc and S. Sonnenburg, Optimized Cutting Plane Algorithm (ICML 2008), a line search of F goes from the best
// point so far to the model's minimum. So F decreases monotonically, and every evaluation adds a plane.
//
// The same function, settings and start give the same bits.
type CuttingPlane struct {
	C             float64 // factor of R; 0 means 1
	MaxIterations int     // largest number of models that are minimised; 0 means 10000

	// GapTolerance ends the run when the certified gap between F and its minimum is at most GapTolerance·max(1, |F|).
	// 0 means 1e-6. A negative number disables it.
	GapTolerance float64

	// Patience is the number of iterations after which a plane is dropped if it was not active in the model's
	// minimum; 0 means 50.
	Patience int

	// Observe, if not nil, is called at the start and after every iteration, with the best point so far. An error
	// ends the run. Minimize returns the error, except for ErrStop.
	Observe func(Iteration) error
}

// Minimize searches for the minimum of ½‖x‖² + C·risk, starting at x0, which has risk.Dim() elements and is not
// changed. The error is about invalid settings, an invalid start, a risk that is not finite, a failed observer, or a
// cancelled ctx. In the last two cases the result is that of the last complete iteration, otherwise nil. A tolerance
// that was not reached is no error: see Result.Status. Result.GradNorm is the norm of the aggregate subgradient, −C·Σ
// α_k a_k − x. It is the distance between the best point and the last model's minimum.
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

// plane is a plane below C·R. Its value at x is a·x + b.
type plane struct {
	a    []float64
	b    float64
	idle int // number of iterations since it was last active in the model's minimum
}

// sighting is an evaluated point.
type sighting struct {
	x       []float64
	f       float64   // F(x)
	grad    []float64 // a subgradient of F
	rounded float64   // bound on the rounding error of f
}

// most returns an upper bound on F(x), with rounding errors.
func (s *sighting) most() float64 { return s.f + s.rounded }

// rounding bounds the rounding errors of a value at x and of value − a·x, the height of the plane with slope a at 0.
// Far from 0 both terms of this difference are large, and cancellation leaves few digits.
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
	model       []float64 // minimum of the model
	dir         []float64
	drop        []bool
	lower       float64 // lower bound on the minimum of F
	iteration   int
	evaluations int
	stall       stall
}

// stall detects that the gap no longer decreases.
type stall struct {
	mark float64 // gap after its last notable decrease
	idle int     // number of iterations since then
}

// worthwhile is the smallest relative decrease of the gap that counts as progress.
const worthwhile = 1e-3

// gone records the gap before an iteration and reports whether the run has stalled: whether the gap decreased by less
// than a thousandth in maxIdleModels iterations. Then only rounding errors remain, or the planes have so different
// scales that floating point cannot represent their minimum.
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

// evaluate evaluates F at b.trial.x and adds the plane.
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

// minimizeModel computes the minimum of the model and updates the lower bound on the minimum of F.
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

// modelTolerance returns the tolerance of the model's minimum: a small part of the remaining gap or of GapTolerance,
// whichever is larger.
func (b *bundle) modelTolerance() float64 {
	scale := math.Max(1, math.Abs(b.best.f))
	least := math.Max(b.set.GapTolerance, 1e-10) * scale
	if gap := b.best.most() - b.lower; !math.IsInf(gap, 1) {
		least = math.Max(least, gap)
	}
	return 1e-3 * least
}

// forget drops the planes that have been idle for more than Patience iterations.
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

// gap bounds the difference between the best value and the minimum. It is never less than the rounding error of F.
func (b *bundle) gap() float64 {
	return math.Max(b.best.most()-b.lower, 0x1p-52*math.Abs(b.best.f))
}

// distance returns the distance between the best point and the model's minimum.
func (b *bundle) distance() float64 {
	copy(b.dir, b.model)
	kernel.Axpy(-1, b.best.x, b.dir)
	return norm(b.dir)
}

// maxSteps is the largest number of evaluations on one segment. A slope counts as 0 if it is at most flat times the
// slope at the start of the segment.
const (
	maxSteps = 6
	flat     = 0.1
)

// search searches for the minimum of F on the segment from the best point to the model's minimum. It uses the slopes
// at the points that it tries.
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

// maxIdleModels is the number of iterations without notable progress after which the run ends.
const maxIdleModels = 20

// ended returns the status and the error with which a run ends before its next iteration. Status 0 means that it
// continues.
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

// observe reports the best point to the observer. stop reports whether the run ends.
func (b *bundle) observe() (stop bool, err error) {
	return observed(b.set.Observe, Iteration{
		Number: b.iteration, F: b.best.f, GradNorm: b.distance(), Gap: b.gap(),
		Evaluations: b.evaluations, X: b.best.x,
	})
}
