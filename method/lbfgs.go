package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/optimize"
	"github.com/listwise/listwise/scorer"
)

// trainByLBFGS minimises the regularised empirical risk of a linear scorer: once
// from w = 0 if the loss is convex, else from some random starts too, keeping the
// lowest objective.
func trainByLBFGS(ctx context.Context, m *Method, p *Problem, l loss.Loss) (*model.Model, error) {
	d := p.Data
	if p.Normalization != dataset.NoNormalization {
		d = dataset.Normalize(d, p.Normalization)
	}
	s := scorer.Linear{Features: d.Features}
	risk, err := objective.New(d, s, l, objective.Options{C: p.Values.Number("C"), Seed: p.Seed, Workers: p.Workers})
	if err != nil {
		return nil, err
	}
	if risk.Queries() == 0 {
		return nil, errors.New("no query of the training data has both relevant and irrelevant documents, expected at least one")
	}
	convex := l.Traits().Convex
	starts := 1
	if !convex {
		starts += p.Values.Int("restarts")
	}
	trained := &model.Model{
		Method:          m.Name,
		Hyperparameters: p.Values.Typed(),
		Seed:            p.Seed,
		FeatureNames:    d.FeatureNames,
		Normalization:   p.Normalization,
		Scorer:          s,
	}
	if m.UsesMeasure {
		trained.Measure = p.Measure.Name()
	}
	run := descent{
		problem: p,
		risk:    risk,
		solver: optimize.LBFGS{
			MaxIterations: p.Values.Int("iterations"),
			GapTolerance:  p.Values.Number("tolerance"),
		},
		file: checkpointFile{path: p.Checkpoint, fingerprint: fingerprint(m, p)},
	}
	if convex {
		run.solver.StrongConvexity = risk.StrongConvexity()
	} else {
		run.solver.FunctionTolerance = p.Values.Number("tolerance")
	}
	best, err := run.best(ctx, starts)
	if err != nil {
		return nil, err
	}
	trained.Params = best.X
	trained.Training = model.Training{
		Fingerprint: p.Data.Fingerprint(),
		Queries:     len(d.Queries),
		Documents:   d.Docs(),
		Used:        risk.Queries(),
		Objective:   best.F,
		GradNorm:    best.GradNorm,
		Iterations:  best.Iterations,
		Evaluations: best.Evaluations,
		Status:      best.Status.String(),
	}
	if !math.IsInf(best.Gap, 1) {
		trained.Training.Gap = &best.Gap
	}
	return trained, nil
}

// descent is a minimisation from one or more starts that can be resumed.
type descent struct {
	problem *Problem
	risk    *objective.Risk
	solver  optimize.LBFGS
	file    checkpointFile
}

// best returns the result of the start with the lowest objective, the first of
// equals.
func (r *descent) best(ctx context.Context, starts int) (*optimize.Result, error) {
	at, err := r.file.read()
	if err != nil {
		return nil, err
	}
	for ; at.Start < starts; at.Start++ {
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

func (r *descent) minimize(ctx context.Context, at *checkpoint) (*optimize.Result, error) {
	solver := r.solver
	solver.Fingerprint = r.file.fingerprint
	solver.Resume = at.State
	if r.file.path != "" {
		solver.CheckpointEvery = 10
		solver.Checkpoint = func(s *optimize.State) error {
			return r.file.write(&checkpoint{Start: at.Start, Best: at.Best, State: s})
		}
	}
	if observe := r.problem.Observe; observe != nil {
		solver.Observe = func(it optimize.Iteration) error {
			observe(Iteration{Start: at.Start, Number: it.Number, Objective: it.F, GradNorm: it.GradNorm, Params: it.X})
			return nil
		}
	}
	var start []float64
	if at.State == nil {
		start = r.start(at.Start)
	}
	return solver.Minimize(ctx, r.risk, start)
}

// start returns the i-th point to start from: zero, then standard Gaussian
// vectors.
func (r *descent) start(i int) []float64 {
	w := make([]float64, r.risk.Dim())
	if i > 0 {
		rng := random.Stream(r.problem.Seed, "start", strconv.Itoa(i))
		for j := range w {
			w[j] = rng.NormFloat64()
		}
	}
	return w
}

// fingerprint names all that training depends on, so that a checkpoint of
// another problem is not taken for this one's.
func fingerprint(m *Method, p *Problem) string {
	training := ""
	if m.UsesMeasure {
		training = p.Measure.Name()
	}
	return fmt.Sprintf("%s %s [%s] seed=%d normalization=%s data=%s", m.Name, training, p.Values, p.Seed, p.Normalization, p.Data.Fingerprint())
}
