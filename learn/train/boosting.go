package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/learn/boost"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Booster is a sum of weak rankers that grows by one round at a time.
type Booster interface {
	// Next adds a round. ok is false if there is no useful weak ranker left.
	Next() (r Round, ok bool)

	// Add updates dst, the scores of the documents of d before the last round, to the scores after that round. d has
	// all features of the training data.
	Add(dst []float64, d *dataset.Dataset)

	// Keep marks the present sum.
	Keep()

	// Kept returns the scorer and the parameters of the sum that Keep marked last.
	Kept() (scorer.Scorer, []float64, error)

	// Weights returns the present parameters. They are valid until the next round.
	Weights() []float64

	// Queries returns the number of queries from which something can be learned.
	Queries() int
}

// Round describes a round that was added.
type Round struct {
	Weight    float64 // factor of the weak ranker in the sum
	Objective float64 // value of the objective after the round
}

// Boosting learns a sum of weak rankers. It keeps the sum up to the best round on the validation data, or all rounds
// without validation data. Start decides whether the Booster uses the problem's loss. Only [Trees] and
// [TreeClassification] write checkpoints, because other Boosters take seconds.
type Boosting struct {
	Rounds   int                            // number of rounds at most; 0 means 300
	Patience int                            // rounds without a better validation value before training stops; 0 means never
	Start    func(t *Task) (Booster, error) // returns a Booster for the task's normalized data; required
	Takes    Weighs                         // which weights the Booster uses
	Bytes    func(p *Problem) float64       // memory that the Booster needs, as in [Estimator]; nil means that none is counted

	setting string // name of the hyperparameter for Rounds; empty means rounds
}

// defaultRounds is the value of Boosting.Rounds if it is 0. RankBoost has the same default in package method.
const defaultRounds = 300

// boosting is a running training of a Booster.
type boosting struct {
	Booster

	rounds     int
	patience   int
	setting    string
	task       *Task
	valid      *dataset.Dataset // normalized, with all features; nil without validation data
	validation *Validation      // nil without validation data
	standings  *boost.Standings // of the validation data; nil without
	scores     []float64        // of the validation data; nil without
	before     float64          // validation value of the initial model; −Inf without one
	start      float64          // objective before the first round; NaN if the Booster does not know it
	lowest     float64          // lowest objective after a round
	objectives []float64        // after each round of this call; nil unless the problem has Shorter
	keeper     roundKeeper
	course     course
}

// starter is a Booster that knows the objective before its first round.
type starter interface{ objective() float64 }

