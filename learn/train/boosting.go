package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/boost"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Booster adds one weak ranker a round to a sum.
type Booster interface {
	// Next adds a weak ranker; ok is false if there is none to add.
	Next() (r Round, ok bool)

	// Add brings the scores of a data set, one a row, from the last round but one
	// to the last.
	Add(dst []float64, d *dataset.Dataset)

	// Keep remembers the sum as it is, and Kept returns what was remembered last.
	Keep()
	Kept() (scorer.Scorer, []float64, error)

	// Weights returns the parameters at present, valid until the next round.
	Weights() []float64

	// Queries returns the number of queries that are learned from.
	Queries() int
}

// Round describes what a round added: its weight, and the objective after it.
type Round struct{ Weight, Objective float64 }

// Boosting grows a sum of weak rankers and keeps the round that is best on the
// validation data, without these the last. The problem's loss is not asked: a Booster
// has its own. Checkpoints are written of trees alone
// ([Trees], [TreeClassification]): the others take seconds.
type Boosting struct {
	Rounds   int                            // at most; 0 means 300
	Patience int                            // rounds after the best one, by the validation data, after which no more are added; 0: all are
	Start    func(t *Task) (Booster, error) // begins with the task's normalized data; necessary
	Takes    Weighs                         // the weights that the Booster takes account of
	Bytes    func(p *Problem) float64       // what it takes beside features, as [Estimator] has it; nil: nothing is counted

	setting string // the hyperparameter that Rounds is; empty means rounds
}

// defaultRounds is Boosting.Rounds where it is 0, RankBoost's in package method.
const defaultRounds = 300

// boosting is a training round by round.
type boosting struct {
	Booster

	rounds     int
	patience   int
	setting    string
	task       *Task
	valid      *dataset.Dataset // normalized; nil without
	validation *Validation      // likewise
	standings  *boost.Standings // of the validation data
	scores     []float64        // likewise
	before     float64          // validation value of the model that is continued; −Inf without one
	start      float64          // objective before the first round; NaN if the Booster does not know it
	lowest     float64          // objective after a round
	keeper     roundKeeper
	course     course
}

// starter is a Booster that knows the objective before its first round.
type starter interface{ startObjective() float64 }

// course is how the rounds went so far.
type course struct {
	rounds, best         int     // done; the best of them, 0 if none is better than the start
	objective, validated float64 // of the best
}

// Memory implements Estimator.
func (l Boosting) Memory(p *Problem) float64 {
	if l.Bytes == nil {
		return 0
	}
	return l.Bytes(p)
}

// Learn implements Learner.
func (l Boosting) Learn(ctx context.Context, t *Task) (*Learned, error) {
	switch {
	case l.Start == nil:
		return nil, errors.New("found no booster, expected Start to make one")
	case l.Rounds < 0:
		return nil, BadProblem("found %d rounds, expected a positive number, or 0 for %d", l.Rounds, defaultRounds)
	case l.Patience < 0:
		return nil, BadProblem("found a patience of %d rounds, expected a positive number, or 0 for no end", l.Patience)
	}
	b := &boosting{rounds: cmp.Or(l.Rounds, defaultRounds), patience: l.Patience, setting: l.setting, task: t}
	if err := b.prepareValidation(); err != nil {
		return nil, err
	}
	var err error
	if b.Booster, err = l.Start(t); err != nil {
		return nil, &ProblemError{err}
	}
	if err := b.begin(); err != nil {
		return nil, err
	}
	if err := b.resume(); err != nil {
		return nil, err
	}
	learned, err := b.learn(ctx)
	if err != nil {
		return nil, err
	}
	return learned, b.keeper.file.remove()
}

