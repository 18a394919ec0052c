package method

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/optimize"
)

// descentParameters are the hyperparameters of trainByDescent, the choice of the
// optimiser first.
func descentParameters(rates []string) []Hyperparameter {
	return []Hyperparameter{
		{Name: "optimizer", Kind: Choice, Default: "auto", Choices: []string{"auto", "lbfgs", "descent"}, Doc: "lbfgs (to the minimum), descent (query by query, keeping the best epoch), or auto: lbfgs where the scorer is linear and the loss has a gradient"},
		{Name: "rule", Kind: Choice, Default: "adam", Choices: []string{"plain", "momentum", "adam"}, Doc: "how descent makes a step of a gradient"},
		{Name: "rate", Kind: Number, Default: "0.01", Min: leastPositive, Max: 1e6, Grid: rates, Doc: "factor of descent's steps at the start"},
		{Name: "epochs", Kind: Integer, Default: "100", Min: 1, Max: 1e6, Doc: "passes of descent over all queries"},
		{Name: "batch", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "queries that one step of descent is made of"},
		{Name: "decay", Kind: Number, Default: "0.95", Min: leastPositive, Max: 1, Doc: "factor of the rate after an epoch whose training cost rose"},
		{Name: "keep", Kind: Choice, Default: "best", Choices: []string{"best", "last"}, Doc: "epoch of descent that is kept: the best, by the validation data or, without these, the training cost, or the last; with keep=last and as many epochs a training without validation data ends where one with them was best"},
		{Name: "bag", Kind: Integer, Default: "1", Min: 1, Max: 1000, Doc: "networks trained side by side from different random weights, whose scores are averaged"},
		{Name: "patience", Kind: Integer, Default: "50", Min: 0, Max: 1e6, Doc: "epochs without a lower training cost before descent starts anew from random weights; 0: never"},
	}
}

var rules = map[string]optimize.Rule{"plain": optimize.Plain, "momentum": optimize.Momentum, "adam": optimize.Adam}

// descent is a training by stochastic descent that can be resumed.
type descent struct {
	*learner
	bag   *bag
	valid *validation // nil without validation data
	file  checkpointFile
}

// trainByDescent descends along one query's gradient, or field, after the other.
// The epoch with the best value on the validation data is kept or, without these,
// that with the lowest training cost; or the last, if asked for.
func trainByDescent(ctx context.Context, m *Method, p *Problem, l loss.Loss) (*model.Model, error) {
	learner, err := newLearner(m, p, l)
	if err != nil {
		return nil, err
	}
	r := &descent{learner: learner}
	if r.bag, err = newBag(learner, p.Values.Int("bag")); err != nil {
		return nil, err
	}
	if r.valid, err = newValidation(m, p, choosing); err != nil {
		return nil, err
	}
	r.file = checkpointFile{path: p.Checkpoint, fingerprint: r.fingerprint()}
	solver, err := r.solver()
	if err != nil {
		return nil, err
	}
	best, err := solver.Minimize(ctx, r.bag, nil)
	if err != nil {
		return nil, r.explain(err)
	}
	if p.redraws() {
		// The objective told is that of the first draws, however training ended.
		if err := r.risk.Redraw(0); err != nil {
			return nil, err
		}
	}
	s, params := r.bag.average(best.X)
	trained := r.model(params, r.training(best))
	trained.Scorer = s
	if ctx.Err() != nil { // then the objective has broken off, and the checkpoint stays
		return nil, context.Cause(ctx)
	}
	return trained, r.file.remove()
}

// fingerprint adds to what all trainings depend on the data by which the epoch is
// chosen.
func (r *descent) fingerprint() string {
	words := fingerprint(r.method, r.problem)
	if r.valid == nil {
		return words
	}
	return words + " " + r.valid.fingerprint()
}

// solver returns the descent that the hyperparameters describe, resumed from the
// checkpoint if there is one.
func (r *descent) solver() (optimize.Descent, error) {
	p, v := r.problem, r.problem.Values
	d := optimize.Descent{
		Rule:        rules[v.Text("rule")],
		Rate:        v.Number("rate"),
		C:           r.c,
		Batch:       v.Int("batch"),
		Workers:     p.Workers,
		MaxEpochs:   v.Int("epochs"),
		Decay:       v.Number("decay"),
		Patience:    v.Int("patience"),
		KeepLast:    v.Text("keep") == "last",
		Init:        func(restart int, x []float64) { r.bag.setStart(x, p.Seed, restart) },
		Shuffle:     func(epoch int) *rand.Rand { return random.Stream(p.Seed, "shuffle", strconv.Itoa(epoch)) },
		Fingerprint: r.file.fingerprint,
	}
	if d.Patience == 0 {
		d.Patience = -1
	}
	if p.redraws() {
		d.Begin = r.risk.Redraw
	}
	if r.valid != nil {
		d.Validate = r.validate
	}
	if p.Observe != nil {
		d.Observe = r.observe
	}
	if r.file.path == "" {
		return d, nil
	}
	d.CheckpointEvery, d.Checkpoint = 10, r.file.writeDescent
	var err error
	d.Resume, err = r.file.readDescent()
	return d, err
}

// validate returns the validation value of the bag's average at x.
func (r *descent) validate(_ int, x []float64) (float64, error) {
	s, params := r.bag.average(x)
	return r.valid.value(s, params)
}

func (r *descent) observe(e optimize.Epoch) error {
	_, params := r.bag.average(e.X)
	r.problem.Observe(Iteration{
		Start:      e.Restart,
		Number:     e.Number,
		Objective:  e.TrainingCost / float64(r.bag.size),
		Epoch:      true,
		Rate:       e.Rate,
		Validated:  r.valid != nil,
		Validation: e.Validation,
		Best:       e.Best,
		Params:     params,
	})
	return nil
}

// explain names the query at which numbers became infinite or NaN.
func (r *descent) explain(err error) error {
	var at *optimize.NotFinite
	if !errors.As(err, &at) {
		return err
	}
	if at.Term < 0 {
		return badProblem("%w; a lower rate may help", err)
	}
	return badProblem("query %q: %w; a lower rate may help", r.risk.QueryID(at.Term), err)
}

// training describes how the result came about; the objective is that of the epoch
// kept, at its end.
func (r *descent) training(best *optimize.DescentResult) model.Training {
	value, norm := r.bag.objective(best.X)
	t := model.Training{
		Objective:   value,
		GradNorm:    norm,
		Iterations:  best.Epochs,
		Evaluations: best.Epochs + 1,
		Status:      best.Status.String(),
		BestEpoch:   best.Epoch,
	}
	if r.valid != nil {
		t.Validation = &best.Validation
		t.Refit = fmt.Sprintf("epochs=%d keep=last", best.Epoch)
	}
	return t
}
