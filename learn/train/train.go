// Package train learns models. A [Problem] combines data, a loss and a learner, and [Run] returns a model:
//
//	model = Run(loss on one query's scores, learner)
//
// A learner searches for a ranking function. It is a scorer with an optimiser ([LBFGS], [Descent], [Newton],
// [Smoothing], [Planes]), a sum that grows round by round ([Boosting], [Trees]), or a type of the caller. The caller
// may also implement the loss. Run returns a *ProblemError if the loss does not meet the requirements of the learner:
//
//   - [Descent] and [Trees] take any loss.
//   - [LBFGS] needs λ to be minus the gradient of the loss (not loss.Traits.NonGradient).
//   - [Planes] needs a gradient and a convex loss (loss.Traits.Convex).
//   - [Newton] needs a convex loss with a Hessian (loss.SecondOrder).
//   - [Smoothing] needs a convex loss, and a rounded form of it that has a Hessian and cutting
//     planes (loss.SecondOrder, loss.CuttingPlane).
//   - [Boosting], [Classification] and [TreeClassification] take no loss.
//
// Data may have weights. The weight of a query multiplies the query's loss. The weight of a document multiplies the
// document's part of the loss. [Problem.Weighs] reports which kinds of weights a problem supports. Run refuses data
// with other weights.
//
// Start reading at [Problem] and [Run]. A new learner implements [Learner], whose Learn gets a [Task]. Package method
// has the published methods with their hyperparameters. This package must not depend on names of methods, files of
// folds or tables of results.
package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Bindings is a cache of bound losses that several trainings may share: see [objective.Bindings].
type Bindings = objective.Bindings