// begin sets what is known before the first round.
func (b *boosting) begin() error {
	b.before, b.start, b.lowest = math.Inf(-1), math.NaN(), math.Inf(1)
	if s, ok := b.Booster.(starter); ok {
		b.start = s.startObjective()
		b.course.objective = b.start
	}
	if b.task.Initial == nil || b.standings == nil {
		return nil
	}
	scores, err := b.task.Initial.Score(b.task.Valid)
	if err != nil {
		return fmt.Errorf("model to continue: %w", err)
	}
	b.before = b.standings.Mean(scores)
	b.course.validated = b.before
	return nil
}

// learn goes through the rounds and takes what was best.
func (b *boosting) learn(ctx context.Context) (*Learned, error) {
	training, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	s, params, err := b.Kept()
	if err != nil {
		return nil, err
	}
	if b.course.rounds > 0 && b.lowest > b.start {
		b.task.warnUnimproved(b.lowest, b.start)
	}
	learned := &Learned{s, params, training, b.Queries()}
	if b.standings == nil {
		return learned, nil
	}
	// The value that scoring with the model gives: sums of weights may be added in another order
	// than round by round.
	m := model.Model{Missing: b.task.Missing, Transforms: b.task.pipeline, Normalization: b.task.Normalization, Views: b.task.Views, Scorer: s, Params: params}
	scores, err := m.Score(b.task.Valid)
	if err != nil {
		return nil, err
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	validation, _ := ranker.Mean(b.task.Valid, scores, b.validation.Measure)
	learned.Training.Validation = &validation
	if training.BestEpoch > 0 {
		learned.Training.Refit = fmt.Sprintf("%s=%d", cmp.Or(b.setting, "rounds"), training.BestEpoch)
	}
	return learned, nil
}

func (b *boosting) prepareValidation() error {
	v, err := b.task.Validation(true)
	if v == nil || err != nil {
		return err
	}
	b.validation = v
	b.valid = b.task.prepared(v.Data)
	b.standings = boost.NewStandings(b.valid, v.Measure, b.task.Workers)
	b.scores = make([]float64, b.valid.Docs())
	return nil
}

// run goes through the rounds and describes them.
func (b *boosting) run(ctx context.Context) (model.Training, error) {
	status := "all rounds are done"
	for c := &b.course; c.rounds < b.rounds; {
		if ctx.Err() != nil {
			return model.Training{}, errors.Join(context.Cause(ctx), b.keeper.save(b))
		}
		s, ok := b.Next()
		if ctx.Err() != nil { // the objective may be that of some queries alone
			return model.Training{}, context.Cause(ctx)
		}
		if !ok {
			status = "no further weak ranker is of use"
			break
		}
		b.conclude(s)
		if b.standings != nil && b.patience > 0 && c.rounds-c.best >= b.patience {
			status = fmt.Sprintf("no better round among the last %d", b.patience)
			break
		}
		if err := b.keeper.after(b); err != nil {
			return model.Training{}, err
		}
	}
	c := &b.course
	if c.best == 0 && !math.IsInf(b.before, -1) {
		status += "; none is better than the model continued, which is kept"
	}
	return model.Training{Status: status, Iterations: c.rounds, Evaluations: c.rounds, BestEpoch: c.best, Objective: c.objective}, nil
}

// conclude validates a round, keeps it if it is the best, and tells how it went.
func (b *boosting) conclude(r Round) {
	c := &b.course
	c.rounds++
	b.lowest = min(b.lowest, r.Objective)
	it := Iteration{Number: c.rounds, Objective: r.Objective, Epoch: true, Rate: r.Weight, Params: b.Weights()}
	if b.standings != nil {
		b.Add(b.scores, b.valid)
		it.Validated, it.Validation = true, b.standings.Mean(b.scores)
	}
	it.Best = c.best == 0 && math.IsInf(b.before, -1) || b.standings == nil || it.Validation > c.validated
	if it.Best {
		b.Keep()
		c.best, c.objective, c.validated = c.rounds, r.Objective, it.Validation
	}
	if b.task.Observe != nil {
		b.task.Observe(it)
	}
}
