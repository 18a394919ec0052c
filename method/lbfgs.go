package method

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/measure"
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
		return nil, &ProblemError{err}
	}
	if risk.Queries() == 0 {
		return nil, badProblem("found no query with both relevant and irrelevant documents in the training data, expected at least one")
	}
	best, err := newDescent(p, risk, l.Traits().Convex, fingerprint(m, p)).best(ctx)
	if err != nil {
		return nil, err
	}
	trained := &model.Model{
		Method:          m.Name,
		Hyperparameters: p.Values.Typed(),
		Seed:            p.Seed,
		FeatureNames:    d.FeatureNames,
		Normalization:   p.Normalization,
		Training:        training(p.Data, risk, best),
		Scorer:          s,
		Params:          best.X,
	}
	if m.UsesMeasure {
		trained.Measure = p.Measure.Name()
		trained.Convention = measure.ConventionOf(p.Measure).Name()
	}
	return trained, nil
}

// training describes how the result came about.
func training(d *dataset.Dataset, risk *objective.Risk, best *optimize.Result) model.Training {
	t := model.Training{
		Fingerprint: d.Fingerprint(),
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
		t.Gap = &best.Gap
	}
	return t
}

// descent is a minimisation from one or more starts that can be resumed.
type descent struct {
	problem *Problem
	risk    *objective.Risk
	solver  optimize.LBFGS
	starts  int
	file    checkpointFile
}

func newDescent(p *Problem, risk *objective.Risk, convex bool, fingerprint string) *descent {
	r := &descent{
		problem: p,
		risk:    risk,
		solver: optimize.LBFGS{
			Memory:        memory,
			MaxIterations: p.Values.Int("iterations"),
			Fingerprint:   fingerprint,
		},
		starts: 1,
		file:   checkpointFile{path: p.Checkpoint, fingerprint: fingerprint},
	}
	if convex {
		r.solver.StrongConvexity = risk.StrongConvexity()
		r.solver.GapTolerance = p.Values.Number("tolerance")
	} else {
		r.solver.FunctionTolerance = p.Values.Number("tolerance")
		r.starts += p.Values.Int("restarts")
	}
	return r
}

// best returns the result of the start with the lowest objective, the first of
// equals.
func (r *descent) best(ctx context.Context) (*optimize.Result, error) {
	at, err := r.file.read(r.starts, r.risk.Dim())
	if err != nil {
		return nil, err
	}
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

func (r *descent) minimize(ctx context.Context, at *checkpoint) (*optimize.Result, error) {
	solver := r.solver
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

// fingerprint names all that training depends on, as words NAME=VALUE, so that a
// checkpoint of another problem is not taken for this one's.
func fingerprint(m *Method, p *Problem) string {
	words := "method=" + m.Name
	if m.UsesMeasure {
		words += " measure=" + p.Measure.Name() + " convention=" + measure.ConventionOf(p.Measure).Name()
	}
	return fmt.Sprintf("%s %s seed=%d normalization=%s data=%s", words, p.Values, p.Seed, p.Normalization, p.Data.Fingerprint())
}
