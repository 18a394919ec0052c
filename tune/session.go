package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
)

// Session runs single trainings of a configuration, which the caller chooses. It does not repeat
// trainings recorded in Config.Dir. A Session is safe for concurrent use.
type Session struct{ c Config }

// Open checks a configuration and sets the relevance threshold of its measures, as [Run] does.
func Open(c Config) (*Session, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	c.session = true
	for i := range c.Folds {
		c.Folds[i].Train.Fingerprint() // the data set stores the result
		c.Folds[i].Valid.Fingerprint()
	}
	return &Session{c}, nil
}

// Config returns the configuration with defaults, names and thresholds set.
func (s *Session) Config() Config { return s.c }

// Trained is the result of a training: the model and its value of Config.Select on the validation
// data. The value is 0 without validation data.
type Trained struct {
	Model      *model.Model // the trained model
	Validation float64      // mean of Config.Select over the validation queries; 0 without validation data

	// Curve has one line of JSON ([train.CurveLine]) for each epoch, round or sweep of the
	// training. It is nil for a training without validation data or without such steps.
	Curve []byte

	Setting Setting // the hyperparameters of the training

	shorter func(rounds int) *model.Model // see train.Problem.Shorter; nil for other learners and recorded trainings
}

// Shorter returns the model that [Session.Refit] would return for the same data and the setting v, without training
// again. Only the number of trees in v may differ from Setting, and the training must have had as many. Otherwise, and
// if the training was restored from a record, Shorter returns nil.
func (t *Trained) Shorter(v method.Values) *model.Model {
	own, ok := t.Setting.(method.Values)
	if !ok || t.shorter == nil {
		return nil
	}
	rounds, err := strconv.Atoi(v.Map()["trees"])
	set := own.Map()
	set["trees"] = v.Map()["trees"]
	if err != nil || !maps.Equal(set, v.Map()) {
		return nil
	}
	m := t.shorter(rounds)
	if m != nil {
		m.Hyperparameters = maps.Clone(m.Hyperparameters) // which are those of the longer training
		m.Hyperparameters["trees"] = v.Typed()["trees"]
	}
	return m
}

// Train trains a setting on a fold. entry and fold are indices into the configuration.
func (s *Session) Train(ctx context.Context, entry, fold int, v Setting) (*Trained, error) {
	f := &s.c.Folds[fold]
	return s.TrainOn(ctx, entry, f.Name, f.Train, f.Valid, v)
}

// TrainUntil trains a setting on a fold as [Session.Train] does, but with all cores and a time
// limit. The zero time means no limit. If a training of trees reaches the limit, the model has the
// trees so far, and Setting of the result states their number. With a limit, the training is not
// recorded. Any other training that reaches the limit returns context.DeadlineExceeded.
func (s *Session) TrainUntil(ctx context.Context, entry, fold int, v Setting, until time.Time) (*Trained, error) {
	f := &s.c.Folds[fold]
	c := s.c
	c.workers, c.until = 0, until
	j := &job{entry: &c.Entries[entry], fold: f, values: v, train: f.Train.Fingerprint(), valid: f.Valid.Fingerprint()}
	if until.IsZero() {
		return (&Session{c}).train(ctx, j)
	}
	const grace = 5 * time.Second // for finishing the last round
	ctx, cancel := context.WithDeadline(ctx, until.Add(grace))
	defer cancel()
	c.Dir = ""
	return (&Session{c}).train(ctx, j)
}

// TrainOn trains the setting v of an entry on the data set d, with valid as validation data. entry
// is an index into the configuration. name is a name for the data, which records and errors use. It
// must be a plain file name.
func (s *Session) TrainOn(ctx context.Context, entry int, name string, d, valid *dataset.Dataset, v Setting) (*Trained, error) {
	return s.train(ctx, &job{entry: &s.c.Entries[entry], fold: &Fold{Name: name, Train: d, Valid: valid}, values: v, train: d.Fingerprint(), valid: valid.Fingerprint()})
}

// Refit trains the setting v of an entry on the data set d without validation data. entry and name
// have the same meaning as for [Session.TrainOn].
func (s *Session) Refit(ctx context.Context, entry int, name string, d *dataset.Dataset, v Setting) (*model.Model, error) {
	t, err := s.train(ctx, &job{entry: &s.c.Entries[entry], fold: &Fold{Name: name, Train: d}, values: v, train: d.Fingerprint()})
	if err != nil {
		return nil, err
	}
	return t.Model, nil
}

