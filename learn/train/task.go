package train

import (
	"errors"
	"fmt"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Task is a settled problem as a learner sees it, for one training.
type Task struct {
	*Problem

	normalized *dataset.Dataset
	prefix     func(rounds int) *Learned // what Shorter is called for, or nil; it refers to no data
}

// Normalized returns the training data, transformed and normalized. Queries and documents of weight 0 are left out,
// although normalization takes them into account. The caller must not change the data.
//
// The result is the data set itself if nothing changes, and a copy otherwise. If a copy takes too much memory, a
// [Streamer] gets streamed data instead, whose features are computed as a dataset.RowReader reads them.
func (t *Task) Normalized() *dataset.Dataset {
	if t.normalized == nil {
		t.normalized = t.prepared(t.Data).Counting()
	}
	return t.normalized
}

// DefaultLargestWork is the default of Problem.LargestWork. It corresponds to about 10 seconds a pass, or a
// gigabyte of memory, for one query.
const DefaultLargestWork = 1e10

// Risk returns the sum of the loss over the queries of the normalized training data, as a function of the parameters
// of s. The penalty is ‖w‖²/c, or none if c is 0. The error is a *ProblemError if a query takes too much work, or if
// nothing can be learned from the data.
func (t *Task) Risk(s scorer.Scorer, l loss.Loss, c float64) (*objective.Risk, error) {
	risk, err := t.anyRisk(s, l, c)
	if err == nil && risk.Queries() == 0 {
		return nil, t.nothingToLearn()
	}
	return risk, err
}

// anyRisk does what Risk does, but accepts data from which nothing can be learned.
func (t *Task) anyRisk(s scorer.Scorer, l loss.Loss, c float64) (*objective.Risk, error) {
	if l == nil {
		return nil, errors.New("found no loss, expected one: this learner minimises a loss")
	}
	if s == nil {
		return nil, errors.New("the architecture made no scorer, expected one")
	}
	coster, _ := l.(loss.Coster)
	if err := t.CheckWork(s, coster); err != nil {
		return nil, err
	}
	const many = 1 << 15
	bindings := t.Bindings
	if t.Data.Docs() >= many { // the bound losses may take much memory
		bindings = nil
	}
	o := objective.Options{C: c, Seed: t.Seed, Workers: t.Workers, Done: t.done, Bindings: bindings}
	if d := t.debias(); d.By == DebiasPosition {
		o.Shifts.Slots, o.Shifts.Number = t.countedSlots()
		o.Shifts.L2 = d.L2
	}
	risk, err := objective.New(t.Normalized(), s, l, o)
	if err != nil {
		return nil, &ProblemError{err}
	}
	return risk, nil
}

// CheckWork returns a *ProblemError for an invalid scorer, and for a query whose work exceeds LargestWork. The work
// is that of the scorer and of coster, the loss, in training, and that of the scorer in validation. s and coster may
// be nil.
func (t *Task) CheckWork(s scorer.Scorer, coster loss.Coster) error {
	if v, ok := s.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return BadProblem("scorer %s: %w", s.Kind(), err)
		}
	}
	limit := t.LargestWork
	if limit == 0 {
		limit = DefaultLargestWork
	}
	err := objective.CheckWork(t.Data, s, coster, limit)
	if err == nil && t.Valid != nil {
		err = objective.CheckWork(t.Valid, s, nil, limit)
	}
	var much *objective.TooMuchWork
	if !errors.As(err, &much) {
		return err
	}
	return BadProblem("%w; a method that is linear in documents (such as listnet), fewer documents a query or a larger largest_work helps", err)
}

// nothingToLearn returns the error that nothing can be learned from any query, with the reason.
func (t *Task) nothingToLearn() error {
	if t.Threshold > 0 {
		return BadProblem("found no query with both relevant and irrelevant documents in the training data, expected at least one: the lowest relevant grade is %g, the highest grade %g",
			t.Threshold, t.Data.HighestGrade())
	}
	by := ""
	if m := t.Measure; m != nil {
		by = fmt.Sprintf(" by %s under the convention %s", m.Name(), measure.ConventionOf(m).Name())
	}
	return BadProblem("found no query with documents to be told apart%s in the training data, expected at least one: the lowest relevant grade is %g, the highest grade %g",
		by, t.relevant.Threshold(), t.Data.HighestGrade())
}

// NoCheckpoint returns a *ProblemError if the checkpoint file exists. It is for learners that
// take seconds and write no checkpoints.
func (t *Task) NoCheckpoint() error {
	if t.Checkpoint == "" {
		return nil
	}
	if _, err := os.Stat(t.Checkpoint); err == nil {
		return BadProblem("checkpoint %s: found a file, expected none: this training takes seconds and leaves no checkpoints", t.Checkpoint)
	}
	return nil
}

// Validation evaluates models during training on the validation data.
type Validation struct {
	Data    *dataset.Dataset // before normalization
	Measure measure.Averager // its mean over Data, averaged over orders of ties, is the validation value

	ready         *dataset.Dataset // Data as the scorer sees them, except for normalization if there are no transforms and views
	missing       dataset.Missing
	normalization dataset.Normalization
}

// Validation returns the validation of models, or nil if the problem has no validation data. If choosing is set, a
// measure with the same value for all models is a *ProblemError.
func (t *Task) Validation(choosing bool) (*Validation, error) {
	if t.Valid == nil {
		return nil, nil
	}
	v := &Validation{Data: t.Valid, ready: t.Valid, missing: t.Missing, normalization: t.Normalization}
	if t.pipeline != nil || !t.Views.Raw() {
		v.ready, v.normalization = t.prepared(t.Valid), dataset.NoNormalization
	}
	var err error
	if t.Select == nil {
		v.Measure, err = measure.Parse("map", t.relevant, measure.Options{})
	} else {
		v.Measure, err = averager(t.Select)
	}
	if err != nil {
		return nil, err
	}
	if choosing {
		if err := measure.CheckVaries(v.Measure, v.Data); err != nil {
			return nil, BadProblem("validation data: %w", err)
		}
	}
	return v, nil
}

// averager returns m as a measure.Averager, which can average over ties.
func averager(m measure.Measure) (measure.Averager, error) {
	a, ok := m.(measure.Averager)
	if !ok {
		return nil, BadProblem("validation data: found the measure %s, expected one that has an expected value under ties (measure.Averager)", m.Name())
	}
	return a, nil
}

// Value returns the mean of the measure for a scorer, averaged over ties.
func (v *Validation) Value(s scorer.Scorer, params []float64) (float64, error) {
	m := model.Model{Missing: v.missing, Normalization: v.normalization, Scorer: s, Params: params}
	scores, err := m.Score(v.ready)
	if err != nil {
		return 0, err
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	value, counted := ranker.Mean(v.Data, scores, v.Measure)
	if counted == 0 {
		return 0, BadProblem("found no validation query that counts for %s, expected at least one", v.Measure.Name())
	}
	return value, nil
}

// identity names the validation data and the measure, as words NAME=VALUE.
func (v *Validation) identity() string {
	c := measure.ConventionOf(v.Measure)
	return fmt.Sprintf("valid=%s select=%s/%s/%g", v.Data.Fingerprint(), v.Measure.Name(), c.Name(), c.Threshold())
}
