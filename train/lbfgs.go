package train

import (
	"context"
	"math"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/optimize"
	"github.com/listwise/listwise/scorer"
)

// memory is the number of L-BFGS's correction pairs. Many are worth having where
// the features of LETOR's data are nearly dependent and C is large: the factored
// MLE at C=1 on OHSUMED's fold 1 is certified after 250 to 400 iterations with 40
// to 60 pairs, and not in 500 with 10 or 20; the pairs cost little beside one
// evaluation of the objective.
const memory = 50

// LBFGS minimises the regularised empirical risk Σ loss + ‖w‖²/C: once from w = 0 if it
// is convex, to a certified gap; else from some random starts too, keeping the lowest
// objective. The loss must have a gradient.
type LBFGS struct {
	Architecture Architecture
	C            float64 // of the penalty ‖w‖²/C; 0: none
	Iterations   int     // at most, a start
	Tolerance    float64 // gap (convex) or gain (otherwise), relatively, at which to stop
	Restarts     int     // random starts besides the first where the risk is not convex
}

// Learn implements Learner. It writes checkpoints.
func (l LBFGS) Learn(ctx context.Context, t *Task) (*Learned, error) {
	s := l.Architecture.new(t.Data.Features)
	risk, err := t.Risk(s, t.Loss, l.C)
	if err != nil {
		return nil, err
	}
	if t.Loss.Traits().NonGradient {
		return nil, BadProblem("the forces λ of the loss are not the gradient of its value, so a line search has nothing to go by; expected a descent")
	}
	r := newMinimization(l, t, s, risk)
	if t.Observe != nil {
		if r.valid, err = t.Validation(false); err != nil {
			return nil, err
		}
	}
	best, err := r.best(ctx)
	if err != nil {
		return nil, err
	}
	return &Learned{s, best.X, training(best), risk.Queries()}, nil
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

// minimization is one from one or more starts that can be resumed.
type minimization struct {
	task   *Task
	scorer scorer.Scorer
	risk   *objective.Risk
	solver optimize.LBFGS
	starts int
	file   checkpointFile
	lowest float64     // objective observed
	valid  *Validation // for the observer, nil without
}

func newMinimization(l LBFGS, t *Task, s scorer.Scorer, risk *objective.Risk) *minimization {
	name := t.identity()
	r := &minimization{
		task: t, scorer: s, risk: risk,
		solver: optimize.LBFGS{
			Memory:        memory,
			MaxIterations: l.Iterations,
			Fingerprint:   name,
		},
		starts: 1,
		file:   checkpointFile{path: t.Checkpoint, fingerprint: name},
		lowest: math.Inf(1),
	}
	if t.Loss.Traits().Convex && isLinear(s) {
		r.solver.StrongConvexity = risk.StrongConvexity()
		r.solver.GapTolerance = l.Tolerance
	} else {
		r.solver.FunctionTolerance = l.Tolerance
		r.starts += l.Restarts
	}
	return r
}

// best returns the result of the start with the lowest objective, the first of
// equals.
func (r *minimization) best(ctx context.Context) (*optimize.Result, error) {
	at, err := r.file.read(r.starts, r.risk.Dim())
	if err != nil {
		return nil, err
	}
	r.lowest = at.Lowest
	for ; at.Start < r.starts; at.Start++ {
		result, err := r.minimize(ctx, at)
		if err != nil {
			return nil, err
		}
		if at.Best == nil || result.F < at.Best.F {
			at.Best = result
		}
		at.State = nil
	}
	return at.Best, r.file.remove()
}

func (r *minimization) minimize(ctx context.Context, at *checkpoint) (*optimize.Result, error) {
	solver := r.solver
	solver.Resume = at.State
	if r.file.path != "" {
		solver.CheckpointEvery = 10
		solver.Checkpoint = func(s *optimize.State) error {
			return r.file.write(&checkpoint{Start: at.Start, Best: at.Best, State: s, Lowest: r.lowest})
		}
	}
	if observe := r.task.Observe; observe != nil {
		solver.Observe = func(it optimize.Iteration) error {
			now := Iteration{Start: at.Start, Number: it.Number, Objective: it.F, GradNorm: it.GradNorm, Best: it.F < r.lowest, Params: it.X}
			r.lowest = min(r.lowest, it.F)
			if r.valid != nil {
				var err error
				if now.Validation, err = r.valid.Value(r.scorer, it.X); err != nil {
					return err
				}
				now.Validated = true
			}
			observe(now)
			return nil
		}
	}
	var start []float64
	if at.State == nil {
		start = make([]float64, r.risk.Dim())
		setStart(start, r.scorer, r.task.Seed, 0, at.Start)
	}
	return solver.Minimize(ctx, r.risk, start)
}
