package train

import (
	"context"
	"math"

	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// memory is the number of L-BFGS's correction pairs. Many are worth having where
// the features of LETOR's data are nearly dependent and C is large: the factored
// MLE at C=1 on OHSUMED's fold 1 is certified after 250 to 400 iterations with 40
// to 60 pairs, and not in 500 with 10 or 20; the pairs cost little beside one
// evaluation of the objective.
const memory = 50

// LBFGS minimises the regularised empirical risk Σ loss + ‖w‖²/C: once from w = 0 if it
// is convex, to a certified gap; else from some random starts too, keeping the lowest
// objective. The loss must have a gradient. The zero value minimises the risk of a linear
// scorer without a penalty.
type LBFGS struct {
	Architecture Architecture
	C            float64 // of the penalty ‖w‖²/C; 0: none
	Iterations   int     // at most, a start; 0 means 1000
	Tolerance    float64 // gap (convex) or gain (otherwise), relatively, at which to stop; 0 means 1e-6 and 1e-9
	Restarts     int     // random starts besides the first where the risk is not convex
}

// Learn implements Learner. It writes checkpoints.
func (l LBFGS) Learn(ctx context.Context, t *Task) (*Learned, error) {
	s := l.Architecture.new(t.Inputs())
	risk, err := t.Risk(s, t.Loss, l.C)
	if err != nil {
		return nil, err
	}
	if t.Loss.Traits().NonGradient {
		return nil, BadProblem("the λ of the loss are not the gradient of its value, so a line search has nothing to go by; expected a descent")
	}
	m := &minimization{task: t, scorer: s, file: checkpointFile{t.Checkpoint, t.identityWith(s)}, first: math.NaN()}
	if t.observesIterations() {
		if m.valid, err = t.Validation(false); err != nil {
			return nil, err
		}
	}
	solver, err := m.solver(l, risk)
	if err != nil {
		return nil, err
	}
	best, err := solver.Minimize(ctx, risk)
	if err != nil {
		return nil, m.file.explain(err)
	}
	t.warnStuck(best, m.first)
	return &Learned{s, best.X, training(best), risk.Queries()}, m.file.remove()
}

// warnStuck warns of a minimisation that found no lower point than its start, though the gradient
// there is not 0. The objective at the start may be unknown (NaN).
func (t *Task) warnStuck(best *optimize.Result, start float64) {
	minimum := best.Status == optimize.GapReached || best.Status == optimize.GradientSmall
	if !minimum && (best.Iterations == 0 || best.F >= start) {
		t.warnUnimproved(best.F, best.F)
	}
}

// training describes how the result came about.
func training(best *optimize.Result) model.Training {
	converged := best.Status.Converged()
	t := model.Training{
		Converged:   &converged,
		Objective:   best.F,
		GradNorm:    best.GradNorm,
		Iterations:  best.Iterations,
		Evaluations: best.Evaluations,
		Status:      best.Status.String(),
	}
	if !math.IsInf(best.Gap, 1) {
		t.Gap = &best.Gap
	}
	return t
}

// minimization is a training by L-BFGS that can be resumed.
type minimization struct {
	task   *Task
	scorer scorer.Scorer
	file   checkpointFile
	valid  *Validation // for the observer, nil without
	first  float64     // objective at the first start; NaN if that was before a checkpoint
}

// solver returns the optimiser that the settings describe, resumed from the checkpoint if
// there is one.
func (m *minimization) solver(l LBFGS, risk *objective.Risk) (optimize.Multistart, error) {
	t := m.task
	solver := l.solver(t.Problem, m.scorer, risk.StrongConvexity())
	solver.Observe = m.observe
	var err error
	solver.Resumption, err = resumable[optimize.MultistartState](m.file)
	return solver, err
}

// solver returns the optimiser for the loss of a problem and a scorer. The strong convexity is that of the risk
// if the loss is convex in the parameters.
func (l LBFGS) solver(p *Problem, s scorer.Scorer, strongConvexity float64) optimize.Multistart {
	solver := optimize.Multistart{
		Solver: optimize.LBFGS{Memory: memory, MaxIterations: l.Iterations},
		Starts: 1,
		Init:   func(start int, x []float64) { setStart(x, s, p.Seed, 0, start) },
	}
	if p.Loss.Traits().Convex && isLinear(s) {
		solver.Solver.StrongConvexity = strongConvexity
		solver.Solver.GapTolerance = l.Tolerance
	} else {
		solver.Solver.FunctionTolerance = l.Tolerance
		solver.Starts += l.Restarts
	}
	return solver
}

// observe passes an iteration on to the problem's observer, if it wants iterations.
func (m *minimization) observe(start int, it optimize.Iteration, lowest bool) error {
	if start == 0 && it.Number == 0 {
		m.first = it.F
	}
	if !m.task.observesIterations() {
		return nil
	}
	now := Iteration{Start: start, Number: it.Number, Objective: it.F, GradNorm: it.GradNorm, Best: lowest, Params: it.X}
	if m.valid != nil {
		var err error
		if now.Validation, err = m.valid.Value(m.scorer, it.X); err != nil {
			return err
		}
		now.Validated = true
	}
	m.task.Observe(now)
	return nil
}
