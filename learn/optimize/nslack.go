package optimize

import (
	"context"
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// NSlack minimises
//
//	F(x) = ½‖x‖² + C·Σ_i R_i(x)
//
// for convex R_i that may have kinks. It has cutting planes for each R_i, whereas [CuttingPlane] has them for the
// sum. This is the n-slack formulation of I. Tsochantaridis, T. Joachims, T. Hofmann, Y. Altun, Large Margin Methods
// for Structured and Interdependent Output Variables, JMLR 6, 2005. An iteration evaluates all terms at the minimum
// of the model,
//
//	M(x) = ½‖x‖² + C·Σ_i max_k (a_ik·x + b_ik),
//
// and adds a plane to every term whose value exceeds its model there. CuttingPlane minimises M, which is cheap to
// evaluate, to a part of the remaining gap. Models only grow, so a plane below one model is also below all later
// models and below F. So CuttingPlane keeps its planes from one model to the next. Its dual variables, distributed
// over the planes of the terms that were highest, are feasible in the dual of the n-slack program,
//
//	maximise  C·Σ_ik α_ik b_ik − ½‖C·Σ_ik α_ik a_ik‖²   over  α_ik ≥ 0, Σ_k α_ik = 1.
//
// The value of this dual is a lower bound on the minimum of F, so the run ends with a certificate. The n-slack
// formulation needs fewer evaluations than the one-slack formulation, but more memory and more time between
// evaluations.
//
// The same terms, settings and start give the same bits for any number of workers.
type NSlack struct {
	C             float64 // factor of Σ R_i; 0 means 1
	MaxIterations int     // largest number of evaluations of all terms; 0 means 10000

	// GapTolerance ends the run when the certified gap between F and its minimum is at most GapTolerance·max(1, |F|).
	// 0 means 1e-6. A negative number disables it.
	GapTolerance float64

	// Patience is the number of iterations after which a plane is dropped if it was not the highest of its term at
	// any evaluated point; 0 means 50.
	Patience int

	// Workers is the number of goroutines that evaluate terms; 0 means GOMAXPROCS.
	Workers int

	// Observe is called as in CuttingPlane.
	Observe func(Iteration) error
}

// Minimize searches for the minimum of ½‖x‖² + C·Σ terms, starting at x0, which has terms.Dim() elements and is not
// changed. Errors and result are as in [CuttingPlane.Minimize].
func (s NSlack) Minimize(ctx context.Context, terms Terms, x0 []float64) (*Result, error) {
	settings := CuttingPlane{C: s.C, MaxIterations: s.MaxIterations, GapTolerance: s.GapTolerance, Patience: s.Patience, Observe: s.Observe}
	if err := settings.setDefaults(); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	b := newModelled(settings, s.Workers, terms)
	if err := b.begin(ctx, x0); err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	status, err := b.iterate(ctx)
	if err != nil {
		err = fmt.Errorf("optimize: %v after %d iterations: %w", status, b.iteration, err)
	}
	return &Result{
		X: b.best, F: b.bestF, GradNorm: b.distance(), Gap: b.gap(),
		Iterations: b.iteration, Evaluations: b.evaluations, Status: status,
	}, err
}

// models is the sum of the terms' models, Σ_i max_k (a_ik·x + b_ik), as an [Objective].
type models struct {
	dim   int
	terms [][]plane
}

// Dim implements Objective.
func (m *models) Dim() int { return m.dim }

// Eval implements Objective. It also marks the highest planes as used.
func (m *models) Eval(x, grad []float64) float64 {
	clear(grad)
	var sum float64
	for _, planes := range m.terms {
		value, k := highest(planes, x)
		planes[k].idle = 0
		sum += value
		kernel.Add(grad, planes[k].a)
	}
	return sum
}

// highest returns the largest value of the planes at x, and the index of the plane.
func highest(planes []plane, x []float64) (value float64, k int) {
	value = math.Inf(-1)
	for i := range planes {
		if v := planes[i].b + kernel.Dot(planes[i].a, x); v > value {
			value, k = v, i
		}
	}
	return value, k
}

// modelled is one minimisation by NSlack.
type modelled struct {
	set     CuttingPlane
	workers int
	terms   Terms
	models  models
	inner   *bundle // minimises the models; its best point is near their minimum

	best        []float64
	bestF       float64
	rounded     float64 // bound on the rounding error of bestF
	iteration   int
	evaluations int
	stall       stall

	values []float64   // values of the terms at the point evaluated last
	grads  [][]float64 // gradients of the terms at that point
}

func newModelled(set CuttingPlane, workers int, terms Terms) *modelled {
	n, d := terms.Terms(), terms.Dim()
	b := &modelled{
		set: set, workers: workers, terms: terms, models: models{d, make([][]plane, n)},
		best: make([]float64, d), values: make([]float64, n), grads: make([][]float64, n),
	}
	inner := set
	inner.Observe = nil
	inner.MaxIterations = maxModelIterations
	b.inner = newBundle(inner, &b.models)
	for i := range b.grads {
		b.grads[i] = make([]float64, d)
	}
	return b
}

func (b *modelled) begin(ctx context.Context, x0 []float64) error {
	if err := takeStart(b.best, x0); err != nil {
		return err
	}
	if err := b.evaluate(x0); err != nil {
		return err
	}
	for i := range b.grads {
		b.add(i, x0)
	}
	return b.minimizeModel(ctx, x0)
}

// evaluate evaluates all terms and F at x.
func (b *modelled) evaluate(x []float64) error {
	parallel.For(len(b.grads), b.workers, func(_, i int) {
		clear(b.grads[i])
		b.values[i] = b.terms.EvalTerm(i, x, b.grads[i])
	})
	b.evaluations++
	var sum, rounded float64
	for i, v := range b.values {
		if !finite(v) || notFinite(b.grads[i]) >= 0 {
			return fmt.Errorf("term %d is %v or its subgradient not finite, expected finite numbers", i, v)
		}
		sum += v
		rounded += float64(b.set.C * rounding(v, b.grads[i], x))
	}
	if f := float64(kernel.Dot(x, x)/2) + float64(b.set.C*sum); b.evaluations == 1 || f+rounded < b.bestF+b.rounded {
		b.bestF, b.rounded = f, rounded
		copy(b.best, x)
	}
	return nil
}

// add adds to term i the plane of the last evaluation, which was at x.
func (b *modelled) add(i int, x []float64) {
	a := append([]float64(nil), b.grads[i]...)
	b.models.terms[i] = append(b.models.terms[i], plane{a: a, b: b.values[i] - kernel.Dot(a, x) - rounding(b.values[i], a, x)})
}

// grow adds planes at x to the terms that exceed their models there by more than their share of the tolerance. It
// drops planes that have been idle for more than Patience iterations.
func (b *modelled) grow(x []float64) {
	least := 1e-3 * b.tolerance() / (b.set.C * float64(len(b.values)))
	for i, v := range b.values {
		kept := b.models.terms[i][:0]
		for _, p := range b.models.terms[i] {
			if p.idle++; p.idle <= b.set.Patience {
				kept = append(kept, p)
			}
		}
		clear(b.models.terms[i][len(kept):])
		b.models.terms[i] = kept
		if model, _ := highest(kept, x); v > model+least {
			b.add(i, x)
		}
	}
}

// tolerance returns the gap that ends the run. It is at least 1e-12·max(1, |F|), so that rounding errors do not hide
// it.
func (b *modelled) tolerance() float64 {
	return max(b.set.GapTolerance, 1e-12) * max(1, math.Abs(b.bestF))
}

// maxModelIterations is the largest number of iterations for one model.
const maxModelIterations = 1000

// minimizeModel searches for the minimum of the models, starting at x, to a part of the remaining gap. If ctx is
// cancelled, it stops early without an error.
func (b *modelled) minimizeModel(ctx context.Context, x []float64) error {
	const part = 0.2
	in := b.inner
	if in.iteration == 0 && in.evaluations == 0 {
		if err := in.begin(x); err != nil {
			return err
		}
	} else if err := in.restart(); err != nil {
		return err
	}
	left := max(b.tolerance(), min(b.bestF-in.lower, math.Abs(b.bestF)))
	in.set.GapTolerance = part * left / max(1, math.Abs(in.best.f))
	if _, err := in.iterate(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// restart continues the minimisation after the risk has grown.
func (b *bundle) restart() error {
	copy(b.trial.x, b.best.x)
	if err := b.evaluate(); err != nil {
		return err
	}
	b.best, b.trial = b.trial, b.best
	b.iteration, b.stall = 0, stall{}
	b.minimizeModel()
	return nil
}

// gap bounds the difference between the best value and the minimum, including rounding errors.
func (b *modelled) gap() float64 {
	return max(b.bestF+b.rounded-b.inner.lower, 0x1p-52*math.Abs(b.bestF))
}

// distance returns the distance between the best point and the models' minimum.
func (b *modelled) distance() float64 {
	dir := append([]float64(nil), b.inner.best.x...)
	kernel.Axpy(-1, b.best, dir)
	return norm(dir)
}

func (b *modelled) iterate(ctx context.Context) (Status, error) {
	if stop, err := b.observe(); stop {
		return Stopped, err
	}
	for {
		if status, err := b.set.ended(ctx, b.gap(), b.bestF, b.iteration, &b.stall); status != 0 {
			return status, err
		}
		if err := b.step(ctx); err != nil {
			return Diverged, err
		}
		b.iteration++
		if stop, err := b.observe(); stop {
			return Stopped, err
		}
	}
}

// step evaluates the terms at the models' minimum, adds planes and minimises the models again.
func (b *modelled) step(ctx context.Context) error {
	x := b.inner.best.x
	if err := b.evaluate(x); err != nil {
		return err
	}
	b.grow(x)
	return b.minimizeModel(ctx, x)
}

// observe reports the best point to the observer. stop reports whether the run ends.
func (b *modelled) observe() (stop bool, err error) {
	return observed(b.set.Observe, Iteration{
		Number: b.iteration, F: b.bestF, GradNorm: b.distance(), Gap: b.gap(),
		Evaluations: b.evaluations, X: b.best,
	})
}
