// Package method is the registry of learning methods: each a loss, a scorer and
// an optimiser under one name, with its hyperparameters and its source.
//
// Start reading at [Method] and at registry.go; [Method.Train] learns a model.
// The package must not know of files, folds or tables.
package method

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
)

// Method is a way to learn a ranking function. Methods are immutable and safe
// for concurrent use.
type Method struct {
	Name            string // on the command line
	Title           string // in tables
	Summary         string // one sentence
	Source          string // paper, section, equation
	UsesMeasure     bool   // it optimises a training measure that the user chooses
	DefaultMeasure  string // if UsesMeasure
	Hyperparameters []Hyperparameter

	takes measureClass // as training measures
	pairs bool         // its default scorer is the pair network

	// penalty, if not nil, returns the c of the penalty ‖w‖²/c that goes with its loss;
	// else that is C.
	penalty func(p *Problem) float64

	// scorers, if not nil, are the only ones that it can train, its default first.
	scorers []string

	train func(ctx context.Context, m *Method, p *Problem) (*model.Model, error)
}

// Problem is what a method learns from. Only Data and Values are necessary, and
// Measure where the method uses one.
type Problem struct {
	Data          *dataset.Dataset // before normalization; not changed
	Missing       dataset.Missing  // what values of Data and Valid that are missing became, or become; stored in the model
	Valid         *dataset.Dataset // before normalization; by it descent chooses the epoch to keep; may be nil
	Select        measure.Measure  // of Valid, tie-neutral; nil means Measure if the method uses one, else map
	Measure       measure.Measure  // the training measure, see CheckMeasure; its threshold, and that of Select, is for the data unless chosen
	Values        Values
	Scorer        string // one of the method's Scorers; empty means the first
	Normalization dataset.Normalization
	Seed          uint64
	Workers       int // goroutines; 0 means GOMAXPROCS

	// Checkpoint, if not empty, is the file that the optimiser's state is
	// written to now and then; training goes on from it if it exists. It is
	// deleted in the end. Boosting, which takes seconds, writes none.
	Checkpoint string

	// Observe, if not nil, is called after every iteration or epoch.
	Observe func(Iteration)

	done     <-chan struct{}    // the context's, set by Train
	relevant measure.Convention // with the threshold for the data; set by settled
}

// Iteration tells how far training is: after an iteration of L-BFGS or an epoch of
// descent, a pass over all queries.
type Iteration struct {
	Start     int     // of a method that starts several times, from 0
	Number    int     // iteration of this start, from 0; or epoch over all starts, from 1
	Objective float64 // of an epoch: the sum of what its updates met
	GradNorm  float64 // 0 after an epoch, which has no one gradient

	// Epoch tells that this is an epoch's end. Rate is then that of its steps.
	Epoch bool
	Rate  float64

	// Validation is, if Validated, what Select is on the validation data.
	Validated  bool
	Validation float64

	// Best tells that this is better than all before it.
	Best bool

	// Params are the scorer's parameters at this point, valid during the call.
	Params []float64
}

// ProblemError tells that a method cannot learn from a problem: the data, the
// settings, the training measure or the checkpoint do not fit.
type ProblemError struct{ Err error }

func (e *ProblemError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ProblemError) Unwrap() error { return e.Err }

func badProblem(format string, args ...any) error {
	return &ProblemError{fmt.Errorf(format, args...)}
}

// CheckMeasure returns a *ProblemError if the method cannot optimise the measure.
// A method that has no training measure accepts any, nil included.
func (m *Method) CheckMeasure(training measure.Measure) error {
	if !m.UsesMeasure {
		return nil
	}
	if training == nil {
		return badProblem("found no training measure, expected one such as %s", m.DefaultMeasure)
	}
	if !trainingMeasures[m.takes].accepts(training) {
		return badProblem("found the training measure %s, expected %s", training.Name(), trainingMeasures[m.takes].expected)
	}
	return nil
}

// Measures returns examples of the training measures that a method accepts, nil
// if it uses none.
func (m *Method) Measures() []string {
	if !m.UsesMeasure {
		return nil
	}
	return slices.Clone(trainingMeasures[m.takes].examples)
}

// Train learns a model. The result is a function of the problem alone: the same
// bytes whatever the number of workers, with or without interruptions and
// checkpoints. An error is a *ProblemError if the problem is at fault, and wraps
// ctx's if that ended the training.
func (m *Method) Train(ctx context.Context, p *Problem) (trained *model.Model, err error) {
	defer dataset.GuardFaults(&err)()
	if p.Values.method != m {
		return nil, fmt.Errorf("%s: the hyperparameters are another method's", m.Name)
	}
	if err := m.CheckMeasure(p.Measure); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if err := m.CheckScorer(p.Scorer); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if p.Valid != nil && p.Valid.Features > p.Data.Features {
		return nil, fmt.Errorf("%s: %w", m.Name, badProblem("found %d features in the validation data, expected at most the training data's %d", p.Valid.Features, p.Data.Features))
	}
	p, err = p.filled()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	p = p.settled()
	p.done = ctx.Done()
	trained, err = m.train(ctx, m, p)
	if changed := p.changed(); changed != nil {
		return nil, changed // whatever came of it
	}
	if err == nil {
		err = checkFinite(trained)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = cause // what was broken off is not worth telling
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return trained, nil
}

// filled returns the problem with values that are missing filled in.
func (p *Problem) filled() (*Problem, error) {
	if p.Data.Missing() == 0 && (p.Valid == nil || p.Valid.Missing() == 0) {
		return p, nil
	}
	if p.Missing != dataset.MissingZero && p.Missing != dataset.MissingMin {
		return nil, badProblem("found missing values in the data, expected to be told what they become")
	}
	f := *p
	for _, d := range []**dataset.Dataset{&f.Data, &f.Valid} {
		if *d != nil && (*d).Missing() > 0 {
			*d = (*d).Clone()
			(*d).FillMissing(p.Missing)
		}
	}
	return &f, nil
}

// changed returns an error if the files that the data are views of have changed.
func (p *Problem) changed() error {
	err := p.Data.Changed()
	if err == nil && p.Valid != nil {
		err = p.Valid.Changed()
	}
	return err
}

// Lookup returns the method of that name. The error about an unknown one tells what is
// near or, if nothing is, lists the known ones.
func Lookup(name string) (*Method, error) {
	for _, m := range registry {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, unknownMethod(name)
}

// List returns all methods in the order of the help text.
func List() []*Method { return registry }
