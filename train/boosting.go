package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/listwise/listwise/boost"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/scorer"
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
// has its own. Training takes seconds, so that no checkpoints are written.
type Boosting struct {
	Rounds   int                            // at most; 0 means 300
	Patience int                            // rounds after the best one, by the validation data, after which no more are added; 0: all are
	Start    func(t *Task) (Booster, error) // begins with the task's normalized data; necessary
}

// defaultRounds is Boosting.Rounds where it is 0, RankBoost's in package method.
const defaultRounds = 300

// boosting is a training round by round.
type boosting struct {
	Booster

	rounds    int
	patience  int
	task      *Task
	valid     *dataset.Dataset // normalized; nil without
	by        measure.Measure
	standings *boost.Standings // of the validation data
	scores    []float64        // likewise
}

// Learn implements Learner.
func (l Boosting) Learn(ctx context.Context, t *Task) (*Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	switch {
	case l.Start == nil:
		return nil, errors.New("found no booster, expected Start to make one")
	case l.Rounds < 0:
		return nil, BadProblem("found %d rounds, expected a positive number, or 0 for %d", l.Rounds, defaultRounds)
	case l.Patience < 0:
		return nil, BadProblem("found a patience of %d rounds, expected a positive number, or 0 for no end", l.Patience)
	}
	b := &boosting{rounds: cmp.Or(l.Rounds, defaultRounds), patience: l.Patience, task: t}
	if err := b.prepareValidation(); err != nil {
		return nil, err
	}
	var err error
	if b.Booster, err = l.Start(t); err != nil {
		return nil, &ProblemError{err}
	}
	training, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	s, params, err := b.Kept()
	if err != nil {
		return nil, err
	}
	learned := &Learned{s, params, training, b.Queries()}
	if b.standings == nil {
		return learned, nil
	}
	// The value that scoring with the model gives: sums of weights may be added in another order
	// than round by round.
	m := model.Model{Normalization: t.Normalization, Scorer: s, Params: params}
	scores, err := m.Score(t.Valid)
	if err != nil {
		return nil, err
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	validation, _ := ranker.Mean(t.Valid, scores, b.by)
	learned.Training.Validation = &validation
	if training.BestEpoch > 0 {
		learned.Training.Refit = fmt.Sprintf("rounds=%d", training.BestEpoch)
	}
	return learned, nil
}

func (b *boosting) prepareValidation() error {
	v, err := b.task.Validation(true)
	if v == nil || err != nil {
		return err
	}
	b.by = v.Measure
	b.valid = normalized(v.Data, b.task.Normalization)
	b.standings = boost.NewStandings(b.valid, v.Measure, b.task.Workers)
	b.scores = make([]float64, b.valid.Docs())
	return nil
}

// run goes through the rounds and describes them.
func (b *boosting) run(ctx context.Context) (model.Training, error) {
	t := model.Training{Status: "all rounds are done"}
	var best float64
	for round := 1; round <= b.rounds; round++ {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		s, ok := b.Next()
		if err := ctx.Err(); err != nil && !ok {
			return t, err
		}
		if !ok {
			t.Status = "no further weak ranker is of use"
			break
		}
		it := Iteration{Number: round, Objective: s.Objective, Epoch: true, Rate: s.Weight, Params: b.Weights()}
		if b.standings != nil {
			b.Add(b.scores, b.valid)
			it.Validated, it.Validation = true, b.standings.Mean(b.scores)
		}
		it.Best = t.BestEpoch == 0 || b.standings == nil || it.Validation > best
		if it.Best {
			best = it.Validation
			b.Keep()
			t.BestEpoch, t.Objective = round, s.Objective
		}
		t.Iterations, t.Evaluations = round, round
		if b.task.Observe != nil {
			b.task.Observe(it)
		}
		if b.standings != nil && b.patience > 0 && round-t.BestEpoch >= b.patience {
			t.Status = fmt.Sprintf("no better round among the last %d", b.patience)
			break
		}
	}
	return t, nil
}
