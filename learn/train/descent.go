package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Descent is stochastic gradient descent along the λ of one query after the other. It keeps the epoch with the best
// value on the validation data. Without validation data it keeps the epoch with the lowest training cost. With
// KeepLast it keeps the last epoch. The zero value trains a linear scorer with the defaults of the catalogue's methods
// (package method), but without a penalty: a good C depends on the loss.
type Descent struct {
	Architecture Architecture  // makes the scorer; nil means linear
	C            float64       // of the penalty ‖w‖²/C: the larger, the weaker; 0 means no penalty
	Rule         optimize.Rule // optimize.Plain, optimize.Momentum or optimize.Adam; 0 means Adam
	Rate         float64       // initial learning rate; 0 means 0.01
	Epochs       int           // passes over all queries; 0 means 100
	Batch        int           // queries per step; 0 means 1
	Decay        float64       // factor of the learning rate after an epoch with a higher training cost, at most 1; 0 means 0.95
	Patience     int           // epochs without a lower training cost before a restart; 0 means 50, negative no restarts
	KeepLast     bool          // keep the last epoch instead of the best
	Bag          int           // number of networks whose scores are averaged; 0 means 1
	Redraw       bool          // repeat the random draws of the loss before every epoch

	Debias Debias // correction of clicks for the slots of documents, by DebiasPosition or none
}

// descent is a training by Descent that can be resumed.
type descent struct {
	Descent

	task  *Task
	risk  *objective.Risk
	bag   *bag
	valid *Validation // nil without validation data
	file  checkpointFile
	first float64 // training cost of the first epoch; NaN if that was before a checkpoint
}

// Learn implements Learner. It writes checkpoints.
func (d Descent) Learn(ctx context.Context, t *Task) (*Learned, error) {
	if err := d.checkDebias(); err != nil {
		return nil, err
	}
	s := d.Architecture.new(t.Inputs())
	risk, err := t.Risk(s, t.Loss, d.C)
	if err != nil {
		return nil, err
	}
	if d.Batch <= 1 {
		team := newTeam(s, t)
		defer team.Close()
		risk.InTurn(team)
	}
	r := &descent{Descent: d, task: t, risk: risk, first: math.NaN()}
	if r.bag, err = newBag(risk, s, max(1, d.Bag)); err != nil {
		return nil, err
	}
	if r.valid, err = t.Validation(true); err != nil {
		return nil, err
	}
	r.file = checkpointFile{path: t.Checkpoint, fingerprint: r.identity(s)}
	solver, err := r.solver()
	if err != nil {
		return nil, err
	}
	best, err := solver.Minimize(ctx, r.bag, nil)
	if err != nil {
		return nil, r.explain(err)
	}
	if d.Redraw {
		// Report the objective of the first draws, however the training ended.
		if err := risk.Redraw(0); err != nil {
			return nil, err
		}
	}
	average, params := r.bag.average(best.X)
	trained := r.training(best)
	if d.Debias.By != NoDebias {
		trained.Slots = &model.Slots{Debias: d.Debias.By.String(), Position: best.X[s.NumParams():]}
	}
	if trained.Objective > r.first { // first sums over changing weights and, with Redraw, over other draws
		start := make([]float64, len(best.X))
		r.bag.setStart(start, t.Seed, 0)
		if at, _ := r.bag.objective(start); trained.Objective > at {
			t.warnUnimproved(trained.Objective, at)
		}
	}
	return &Learned{average, params, trained, risk.Queries()}, r.file.remove()
}

// newTeam returns the goroutines that share the work on one query. It returns nil if one goroutine is enough, because
// queries are short or the scorer's work cannot be divided.
func newTeam(s scorer.Scorer, t *Task) *parallel.Team {
	d, ok := s.(scorer.Divider)
	data := t.Normalized()
	if !ok || len(data.Queries) == 0 {
		return nil
	}
	docs := data.Docs() / len(data.Queries)
	parts := min(d.Parts(docs), parallel.Workers(t.Workers, d.Parts(docs)), runtime.GOMAXPROCS(0))
	if parts < 2 {
		return nil
	}
	return parallel.NewTeam(parts)
}

// identity returns the identity of the training, with the validation data, by which the epoch is chosen.
func (r *descent) identity(s scorer.Scorer) string {
	words := r.task.identityWith(s)
	if r.valid == nil {
		return words
	}
	return words + " " + r.valid.identity()
}

// solver returns the optimiser with these settings, resumed from the checkpoint if there is one.
func (r *descent) solver() (optimize.Descent, error) {
	t := r.task
	d := optimize.Descent{
		Rule:      cmp.Or(r.Rule, optimize.Adam),
		Rate:      cmp.Or(r.Rate, 0.01),
		Batch:     r.Batch,
		Workers:   t.Workers,
		MaxEpochs: cmp.Or(r.Epochs, 100),
		Decay:     cmp.Or(r.Decay, 0.95),
		Patience:  cmp.Or(r.Patience, 50),
		KeepLast:  r.KeepLast,
		Init:      func(restart int, x []float64) { r.bag.setStart(x, t.Seed, restart) },
		Shuffle:   func(epoch int) *rand.Rand { return random.Stream(t.Seed, "shuffle", strconv.Itoa(epoch)) },
	}
	if r.Redraw {
		d.Begin = r.risk.Redraw
	}
	if r.valid != nil {
		d.Validate = r.validate
	}
	d.Observe = r.observe
	var err error
	d.Resumption, err = resumable[optimize.DescentState](r.file)
	return d, err
}

