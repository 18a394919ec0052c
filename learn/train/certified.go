package train

import (
	"context"
	"errors"
	"math"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// The learners of this file minimise ½‖w‖² + Σ loss over linear scorers and certify how far
// they are from the minimum, which rests on the loss being convex. They leave no checkpoints.

// HalfNorm is the c by which a penalty ‖w‖²/c is the ½‖w‖² of support vector
// machines.
const HalfNorm = 2.0

// Newton is truncated Newton for convex losses with a Hessian (loss.SecondOrder).
type Newton struct {
	Tolerance  float64 // gap to the minimum, relatively, at which to stop; 0 means 1e-6
	Iterations int     // at most; 0 means 200
}

// Learn implements Learner.
func (n Newton) Learn(ctx context.Context, t *Task) (*Learned, error) {
	r, err := newCertified(t, HalfNorm)
	if err != nil {
		return nil, err
	}
	risk, err := r.risk.SecondOrder()
	if err != nil {
		return nil, BadProblem("loss %T: %w", t.Loss, err)
	}
	solver := optimize.Newton{
		StrongConvexity: risk.StrongConvexity(),
		GapTolerance:    n.Tolerance,
		MaxIterations:   n.Iterations,
		Observe:         t.observer(),
	}
	result, err := solver.Minimize(ctx, risk, make([]float64, risk.Dim()))
	return r.learned(result, err)
}

// Smoothing is for convex losses with kinks: Newton's method on smooth stand-ins, which have
// a Hessian (loss.SecondOrder) and cutting planes of the loss (loss.CuttingPlane).
type Smoothing struct {
	Rounded    func(width float64) loss.Loss // a stand-in whose kinks are rounded off over a width; necessary
	Tolerance  float64                       // gap to the minimum, relatively, at which to stop; 0 means 1e-6
	Iterations int                           // at most; 0 means 1000
}

// Learn implements Learner.
func (m Smoothing) Learn(ctx context.Context, t *Task) (*Learned, error) {
	if m.Rounded == nil {
		return nil, errors.New("found no stand-in, expected one: smoothing minimises the loss by rounding off its kinks")
	}
	r, err := newCertified(t, HalfNorm)
	if err != nil {
		return nil, err
	}
	solver := optimize.Smoothing{GapTolerance: m.Tolerance, MaxIterations: m.Iterations, Observe: t.observer()}
	standIn := func(width float64) (optimize.Rounded, error) {
		risk, err := objective.New(t.Normalized(), r.scorer, m.Rounded(width), objective.Options{C: HalfNorm, Seed: t.Seed, Workers: t.Workers, Done: t.done})
		if err != nil {
			return nil, err
		}
		if err := risk.CheckSupport(); err != nil {
			return nil, BadProblem("stand-in for %T: %w", t.Loss, err)
		}
		smooth, err := risk.SecondOrder()
		if err != nil {
			return nil, BadProblem("stand-in for %T: %w", t.Loss, err)
		}
		return smooth, nil
	}
	result, err := solver.Minimize(ctx, r.risk, standIn, make([]float64, r.risk.Dim()))
	return r.learned(result, err)
}

// Planes is the cutting-plane method, for any convex loss: the values and gradients of a
// convex loss are its cutting planes, at kinks too.
type Planes struct {
	PerQuery   bool    // cutting planes for each query's loss (n-slack), not the sum (1-slack)
	Tolerance  float64 // gap to the minimum, relative to max(1, objective), at which to stop; 0 means 1e-6
	Iterations int     // at most; 0 means 10000
}

// Learn implements Learner.
func (p Planes) Learn(ctx context.Context, t *Task) (*Learned, error) {
	r, err := newCertified(t, 0)
	if err != nil {
		return nil, err
	}
	start := make([]float64, r.risk.Dim())
	if p.PerQuery {
		result, err := optimize.NSlack{
			GapTolerance: p.Tolerance, MaxIterations: p.Iterations, Workers: t.Workers, Observe: t.observer(),
		}.Minimize(ctx, r.risk, start)
		return r.learned(result, err)
	}
	result, err := optimize.CuttingPlane{GapTolerance: p.Tolerance, MaxIterations: p.Iterations, Observe: t.observer()}.Minimize(ctx, r.risk, start)
	return r.learned(result, err)
}

// certified is what the three have in common.
type certified struct {
	task   *Task
	scorer scorer.Scorer
	risk   *objective.Risk
}

// newCertified binds the loss under the penalty ‖w‖²/c, none if c is 0. A loss that is not
// convex is a *ProblemError: what would be certified would be false.
func newCertified(t *Task, c float64) (*certified, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	s := Linear(t.Inputs())
	risk, err := t.Risk(s, t.Loss, c)
	if err != nil {
		return nil, err
	}
	if traits := t.Loss.Traits(); !traits.Convex || traits.NonGradient {
		return nil, BadProblem("loss %T: found one that is not convex, or whose λ is not its gradient, expected a convex one: the certificate of this learner would be false (LBFGS and Descent give none)", t.Loss)
	}
	return &certified{t, s, risk}, nil
}

func (r *certified) learned(result *optimize.Result, err error) (*Learned, error) {
	if err != nil {
		return nil, err
	}
	r.task.warnStuck(result, math.NaN())
	return &Learned{r.scorer, result.X, training(result), r.risk.Queries()}, nil
}

// observesIterations reports whether the problem's observer wants the iterations of a minimisation.
func (t *Task) observesIterations() bool { return t.Observe != nil && !t.EpochsAlone }

// observer passes a solver's iterations on to the problem's observer, if it has one.
func (t *Task) observer() func(optimize.Iteration) error {
	observe := t.Observe
	if !t.observesIterations() {
		return nil
	}
	lowest := math.Inf(1)
	return func(it optimize.Iteration) error {
		better := it.F < lowest
		lowest = min(lowest, it.F)
		observe(Iteration{Number: it.Number, Objective: it.F, GradNorm: it.GradNorm, Best: better, Params: it.X})
		return nil
	}
}