// course is the progress of the rounds.
type course struct {
	rounds, best         int     // number of rounds; the best of them, 0 if none is better than the start
	objective, validated float64 // of the best round
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

// begin sets the objective and the validation value to their values before the first round.
func (b *boosting) begin() error {
	b.before, b.start, b.lowest = math.Inf(-1), math.NaN(), math.Inf(1)
	if s, ok := b.Booster.(starter); ok {
		b.start = s.objective()
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

// learn runs the rounds and returns the best sum.
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
	if of, ok := b.Booster.(checkpointed); ok {
		training.Slots = of.members()[0].slots.learned()
	}
	learned := &Learned{s, params, training, b.Queries()}
	if b.standings == nil {
		return learned, nil
	}
	if of, ok := b.Booster.(*treeMean); ok && b.task.Shorter != nil && len(b.objectives) == b.course.rounds {
		b.task.prefix = of.prefix(b.objectives)
	}
	// Score the validation data with the final model. Its sum may have another order than the sum of the rounds, and
	// so another rounding.
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
	if b.valid = b.task.prepared(v.Data); b.valid.Features < b.task.Inputs() {
		b.valid = b.valid.Widen(b.task.Inputs())
	}
	b.standings = boost.NewStandings(b.valid, v.Measure, b.task.Workers)
	b.scores = make([]float64, b.valid.Docs())
	return nil
}

// allRounds is the status of a training that was not stopped early.
const allRounds = "all rounds are done"

// run adds rounds until one of the stopping rules applies. It returns a description of the training.
func (b *boosting) run(ctx context.Context) (model.Training, error) {
	status := allRounds
	for c := &b.course; c.rounds < b.rounds; {
		if ctx.Err() != nil {
			return model.Training{}, errors.Join(context.Cause(ctx), b.keeper.save(b))
		}
		s, ok := b.Next()
		if ctx.Err() != nil { // an evaluation cut short gives the objective of some of the queries
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
		if until := b.task.Until; !until.IsZero() && time.Now().After(until) {
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

// conclude validates a round, keeps the sum if it is the best, and reports the round to the observer.
func (b *boosting) conclude(r Round) {
	c := &b.course
	c.rounds++
	b.lowest = min(b.lowest, r.Objective)
	if b.task.Shorter != nil {
		b.objectives = append(b.objectives, r.Objective)
	}
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

// checkpointed is a Booster with a state that can be stored.
type checkpointed interface {
	Booster

	// members returns the growing sums of trees.
	members() []*treeRounds
}

// roundKeeper writes the checkpoints of boosting.
type roundKeeper struct {
	file  checkpointFile
	of    checkpointed // nil if no checkpoints are written
	saved int          // number of rounds in the last checkpoint
	at    time.Time    // time of the last checkpoint
	took  time.Duration
}

// A checkpoint is due after checkpointEvery rounds or after checkpointPause, whichever comes first. But the time
// since the last checkpoint must be at least checkpointShare times the time that writing it took.
const (
	checkpointPause = 5 * time.Second
	checkpointShare = 20
)

// resume prepares for writing checkpoints, and resumes from the checkpoint file if it exists.
func (b *boosting) resume() error {
	of, ok := b.Booster.(checkpointed)
	if !ok || b.task.Checkpoint == "" {
		return b.task.NoCheckpoint()
	}
	identity := b.task.identity() + " scorer=trees"
	initial, err := b.task.identityOfInitial()
	if err != nil {
		return err
	}
	identity += initial
	if b.validation != nil {
		identity += " " + b.validation.identity()
	}
	b.keeper = roundKeeper{file: checkpointFile{b.task.Checkpoint, identity}, of: of, at: time.Now()}
	state := new(boostingState)
	found, err := b.keeper.file.read(state)
	if !found || err != nil {
		return err
	}
	if err := b.goOnFrom(state); err != nil {
		return b.keeper.file.unfit(err)
	}
	b.keeper.saved = b.course.rounds
	return nil
}

// goOnFrom continues from a state. It returns an error if the state does not fit the data.
func (b *boosting) goOnFrom(s *boostingState) error {
	members := b.keeper.of.members()
	if len(s.members) != len(members) || len(s.scores) != len(b.scores) {
		return fmt.Errorf("found a state of %d sums of trees and %d validated documents, expected %d and %d", len(s.members), len(s.scores), len(members), len(b.scores))
	}
	for i, m := range members {
		if err := m.goOnFrom(&s.members[i]); err != nil {
			return err
		}
	}
	b.course = s.course
	b.lowest = s.objective
	copy(b.scores, s.scores)
	return nil
}

// after writes a checkpoint if one is due.
func (k *roundKeeper) after(b *boosting) error {
	since := time.Since(k.at)
	if k.of == nil || since < checkpointShare*k.took || b.course.rounds-k.saved < checkpointEvery && since < checkpointPause {
		return nil
	}
	return k.save(b)
}

// save writes a checkpoint, unless the last one is of the same round.
func (k *roundKeeper) save(b *boosting) error {
	if k.of == nil || k.saved == b.course.rounds {
		return nil
	}
	begin := time.Now()
	state := boostingState{course: b.course, scores: b.scores}
	for _, m := range k.of.members() {
		state.members = append(state.members, m.state())
	}
	if err := k.file.write(&state); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	k.saved, k.at = b.course.rounds, time.Now()
	k.took = k.at.Sub(begin)
	return nil
}

// boostingState is the state of boosted trees between two rounds, for checkpoints.
type boostingState struct {
	course

	scores  []float64 // of the validation data
	members []treesState
}

var _ optimize.State = (*boostingState)(nil)

// Kind implements optimize.State.
func (*boostingState) Kind() string { return "boosted trees" }

// AppendBinary implements optimize.State.
func (s *boostingState) AppendBinary(b []byte) ([]byte, error) {
	return binarystate.Append(b, s.code), nil
}

// UnmarshalBinary implements optimize.State.
func (s *boostingState) UnmarshalBinary(data []byte) error {
	var read boostingState
	if err := binarystate.Read(data, read.code); err != nil {
		return err
	}
	if err := read.validate(); err != nil {
		return err
	}
	*s = read
	return nil
}

func (s *boostingState) code(c *binarystate.Codec) {
	scores, members := len(s.scores), len(s.members)
	c.Ints(&s.rounds, &s.best, &scores, &members)
	c.Floats(&s.objective, &s.validated)
	c.Vectors(scores, &s.scores)
	if c.Reading() && c.Fits(members) {
		s.members = make([]treesState, members)
	}
	for i := range s.members {
		s.members[i].code(c)
	}
}

// validate returns an error if the state is impossible.
func (s *boostingState) validate() error {
	switch {
	case s.rounds < 1 || s.best < 0 || s.best > s.rounds:
		return fmt.Errorf("best round %d of %d, expected one of at least one, or 0", s.best, s.rounds)
	case notFinite(s.objective) || notFinite(s.validated):
		return fmt.Errorf("objective %v and validation value %v, expected finite numbers", s.objective, s.validated)
	case anyNotFinite(s.scores):
		return errors.New("scores that are not finite, expected finite numbers")
	}
	for i := range s.members {
		if err := s.members[i].validate(s.rounds); err != nil {
			return err
		}
	}
	return nil
}