// Problem describes a training. Data and Learner are required, and so is Loss if the learner takes one.
type Problem struct {
	Data *dataset.Dataset // training data, before normalization; not changed

	// Valid has validation data, before normalization, or is nil. [Descent] chooses the epoch by it, and
	// [Trees], [TreeClassification] and [Boosting] choose the round. [LBFGS] only reports its measure to Observe. If
	// features have names, their order may differ from Data.
	Valid *dataset.Dataset

	Missing       dataset.Missing       // rule for missing values of Data and Valid; stored in the model
	Normalization dataset.Normalization // of the features of each query; stored in the model
	Views         dataset.Views         // forms of the features that the scorer sees, computed after Normalization; nil means raw

	// Transforms are applied to single features, in this order, before Normalization. Their parameters are learned
	// from Data and stored in the model. Transforms must be empty if Initial is set, because the new model keeps the
	// transforms of the initial one.
	Transforms []transform.Spec

	Loss    loss.Loss // what the learner minimises; nil if the learner takes no loss
	Learner Learner   // how it searches for the scorer, such as Descent, LBFGS or Trees

	// Weights multiplies the gradients of document pairs. It has one number for each row of Data. Unless it is the
	// zero value, Learner must be [Trees] and Loss a loss.PairWeighted.
	Weights loss.PairWeights

	// Slots has the slot in which each document of Data was shown, or is nil. It has one index for each row. Slot 0 is
	// the one to which others are compared, usually the first. Learner must correct for slots ([Debias]). Documents of
	// Valid have no slots.
	Slots []int

	// Measure is the measure that the training optimises, or nil if it optimises none. Select is the measure of the
	// validation data, averaged over ties. A nil Select means Measure or, if Measure is nil too, map. If Valid is
	// set, Select must be a measure.Averager. Without a chosen relevance threshold, both measures use the threshold
	// for the data.
	Measure, Select measure.Measure

	// Threshold is the lowest grade that the loss takes as relevant, or 0 if the loss does not use relevance. Error
	// messages report it. If Measure and Select are nil, it is also the threshold of validation and of the model.
	Threshold float64

	// LargestWork bounds the work for one query in a pass over the data. The work is the number of operations, or ten
	// times the bytes of memory if that is more. Run refuses a query that needs more. 0 means DefaultLargestWork.
	LargestWork float64

	// Initial, if not nil, is a model to continue. It must have the same features and normalization, and the learner
	// must be a Continuer. The new model keeps the transforms of Initial and, if features have names, its order of
	// features.
	Initial *model.Model

	Seed    uint64 // random seed; without Until, the same problem and seed give the same model
	Workers int    // goroutines; 0 means GOMAXPROCS; without Until, the model does not depend on it

	// Until, if not zero, is a deadline for boosting. The round in which it passes is the last one. Other learners
	// ignore it.
	Until time.Time

	// MaxBytes bounds the memory for the features and their prepared copy. If the copy does not fit, a [Streamer]
	// prepares features each time it reads them, and Run returns a *ProblemError for any other learner. 0 means
	// dataset.MemoryLimit. MaxBytes does not affect the model.
	MaxBytes int64

	// Bindings, if not nil, shares bound losses between trainings with the same loss and small data. Bindings does
	// not affect the model.
	Bindings *Bindings

	// Checkpoint, if not empty, names a file for the learner's state. If the file exists, training resumes from it.
	// The learner deletes the file at the end. Learners that take seconds write no file and refuse an existing one.
	Checkpoint string

	// Observe, if not nil, is called after every iteration, epoch, round or sweep.
	Observe func(Iteration)

	// EpochsAlone limits the calls of Observe to epochs, rounds and sweeps. This saves the time for validating
	// single iterations, which serves the observer alone.
	EpochsAlone bool

	// Shorter, if not nil, is called after a training of boosted trees with validation data, unless it has a checkpoint.
	// The argument trained returns the model that Run would return without Valid and with the given number of rounds,
	// but with these Settings. It does not train again. It returns nil if the training had fewer rounds.
	Shorter func(trained func(rounds int) *model.Model)

	// Warn, if not nil, is called with a sentence about a likely fault of the problem or the training, such as an
	// objective that did not decrease.
	Warn func(sentence string)

	Method   string         // name of the method; stored in the model
	Settings map[string]any // hyperparameters: numbers, strings and booleans by name; stored in the model

	// Identity identifies the loss, the learner and their settings, as words NAME=VALUE. A checkpoint with another
	// identity is refused. The default is [IdentityOf], which ignores the values of pointers, lists and functions in
	// Loss and Learner, such as an Architecture.
	Identity string

	done     <-chan struct{}    // closed when Run's context is done; set by Run
	relevant measure.Convention // convention with the threshold for the data; set by Settled
	learned  bool               // pipeline is final
	pipeline *transform.Pipeline

	streaming bool // features are prepared each time they are read
	numeric   bool // λ of the loss are numerical; set by checkGradient
}

// Learner searches for a ranking function.
type Learner interface {
	// Learn searches for a scorer and its parameters. The error is a *ProblemError if the problem is at fault. It
	// wraps ctx's error if ctx ended the search.
	Learn(ctx context.Context, t *Task) (*Learned, error)
}

// Learned is the result of a learner.
type Learned struct {
	Scorer   scorer.Scorer  // the ranking function
	Params   []float64      // parameters of Scorer
	Training model.Training // course of the search; Run adds a description of the data
	Used     int            // number of queries from which something could be learned
}

// Iteration is the progress of training after an iteration of an optimiser, an epoch of descent (a pass over all
// queries), or a round of boosting.
type Iteration struct {
	Start     int     // index of the random start, from 0
	Number    int     // iteration of this start, from 0; or epoch over all starts, from 1
	Objective float64 // after an epoch: sum of the losses at the updates
	GradNorm  float64 // norm of the gradient; 0 after an epoch

	Epoch bool    // this is the end of an epoch or a round
	Rate  float64 // learning rate of the epoch, or weight of the round; 0 for other iterations

	Validated  bool    // Validation was computed
	Validation float64 // value of Problem.Select on the validation data

	// Best reports whether this is the best iteration so far.
	Best bool

	// Params are the scorer's parameters at this point. They are valid during the call only.
	Params []float64
}

// ProblemError is the error of an invalid problem: its data, settings, measure, loss, learner and checkpoint do not
// fit together.
type ProblemError struct {
	Err error // what was found and what was expected
}

