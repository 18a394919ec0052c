package method

import (
	"context"
	"math"

	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/optimize"
)

// halfNorm is the c by which a penalty ‖w‖²/c is the ½‖w‖² of support vector
// machines.
const halfNorm = 2.0

// checkMargin tells what does not go with an optimiser that works on w·x only and
// keeps no checkpoint.
func checkMargin(m *Method, p *Problem, optimizer string) error {
	if kind := scorerKind(m, p); kind != linearScorer {
		return badProblem("optimizer=%s with the scorer %s, expected %s", optimizer, kind, linearScorer)
	}
	if p.Values.Int("bag") > 1 {
		return badProblem("bag=%s with optimizer=%s: only descents make a bag; expected bag=1 or optimizer=descent", p.Values.Text("bag"), optimizer)
	}
	return noCheckpoint(p.Checkpoint)
}

// trainByNewton minimises ½‖w‖² + Σ loss, the loss being convex with a Hessian.
func trainByNewton(ctx context.Context, m *Method, p *Problem, l loss.Loss) (*model.Model, error) {
	learner, err := newPenalizedLearner(m, p, l, halfNorm)
	if err != nil {
		return nil, err
	}
	risk, err := learner.risk.Curved()
	if err != nil {
		return nil, err
	}
	solver := optimize.Newton{
		StrongConvexity: risk.StrongConvexity(),
		GapTolerance:    p.Values.Number("tolerance"),
		MaxIterations:   p.Values.Int("iterations"),
		Observe:         learner.observer(),
	}
	result, err := solver.Minimize(ctx, risk, make([]float64, risk.Dim()))
	if err != nil {
		return nil, err
	}
	return learner.model(result.X, training(result)), nil
}

// trainBySmoothing minimises ½‖w‖² + Σ loss, the loss being convex with kinks;
// rounded returns a stand-in for it whose kinks are rounded off over a width.
func trainBySmoothing(ctx context.Context, m *Method, p *Problem, l loss.Loss, rounded func(width float64) loss.Loss) (*model.Model, error) {
	learner, err := newPenalizedLearner(m, p, l, halfNorm)
	if err != nil {
		return nil, err
	}
	solver := optimize.Smoothing{
		GapTolerance:  p.Values.Number("tolerance"),
		MaxIterations: p.Values.Int("iterations"),
		Observe:       learner.observer(),
	}
	standIn := func(width float64) (optimize.Rounded, error) {
		r, err := objective.New(learner.data, learner.scorer, rounded(width), objective.Options{C: halfNorm, Seed: p.Seed, Workers: p.Workers, Done: p.done})
		if err != nil {
			return nil, err
		}
		return r.Curved()
	}
	result, err := solver.Minimize(ctx, learner.risk, standIn, make([]float64, learner.risk.Dim()))
	if err != nil {
		return nil, err
	}
	return learner.model(result.X, training(result)), nil
}

// trainByPlanes minimises ½‖w‖² + Σ loss by cutting planes, the loss being convex.
func trainByPlanes(ctx context.Context, m *Method, p *Problem, l loss.Loss) (*model.Model, error) {
	learner, err := newPenalizedLearner(m, p, l, 0)
	if err != nil {
		return nil, err
	}
	solver := optimize.CuttingPlane{
		GapTolerance:  p.Values.Number("tolerance"),
		MaxIterations: p.Values.Int("iterations"),
		Observe:       learner.observer(),
	}
	result, err := solver.Minimize(ctx, learner.risk, make([]float64, learner.risk.Dim()))
	if err != nil {
		return nil, err
	}
	return learner.model(result.X, training(result)), nil
}

// observer passes a solver's iterations on to the problem's observer, if it has one.
func (l *learner) observer() func(optimize.Iteration) error {
	observe := l.problem.Observe
	if observe == nil {
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
