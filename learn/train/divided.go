package train

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// A training by L-BFGS can be divided over parts of the data, such as shards on several machines. Each part evaluates
// its share of the risk and its gradient. One L-BFGS minimises the sum.

// Divisible returns a *ProblemError unless the training can be divided. The learner must be [LBFGS] with a smooth
// loss and a linear scorer. The problem must have no transforms, no validation data and no checkpoint.
func (p *Problem) Divisible() error {
	l, ok := p.Learner.(LBFGS)
	switch {
	case !ok:
		return BadProblem("found the learner %T, expected L-BFGS: only a sum of losses that it minimises can be divided", p.Learner)
	case p.Loss == nil:
		return BadProblem("found no loss, expected one: what is divided is a sum of losses")
	case !isLinear(l.Architecture.new(1)):
		return BadProblem("found a scorer that is not linear, expected one that is: an average of others says nothing")
	case p.Loss.Traits().NonGradient || !p.Loss.Traits().Smooth:
		return BadProblem("found the loss %T, which is not smooth or whose λ are not its gradient, expected a smooth one", p.Loss)
	case len(p.Transforms) > 0:
		return BadProblem("found the transform %s, expected none: its numbers are learned from all data, of which a part has some", p.Transforms[0])
	case p.Valid != nil:
		return BadProblem("found validation data, expected none: L-BFGS chooses nothing by them")
	case p.Checkpoint != "":
		return BadProblem("found the checkpoint %s, expected none: a training over parts writes none", p.Checkpoint)
	}
	return nil
}

// Part is the training data of a problem as one part of a larger data set. It is an objective.PartialRisk. Several
// goroutines must not use it at once.
type Part struct {
	objective.PartialRisk

	problem *Problem
	learner LBFGS
	scorer  scorer.Scorer
	used    int
}

// NewPart binds the loss to the data of a problem, which must be [Problem.Divisible]. Data from which nothing can be
// learned are no error. Once ctx is done, evaluations fail.
func NewPart(ctx context.Context, p *Problem) (*Part, error) {
	if err := p.Divisible(); err != nil {
		return nil, err
	}
	p, err := p.ready(ctx)
	if err != nil {
		return nil, err
	}
	t := &Task{Problem: p}
	s := Linear(t.Inputs())
	risk, err := t.anyRisk(s, t.Loss, 0)
	if err != nil {
		return nil, err
	}
	part, err := risk.Part()
	return &Part{part, p, p.Learner.(LBFGS), s, risk.Queries()}, err
}

// Model minimises the risk of the part alone, and returns the model with a description of the part's data, except for
// the distribution of the features. share is the part's share of the whole. The penalty is multiplied by share, so
// that the objectives of all parts add up to the objective of the whole. The weights are 0 if share is 0 or if
// nothing can be learned from the part.
func (p *Part) Model(ctx context.Context, share float64) (*model.Model, error) {
	learned := &Learned{Scorer: p.scorer, Params: make([]float64, p.scorer.NumParams()), Used: p.used}
	if share > 0 && p.used > 0 {
		alone, err := objective.NewParts(p.scorer.NumParams(), []objective.PartialRisk{p.PartialRisk}, objective.Options{C: p.learner.C / share})
		if err != nil {
			return nil, err
		}
		best, err := p.learner.solver(p.problem, p.scorer, alone.StrongConvexity()).Minimize(ctx, alone)
		if err = cmp.Or(alone.Err(), err); err != nil {
			return nil, err
		}
		learned.Params, learned.Training = best.X, training(best)
	}
	m := p.problem.model(learned)
	m.Training.Summary = nil
	return m, errors.Join(p.problem.changed(), checkFinite(m))
}

// Divided is a training over parts, on this or other machines.
type Divided struct {
	Problem *Problem                // problem of any part, or of data with the same features: the settings
	Models  []*model.Model          // results of [Part.Model] for all parts, in the order of Parts
	Parts   []objective.PartialRisk // the parts

	// Average starts the minimisation from the mean of the weights of Models, each weighted by the number of queries
	// that its part could learn from. Otherwise the minimisation starts from 0, as on one machine.
	Average bool
}