// Error implements error.
func (e *ProblemError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ProblemError) Unwrap() error { return e.Err }

// BadProblem returns a *ProblemError with a message formatted as by fmt.Errorf.
func BadProblem(format string, args ...any) error {
	return &ProblemError{fmt.Errorf(format, args...)}
}

// Run learns a model. The model is a function of the problem alone. It has the same bytes for any number of workers,
// and with or without interruptions. The error is a *ProblemError if the problem is at fault. It wraps ctx's error if
// ctx ended the training.
func Run(ctx context.Context, p *Problem) (trained *model.Model, err error) {
	defer dataset.GuardFaults(&err)()
	if p, err = p.ready(ctx); err != nil {
		return nil, err
	}
	t := &Task{Problem: p}
	learned, err := p.Learner.Learn(ctx, t)
	if changed := p.changed(); changed != nil {
		return nil, changed // whether or not training succeeded
	}
	if err == nil {
		err = checkLearned(p.Learner, learned)
	}
	if err == nil {
		trained = p.model(learned)
		err = checkFinite(trained)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = cause // an interrupted computation may fail in other ways
	}
	if err != nil {
		return nil, err
	}
	if prefix := t.prefix; prefix != nil {
		p.Shorter(func(rounds int) *model.Model {
			if l := prefix(rounds); l != nil {
				return p.model(l)
			}
			return nil
		})
	}
	return trained, nil
}

// ready settles the problem, makes all checks and learns the transforms.
func (p *Problem) ready(ctx context.Context) (*Problem, error) {
	if p.Data == nil || p.Learner == nil {
		return nil, errors.New("found a problem without data or without a learner, expected both")
	}
	if p.Data.Features == 0 && p.Data.Docs() > 0 {
		return nil, BadProblem("found documents without features, expected at least one feature to learn from")
	}
	if _, ok := p.Learner.(Trees); !ok && !p.Weights.IsZero() {
		return nil, BadProblem("found weights of documents in pairs, expected none: the learner %T does not take them", p.Learner)
	}
	p, err := p.Settled()
	if err != nil {
		return nil, err
	}
	if err := p.checkSlots(); err != nil {
		return nil, err
	}
	if err := p.checkInitial(); err != nil {
		return nil, err
	}
	if err := p.checkWeights(); err != nil {
		return nil, err
	}
	if err := p.planMemory(); err != nil {
		return nil, err
	}
	if err := p.learnTransforms(); err != nil { // last, because it reads all data
		return nil, err
	}
	if err := p.checkKept(); err != nil {
		return nil, err
	}
	if err := p.checkGradient(); err != nil {
		return nil, err
	}
	if sentence := Indifference(p.Measure, p.Data); sentence != "" {
		p.warn("%s", sentence)
	}
	p.done = ctx.Done()
	return p, nil
}

// warn calls Warn with a formatted sentence, if Warn is set.
func (p *Problem) warn(format string, args ...any) {
	if p.Warn != nil {
		p.Warn(fmt.Sprintf(format, args...))
	}
}

// warnUnimproved warns that training did not lower the objective, and names likely causes. It ignores losses of
// package loss whose λ is no gradient, because their value may rise while the ranking improves. LambdaRank's value
// jumps, and YetiLoss's value rises.
func (p *Problem) warnUnimproved(objective, start float64) {
	if p.Loss != nil && ownLoss(p.Loss) && p.Loss.Traits().NonGradient {
		return
	}
	p.warn("training did not lower the objective: it is %.6g, and was %.6g at the start; check the sign of λ if the loss is your own, the rate, and the scale of the features", objective, start)
}

// checkLearned returns an error if a learner returned no scorer or a wrong number of parameters.
func checkLearned(learner Learner, l *Learned) error {
	switch {
	case l == nil || l.Scorer == nil:
		return fmt.Errorf("the learner %T returned no scorer and no error, expected one of them", learner)
	case len(l.Params) != l.Scorer.NumParams():
		return fmt.Errorf("the learner %T returned %d parameters of the scorer %s, expected %d", learner, len(l.Params), l.Scorer.Kind(), l.Scorer.NumParams())
	}
	return nil
}