func (s *Session) train(ctx context.Context, j *job) (*Trained, error) {
	if err := j.run(ctx, &s.c); err != nil {
		return nil, fmt.Errorf("%s: %w", j.name(), err)
	}
	t := &Trained{j.model, j.validation, j.curve, j.values, j.shorter}
	if limit, ok := j.model.Hyperparameters["trees"]; ok && !s.c.until.IsZero() && fmt.Sprint(limit) != strconv.Itoa(j.model.Training.Iterations) && time.Now().After(s.c.until) {
		set := j.values.(method.Values).Map()
		set["trees"] = strconv.Itoa(j.model.Training.Iterations)
		v, err := j.entry.Method.Values(set)
		if err != nil {
			return nil, err
		}
		t.Setting, j.model.Hyperparameters = v, v.Typed()
	}
	return t, nil
}

// Refitted returns a setting for training without validation data, given models that were trained
// with the setting v and validation data. With the new setting, a training is as long as the
// trainings of models were on average. The numbers in [model.Training.Refit] of the models are
// averaged and rounded. Refit is a length such as "trees=41". If it is empty, Refitted returns v.
func Refitted(m *method.Method, v method.Values, models []*model.Model) (method.Values, error) {
	set, sums, counts := v.Map(), make(map[string]float64), make(map[string]float64)
	for _, trained := range models {
		for _, word := range strings.Fields(trained.Training.Refit) {
			name, value, _ := strings.Cut(word, "=")
			n, err := strconv.Atoi(value)
			if err != nil {
				set[name] = value
				continue
			}
			sums[name] += float64(n)
			counts[name]++
		}
	}
	for name, sum := range sums {
		set[name] = strconv.Itoa(int(math.Round(sum / counts[name])))
	}
	refitted, err := m.Values(set)
	if err != nil {
		return v, fmt.Errorf("the setting without validation data: %w", err)
	}
	return refitted, nil
}

// Whole returns the data for training a final model with the chosen settings. For several folds
// with test data, these are all queries: the training, validation and test data of the first fold.
// Otherwise they are the training and validation data of the first fold, so that a single fold's
// test data remain unseen. Whole returns an error if these parts share queries, or if a fold has
// queries that the first fold lacks.
func Whole(folds []Fold) (*dataset.Dataset, error) {
	first := &folds[0]
	if len(folds) == 1 || !first.Tested() {
		return dataset.Concat(first.Train, first.Valid)
	}
	d, err := dataset.Concat(first.Train, first.Valid, first.Test)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", first.Name, err)
	}
	for i := range folds {
		f := &folds[i]
		for _, part := range []*dataset.Dataset{f.Train, f.Valid, f.Test} {
			if n := part.CommonQueries(d); n < len(part.Queries) {
				return nil, fmt.Errorf("%s: found %d queries that %s has not, expected divisions of the same queries", f.Name, len(part.Queries)-n, first.Name)
			}
		}
	}
	return d, nil
}

// Trial identifies one training of a configuration, so that several machines can share the
// trainings of a run.
type Trial struct {
	Entry, Fold string // names of the entry and the fold
	Setting     string // the values of the varied hyperparameters, such as "C=0.1, beta=1"
}

// Trials returns the trainings of [Run], in a fixed order. It returns an error if Budget.Time or
// Halving is set, since trainings then depend on each other.
func Trials(c Config) ([]Trial, error) {
	jobs, err := c.trials()
	if err != nil {
		return nil, err
	}
	trials := make([]Trial, len(jobs))
	for i, j := range jobs {
		trials[i] = Trial{j.entry.Name, j.fold.Name, j.setting()}
	}
	return trials, nil
}

// RunTrial runs the training with the index trial in the result of [Trials] and writes its record
// to Config.Dir. If Config.Dir contains the records of all trainings, Run trains nothing and
// returns the result of the recorded trainings.
func RunTrial(ctx context.Context, c Config, trial int) error {
	if c.Dir == "" {
		return errors.New("found no folder for the record of a training, expected one")
	}
	jobs, err := c.trials()
	if err != nil {
		return err
	}
	if trial < 0 || trial >= len(jobs) {
		return fmt.Errorf("found training %d, expected a number from 0 to %d", trial, len(jobs)-1)
	}
	if err := jobs[trial].run(ctx, &c); err != nil {
		return fmt.Errorf("%s: %w", jobs[trial].name(), err)
	}
	return nil
}

// trials returns the jobs of the configuration. It returns an error if they depend on each other or
// the configuration is invalid.
func (c *Config) trials() ([]*job, error) {
	if c.Budget.Time > 0 || c.Halving {
		return nil, errors.New("found a time or successive halving, expected trainings that do not depend on each other")
	}
	if err := c.open(); err != nil {
		return nil, err
	}
	c.draw()
	return c.jobs(), nil
}
