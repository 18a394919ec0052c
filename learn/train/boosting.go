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

// Booster adds one weak ranker a round to a sum.
type Booster interface {
	// Next adds a weak ranker; ok is false if there is none to add.
	Next() (r Round, ok bool)

	// Add brings the scores of a data set with all features, one a row, from the round before
	// to the last one.
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
	valid      *dataset.Dataset // normalized, with all features; nil without
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
type starter interface{ objective() float64 }

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

// begin sets the objective and the validation value before the first round.
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
	if b.valid = b.task.prepared(v.Data); b.valid.Features < b.task.Inputs() {
		b.valid = b.valid.Widen(b.task.Inputs())
	}
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

// conclude validates a round, keeps it if it is the best, and reports it to the observer.
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

// checkpointed is a Booster whose rounds so far can be stored.
type checkpointed interface {
	Booster

	// members returns the sums of trees under way.
	members() []*treeRounds
}

// roundKeeper writes checkpoints of a training round by round.
type roundKeeper struct {
	file  checkpointFile
	of    checkpointed // nil if there are to be none
	saved int          // rounds of the last one
	at    time.Time    // of it
	took  time.Duration
}

// Between two checkpoints there are checkpointEvery rounds, or fewer if these take longer than
// checkpointPause, and at least checkpointShare times the time that it takes to write one.
const (
	checkpointPause = 5 * time.Second
	checkpointShare = 20
)

// resume prepares for checkpoints and resumes from an existing one.
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

// goOnFrom restores the rounds from a state. It returns an error if the state is of other data.
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

// after writes a checkpoint if it is time for one.
func (k *roundKeeper) after(b *boosting) error {
	since := time.Since(k.at)
	if k.of == nil || since < checkpointShare*k.took || b.course.rounds-k.saved < checkpointEvery && since < checkpointPause {
		return nil
	}
	return k.save(b)
}

// save writes a checkpoint, unless there is one of these rounds.
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

// boostingState is the optimize.State of boosted trees between two rounds.
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