// validate returns the validation value of the average of the members in x.
func (r *descent) validate(_ int, x []float64) (float64, error) {
	s, params := r.bag.average(x)
	return r.valid.Value(s, params)
}

func (r *descent) observe(e optimize.Epoch) error {
	if e.Number == 1 {
		r.first = e.TrainingCost / float64(r.bag.size)
	}
	if r.task.Observe == nil {
		return nil
	}
	_, params := r.bag.average(e.X)
	r.task.Observe(Iteration{
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

// explain adds the query to the error that numbers became infinite or NaN, and the file to the error of an unfit
// checkpoint.
func (r *descent) explain(err error) error {
	var at *optimize.NotFinite
	if !errors.As(err, &at) {
		return r.file.explain(err)
	}
	if at.Term < 0 {
		return BadProblem("%w; a lower rate may help", err)
	}
	return BadProblem("query %q: %w; a lower rate may help", r.risk.QueryID(at.Term), err)
}

// training describes the training. The objective is evaluated at the end of the kept epoch.
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

// bag is the sum of one risk over several parameter vectors, the members, laid out one after the other:
//
//	F(w_1 … w_n) = Σ_k F(w_k)
//
// A descent on a bag moves each member as a descent on the risk would, with the same order of queries. The members
// start from different random weights. The mean of their scores is validated and becomes the model. This is bagging
// (L. Breiman, Bagging Predictors, Machine Learning 24, 1996), except that all members learn from all queries. A bag
// of one is the risk itself.
type bag struct {
	risk   *objective.Risk
	scorer scorer.Scorer
	size   int
}

var (
	_ optimize.Penalized = (*bag)(nil)
	_ optimize.Announced = (*bag)(nil)
	_ optimize.Penalized = (*objective.Risk)(nil)
)

// newBag returns a *ProblemError if the scorers of several members cannot be averaged into one. Bags of linear
// scorers are refused, because all members would start at 0 and learn the same weights.
func newBag(risk *objective.Risk, s scorer.Scorer, size int) (*bag, error) {
	if _, ok := s.(scorer.Averager); !ok && size > 1 {
		return nil, BadProblem("found bag=%d with the scorer %s, expected one whose members can be averaged to one scorer, as those of networks can (scorer.Averager)", size, s.Kind())
	}
	return &bag{risk, s, size}, nil
}

func (b *bag) Dim() int { return b.size * b.risk.Dim() }

// Penalty returns the c of the penalty ‖w‖²/c of each member.
func (b *bag) Penalty() float64 { return b.risk.Penalty() }

func (b *bag) Terms() int { return b.risk.Terms() }

func (b *bag) Window() int { return b.risk.Window() }

func (b *bag) Soon(terms []int) { b.risk.Soon(terms) }

func (b *bag) EvalTerm(i int, x, grad []float64) float64 {
	var value float64
	for k := range b.size {
		value += b.risk.EvalTerm(i, b.member(x, k), b.member(grad, k))
	}
	return value
}

// member returns the part of x for the k-th member.
func (b *bag) member(x []float64, k int) []float64 {
	n := b.risk.Dim()
	return x[k*n : (k+1)*n]
}

// setStart sets x to the members' starting points after the given number of restarts. x must be all 0.
func (b *bag) setStart(x []float64, seed uint64, restart int) {
	for k := range b.size {
		setStart(b.member(x, k)[:b.scorer.NumParams()], b.scorer, seed, k, restart)
	}
}

// average returns one scorer that gives the mean of the members' scores, and its parameters. In a bag of one it
// returns a part of x itself.
func (b *bag) average(x []float64) (scorer.Scorer, []float64) {
	if b.size == 1 {
		return b.scorer, x[:b.scorer.NumParams()] // without shifts
	}
	members := make([][]float64, b.size)
	for k := range members {
		members[k] = b.member(x, k)
	}
	return b.scorer.(scorer.Averager).Average(members)
}

// objective returns the mean of the members' risks, and the mean of the norms of their gradients.
func (b *bag) objective(x []float64) (value, norm float64) {
	grad := make([]float64, b.risk.Dim())
	for k := range b.size {
		value += b.risk.Eval(b.member(x, k), grad) / float64(b.size)
		square := 0.0
		for _, g := range grad {
			square += float64(g * g) // rounded: no fused multiply-add
		}
		norm += math.Sqrt(square) / float64(b.size)
	}
	return value, norm
}
