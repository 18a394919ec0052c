package method

import (
	"context"
	"fmt"
	"math"

	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/optimize"
)

// memory is the number of L-BFGS's correction pairs. Many are worth having where
// the features of LETOR's data are nearly dependent and C is large: the factored
// MLE at C=1 on OHSUMED's fold 1 is certified after 250 to 400 iterations with 40
// to 60 pairs, and not in 500 with 10 or 20; the pairs cost little beside one
// evaluation of the objective.
const memory = 50

// trainByLBFGS minimises the regularised empirical risk: once from w = 0 if it is
// convex, else from some random starts too, keeping the lowest objective.
func trainByLBFGS(ctx context.Context, m *Method, p *Problem, l loss.Loss) (*model.Model, error) {
	learner, err := newLearner(m, p, l)
	if err != nil {
		return nil, err
	}
	r := newMinimization(learner)
	if p.Observe != nil {
		if r.valid, err = newValidation(m, p, selection); err != nil {
			return nil, err
		}
	}
	best, err := r.best(ctx)
	if err != nil {
		return nil, err
	}
	return learner.model(best.X, training(best)), nil
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
	*learner
	solver optimize.LBFGS
	starts int
	file   checkpointFile
	lowest float64     // objective observed
	valid  *validation // for the observer, nil without
}

func newMinimization(l *learner) *minimization {
	v, name := l.problem.Values, fingerprint(l.method, l.problem)
	r := &minimization{
		learner: l,
		solver: optimize.LBFGS{
			Memory:        memory,
			MaxIterations: v.Int("iterations"),
			Fingerprint:   name,
		},
		starts: 1,
		file:   checkpointFile{path: l.problem.Checkpoint, fingerprint: name},
		lowest: math.Inf(1),
	}
	if l.convex() {
		r.solver.StrongConvexity = l.risk.StrongConvexity()
		r.solver.GapTolerance = v.Number("tolerance")
	} else {
		r.solver.FunctionTolerance = v.Number("tolerance")
		r.starts += v.Int("restarts")
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
	if observe := r.problem.Observe; observe != nil {
		solver.Observe = func(it optimize.Iteration) error {
			now := Iteration{Start: at.Start, Number: it.Number, Objective: it.F, GradNorm: it.GradNorm, Best: it.F < r.lowest, Params: it.X}
			r.lowest = min(r.lowest, it.F)
			if r.valid != nil {
				var err error
				if now.Validation, err = r.valid.value(r.scorer, it.X); err != nil {
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
		setStart(start, r.scorer, r.problem.Seed, 0, at.Start)
	}
	return solver.Minimize(ctx, r.risk, start)
}

// fingerprint names all that training depends on, as words NAME=VALUE, so that a
// checkpoint of another problem is not taken for this one's.
func fingerprint(m *Method, p *Problem) string {
	words := "method=" + m.Name
	if m.UsesMeasure {
		words += " measure=" + p.Measure.Name() + " convention=" + measure.ConventionOf(p.Measure).Name()
	}
	words += " scorer=" + scorerKind(m, p)
	return fmt.Sprintf("%s %s seed=%d relevant=%g normalization=%s data=%s", words, p.Values, p.Seed, p.relevant.Threshold(), p.Normalization, p.Data.Fingerprint())
}