// model returns the learned model with a description of the data and the training.
func (p *Problem) model(l *Learned) *model.Model {
	t := l.Training
	t.Fingerprint, t.Seen, t.Summary = p.Data.Fingerprint(), p.Data.QuerySet(), p.Data.Summary()
	t.Queries, t.Documents, t.Used = len(p.Data.Queries), p.Data.Docs(), l.Used
	t.Weighted = weightsOf(p.Data)
	if p.numeric {
		t.Lambda = "numerical"
	}
	if p.Initial != nil {
		t.Continued = p.Initial.Origin()
		t.Seen, t.Pages = t.Seen.Union(p.Initial.Training.Seen), p.Initial.Training.Pages
	}
	m := &model.Model{
		Method:          p.Method,
		Hyperparameters: p.Settings,
		Seed:            p.Seed,
		Threshold:       p.relevant.Threshold(),
		FeatureNames:    p.featureNames(),
		Missing:         p.Missing,
		AbsentMissing:   p.Data.AbsentMissing,
		Transforms:      p.pipeline,
		Normalization:   p.Normalization,
		Views:           p.Views.Canonical(),
		Training:        t,
		Scorer:          l.Scorer,
		Params:          l.Params,
	}
	if p.Measure != nil {
		m.Measure, m.Convention = p.Measure.Name(), measure.ConventionOf(p.Measure).Name()
	}
	return m
}

// changed returns an error if a file behind the data has changed since it was opened.
func (p *Problem) changed() error {
	for _, d := range p.sets() {
		if err := d.Changed(); err != nil {
			return err
		}
	}
	return nil
}

// CurveLine is a line of a learning curve file, a JSON object. It describes an epoch of descent, a round of boosting
// or an iteration of a minimisation. Only the iteration of a minimisation has a gradient norm, and it has no rate.
type CurveLine struct {
	Epoch        int      `json:"epoch"`                   // Iteration.Number: epochs and rounds from 1, iterations of a start from 0
	Restart      int      `json:"restart"`                 // index of the random start, from 0
	Rate         float64  `json:"rate,omitempty"`          // learning rate of the epoch, or weight of the round
	TrainingCost float64  `json:"training_cost"`           // Iteration.Objective
	GradientNorm *float64 `json:"gradient_norm,omitempty"` // norm of the gradient; nil except after an iteration of a minimisation
	Validation   *float64 `json:"validation,omitempty"`    // value of Problem.Select on the validation data; nil if not computed
	Best         bool     `json:"best"`                    // this is the best epoch, round or iteration so far
}

// Line returns the iteration as a line of a learning curve.
func (it *Iteration) Line() CurveLine {
	line := CurveLine{Epoch: it.Number, Restart: it.Start, Rate: it.Rate, TrainingCost: it.Objective, Best: it.Best}
	if norm := it.GradNorm; !it.Epoch {
		line.GradientNorm = &norm
	}
	if value := it.Validation; it.Validated {
		line.Validation = &value
	}
	return line
}

// checkFinite returns a *ProblemError unless all parameters of a model, and the numbers that describe its training,
// are finite. The optimisers check this, too; a caller's own learner may not.
func checkFinite(m *model.Model) error {
	t := &m.Training
	for _, v := range []struct {
		what  string
		value *float64
	}{{"objective", &t.Objective}, {"norm of the gradient", &t.GradNorm}, {"certified gap", t.Gap}, {"validation value", t.Validation}} {
		if v.value != nil && notFinite(*v.value) {
			return notFiniteProblem(v.what, *v.value)
		}
	}
	for i, w := range m.Params {
		if notFinite(w) {
			return notFiniteProblem(fmt.Sprintf("weight %d", i+1), w)
		}
	}
	return nil
}

func notFiniteProblem(what string, found float64) error {
	return BadProblem("found the %s %v after training, expected finite numbers; features of one scale, as normalization makes them, may help", what, found)
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