// Learn minimises the regularised sum of the parts by the learner of Problem. The model is a function of the parts,
// their order and the settings. It differs from the model of [Run] on all data by rounding, within the tolerance. The
// model's Training.Divided describes the parts.
func (d *Divided) Learn(ctx context.Context) (*model.Model, error) {
	if err := d.Problem.Divisible(); err != nil {
		return nil, err
	}
	m, err := d.combined()
	if err != nil {
		return nil, err
	}
	l := d.Problem.Learner.(LBFGS)
	sum, err := objective.NewParts(m.Scorer.NumParams(), d.Parts, objective.Options{C: l.C})
	if err != nil {
		return nil, err
	}
	counted := &rounds{Parts: sum}
	solver := l.solver(d.Problem, m.Scorer, sum.StrongConvexity())
	begin := solver.Init
	solver.Init = func(start int, x []float64) {
		if begin(start, x); start == 0 && d.Average {
			d.average(x, m.Training.Used)
		}
	}
	best, err := solver.Minimize(ctx, counted)
	if err = cmp.Or(sum.Err(), err); err != nil { // an error of a part causes the solver's error
		return nil, err
	}
	course, t := training(best), &m.Training
	t.Objective, t.GradNorm, t.Gap, t.Iterations, t.Evaluations = course.Objective, course.GradNorm, course.Gap, course.Iterations, course.Evaluations
	t.Status, t.Converged = course.Status, course.Converged
	t.Divided = &model.Divided{Parts: len(d.Parts), Rounds: 1 + counted.n, Start: "zero"}
	if d.Average {
		t.Divided.Start = "average"
	}
	m.Params = best.X
	return m, checkFinite(m)
}

// rounds is a sum of parts that counts its evaluations.
type rounds struct {
	*objective.Parts

	n int
}

// Eval evaluates the sum of the parts.
func (r *rounds) Eval(w, grad []float64) float64 {
	r.n++
	return r.Parts.Eval(w, grad)
}

// average adds to x, which must be all 0, the weighted mean of the weights of Models.
func (d *Divided) average(x []float64, used int) {
	for _, m := range d.Models {
		share := float64(m.Training.Used) / float64(used)
		for i, w := range m.Params {
			x[i] += float64(share * w)
		}
	}
}

// combined returns the first model without parameters, with a description of the data of all parts. It returns an
// error if the models are of different problems, or if nothing can be learned from any part.
func (d *Divided) combined() (*model.Model, error) {
	if len(d.Models) == 0 || len(d.Models) != len(d.Parts) {
		return nil, fmt.Errorf("found %d models of %d parts, expected one of each, and some", len(d.Models), len(d.Parts))
	}
	all := *d.Models[0]
	all.Params = nil
	var t model.Training
	sum, queries, documents := sha256.New(), false, false
	for i, m := range d.Models {
		if err := alike(m, &all); err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", i, len(d.Models), err)
		}
		one := m.Training
		fmt.Fprintln(sum, one.Fingerprint)
		t.Queries, t.Documents, t.Used = t.Queries+one.Queries, t.Documents+one.Documents, t.Used+one.Used
		t.Seen = t.Seen.Union(one.Seen)
		queries, documents = queries || weighs(one, "queries"), documents || weighs(one, "documents")
	}
	if t.Used == 0 {
		return nil, BadProblem("found no query with documents to be told apart in any part, expected at least one: the lowest relevant grade is %g", all.Threshold)
	}
	t.Fingerprint, t.Weighted = hex.EncodeToString(sum.Sum(nil)[:16]), weighted(queries, documents)
	all.Training = t
	return &all, nil
}

// weighs reports whether a training had weights of what, "queries" or "documents".
func weighs(t model.Training, what string) bool {
	return t.Weighted == what || t.Weighted == weighted(true, true)
}

// alike returns an error if m and want are models of different problems.
func alike(m, want *model.Model) error {
	var fault string
	switch {
	case m.Method != want.Method || !maps.Equal(m.Hyperparameters, want.Hyperparameters) || m.Seed != want.Seed || m.Measure != want.Measure || m.Convention != want.Convention:
		fault = "another method or other settings"
	case m.Threshold != want.Threshold:
		fault = fmt.Sprintf("the lowest relevant grade %g, not %g,", m.Threshold, want.Threshold)
	case m.NumFeatures() != want.NumFeatures() || !slices.Equal(m.FeatureNames, want.FeatureNames):
		fault = fmt.Sprintf("%d features, or other names than the %d", m.NumFeatures(), want.NumFeatures())
	case m.Normalization != want.Normalization || m.Missing != want.Missing || m.AbsentMissing != want.AbsentMissing || !slices.Equal(m.Views, want.Views):
		fault = "another normalization, other views or another rule for missing values"
	default:
		return nil
	}
	return fmt.Errorf("found %s than those of the first part, expected parts of one problem", fault)
}
