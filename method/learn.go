package method

import (
	"context"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/scorer"
)

// learner is what an optimiser of a loss starts from.
type learner struct {
	method  *Method
	problem *Problem
	loss    loss.Loss
	data    *dataset.Dataset // normalized
	scorer  scorer.Scorer
	c       float64 // of the penalty ‖w‖²/c, none if 0
	risk    *objective.Risk
}

// newLearner binds the loss to the problem's data, normalized, under the method's
// penalty.
func newLearner(m *Method, p *Problem, l loss.Loss) (*learner, error) {
	c := p.Values.Number("C")
	if m.penalty != nil {
		c = m.penalty(p)
	}
	return newPenalizedLearner(m, p, l, c)
}

// newPenalizedLearner is newLearner with a penalty ‖w‖²/c, none if c is 0.
func newPenalizedLearner(m *Method, p *Problem, l loss.Loss, c float64) (*learner, error) {
	s, err := newScorer(m, p)
	if err != nil {
		return nil, &ProblemError{err}
	}
	if err := checkWork(p, s, l); err != nil {
		return nil, err
	}
	d := normalized(p.Data, p.Normalization)
	risk, err := objective.New(d, s, l, objective.Options{C: c, Seed: p.Seed, Workers: p.Workers, Done: p.done})
	if err != nil {
		return nil, &ProblemError{err}
	}
	if risk.Queries() == 0 {
		return nil, nothingToLearn(p)
	}
	return &learner{m, p, l, d, s, c, risk}, nil
}

// nothingToLearn tells that no query of the training data teaches anything, and why.
func nothingToLearn(p *Problem) error {
	if _, err := p.Values.method.hyperparameter(thresholdName); err == nil {
		return badProblem("found no query with both relevant and irrelevant documents in the training data, expected at least one: the lowest relevant grade is %g, the highest grade %g",
			p.Values.Number(thresholdName), p.Data.HighestGrade())
	}
	return badProblem("found no query with documents to be told apart in the training data, expected at least one: the lowest relevant grade is %g, the highest grade %g",
		p.relevant.Threshold(), p.Data.HighestGrade())
}

// convex tells whether the risk is convex in the scorer's parameters.
func (l *learner) convex() bool { return l.loss.Traits().Convex && l.scorer.Kind() == linearScorer }

// model returns the scorer with the given parameters as a model.
func (l *learner) model(params []float64, t model.Training) *model.Model {
	return newModel(l.method, l.problem, l.scorer, params, t, l.risk.Queries())
}

// newModel returns what was learned from so many of the problem's queries as a model.
func newModel(m *Method, p *Problem, s scorer.Scorer, params []float64, t model.Training, used int) *model.Model {
	t.Fingerprint, t.Seen = p.Data.Fingerprint(), p.Data.QuerySet()
	t.Queries, t.Documents, t.Used = len(p.Data.Queries), p.Data.Docs(), used
	trained := &model.Model{
		Method:          m.Name,
		Hyperparameters: p.Values.Typed(),
		Seed:            p.Seed,
		Threshold:       p.relevant.Threshold(),
		FeatureNames:    p.Data.FeatureNames,
		Missing:         p.Missing,
		Normalization:   p.Normalization,
		Training:        t,
		Scorer:          s,
		Params:          params,
	}
	if m.UsesMeasure {
		trained.Measure = p.Measure.Name()
		trained.Convention = measure.ConventionOf(p.Measure).Name()
	}
	return trained
}

// learn minimises the regularised empirical risk by the optimiser that the
// hyperparameter of that name chooses.
func learn(ctx context.Context, m *Method, p *Problem, l loss.Loss) (*model.Model, error) {
	optimizer := p.Values.Text("optimizer")
	if optimizer == "lbfgs" && l.Traits().Field {
		return nil, badProblem("optimizer=lbfgs: the forces λ of %s are not the gradient of its value, so a line search has nothing to go by; expected optimizer=descent or auto", m.Name)
	}
	if optimizer == "auto" {
		optimizer = "descent"
		if !l.Traits().Field && scorerKind(m, p) == linearScorer {
			optimizer = "lbfgs"
		}
	}
	if optimizer == "lbfgs" && p.Values.Int("bag") > 1 {
		return nil, badProblem("bag=%s with optimizer=lbfgs: only descents make a bag; expected bag=1 or optimizer=descent", p.Values.Text("bag"))
	}
	if optimizer == "lbfgs" && p.redraws() {
		return nil, badProblem("redraw=true with optimizer=lbfgs, which minimises one function; expected redraw=false or optimizer=descent")
	}
	if optimizer == "lbfgs" {
		return trainByLBFGS(ctx, m, p, l)
	}
	return trainByDescent(ctx, m, p, l)
}
