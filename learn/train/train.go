// Package train learns models: a loss and a learner make a model.
//
//	model = Run(loss on one query's scores, learner)
//
// A learner searches for a ranking function. It is a scorer with an optimiser ([LBFGS],
// [Descent], [Newton], [Smoothing], [Planes]), a sum that grows round by round ([Boosting],
// [Trees]), or a type of the caller's own. A loss, also a caller's own, must meet the demands
// of the learner; otherwise Run returns a *ProblemError. The demands:
//
//   - [Descent] and [Trees] take any loss.
//   - [LBFGS] needs λ to be minus the gradient of the loss (not loss.Traits.NonGradient).
//   - [Planes] needs a gradient and a convex loss (loss.Traits.Convex).
//   - [Newton] needs a convex loss with a Hessian (loss.SecondOrder).
//   - [Smoothing] needs a convex loss, and a rounded form of it that has a Hessian and cutting
//     planes (loss.SecondOrder, loss.CuttingPlane).
//   - [Boosting], [Classification] and [TreeClassification] take no loss.
//
// Data may have weights. The weight of a query multiplies its loss, that of a document its
// part of the loss. [Problem.Weighs] says which of them a problem uses; others are refused.
//
// Start reading at [Problem] and [Run]. A learner of one's own implements [Learner] and gets a
// [Task]. Package method has the published methods with their hyperparameters. This package
// must not depend on names of methods, files of folds or tables.
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

// Bindings are [objective.Bindings].
type Bindings = objective.Bindings

// Problem is what there is to learn from, and how. Data and Learner are necessary, and
// Loss where the learner takes one.
type Problem struct {
	Data          *dataset.Dataset // before normalization; not changed
	Valid         *dataset.Dataset // before normalization, of the features of Data, in any order if they have names; by it learners choose the epoch or round to keep; may be nil
	Missing       dataset.Missing  // what values of Data and Valid that are missing became, or become; stored in the model
	Normalization dataset.Normalization
	Views         dataset.Views // the forms in which the scorer sees the features, after Normalization; nil: raw

	// Transforms are applied to single features, in this order, before Normalization. Their
	// numbers are learned from Data and stored in the model. With Initial there must be none: the
	// model's own are kept.
	Transforms []transform.Spec

	Loss    loss.Loss
	Learner Learner

	// Weights of pairs of documents multiply the gradients of the pairs. They have one number for
	// each row of Data. With any but the zero value, which changes nothing, Learner is [Trees]
	// and Loss a loss.PairWeighted.
	Weights loss.PairWeights

	// Measure is what the training optimises, for those whom it concerns; nil if there
	// is none. Select is the measure of Valid, tie-neutral; nil means Measure or, without
	// that, map. Where there are Valid, it must be a measure.Averager. The relevance
	// threshold of both, unless chosen, is for the data.
	Measure, Select measure.Measure

	// Threshold is the lowest grade that the loss takes as relevant, 0 if the loss does not use
	// relevance. It appears in messages. Without Measure and Select it is also the threshold of
	// validation and of the model.
	Threshold float64

	// LargestWork bounds the operations of one query in a pass, and ten times its bytes of
	// memory. A query that needs more is refused. 0 means DefaultLargestWork.
	LargestWork float64

	// Initial, if not nil, is a model to continue, with the same features and normalization. The
	// learner must be a Continuer. The new model has its transforms and, if features have names,
	// its order of features.
	Initial *model.Model

	Seed    uint64
	Workers int // goroutines; 0 means GOMAXPROCS

	// Until, if not zero, ends boosting after the round in which it passes, as if no more rounds had been asked for.
	// Other learners ignore it.
	Until time.Time

	// MaxBytes bounds the memory for features and their prepared copy. Where it is too little, a
	// [Streamer] prepares features whenever it reads them; for other learners it is a
	// *ProblemError. 0 means dataset.MemoryLimit. It changes no bit of the model.
	MaxBytes int64

	// Bindings, if not nil, keep what the loss draws for small data, for other trainings with the
	// same loss: see [objective.Bindings]. It changes no bit of the model.
	Bindings *Bindings

	// Checkpoint, if not empty, is the file for the learner's state. If it exists, training
	// resumes from it. It is deleted in the end. Learners that take seconds write none and refuse
	// one that exists.
	Checkpoint string

	// Observe, if not nil, is called after every iteration or epoch; with EpochsAlone, only after
	// epochs, rounds and sweeps. Iterations of a minimisation are validated for the observer
	// only, so EpochsAlone saves that time.
	Observe     func(Iteration)
	EpochsAlone bool

	// Warn, if not nil, is called with a sentence about what may be wrong with the problem or
	// with the training, such as an objective that did not fall.
	Warn func(sentence string)

	// Method and Settings go into the model: what it was learned by, and the
	// hyperparameters (numbers, strings and booleans).
	Method   string
	Settings map[string]any

	// Identity identifies the loss, the learner and their settings, in words NAME=VALUE, so that
	// a checkpoint of another training is refused. If empty, it is that of [IdentityOf], which
	// leaves out what Loss and Learner have behind pointers, in lists or in functions (an
	// Architecture).
	Identity string

	done     <-chan struct{}    // the context's, set by Run
	relevant measure.Convention // with the threshold for the data; set by Settled
	learned  bool               // whether transforms were
	pipeline *transform.Pipeline

	streaming bool // what is done to features is done as they are read
}

// Learner searches for a ranking function.
type Learner interface {
	// Learn learns from a task. An error is a *ProblemError if the problem is at fault, and
	// wraps ctx's error if that ended the search.
	Learn(ctx context.Context, t *Task) (*Learned, error)
}

// Learned is what a learner found.
type Learned struct {
	Scorer   scorer.Scorer
	Params   []float64      // the scorer's
	Training model.Training // how the search went; Run adds what is known of the data
	Used     int            // queries that could be learned from
}

// Iteration is the progress of training: after an iteration of an optimiser, an epoch of
// descent (a pass over all queries), or a round of boosting.
type Iteration struct {
	Start     int     // of a learner that starts several times, from 0
	Number    int     // iteration of this start, from 0; or epoch over all starts, from 1
	Objective float64 // of an epoch: the sum of what its updates met
	GradNorm  float64 // 0 after an epoch, which has no one gradient

	// Epoch is whether this is the end of an epoch. Rate is then that of its steps.
	Epoch bool
	Rate  float64

	// Validation is, if Validated, what Select is on the validation data.
	Validated  bool
	Validation float64

	// Best is whether this is better than all before it.
	Best bool

	// Params are the scorer's parameters at this point, valid during the call.
	Params []float64
}

// ProblemError is the error of a problem from which nothing can be learned: the data, the
// settings, the training measure or the checkpoint do not fit.
type ProblemError struct{ Err error }

// Error implements error.
func (e *ProblemError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ProblemError) Unwrap() error { return e.Err }

// BadProblem returns a *ProblemError of a formatted message.
func BadProblem(format string, args ...any) error {
	return &ProblemError{fmt.Errorf(format, args...)}
}

// Run learns a model. The result is a function of the problem alone: the same bytes for
// any number of workers, with or without interruptions and checkpoints. An error is a
// *ProblemError if the problem is at fault, and wraps ctx's error if that ended the
// training.
func Run(ctx context.Context, p *Problem) (trained *model.Model, err error) {
	defer dataset.GuardFaults(&err)()
	if p, err = p.ready(ctx); err != nil {
		return nil, err
	}
	learned, err := p.Learner.Learn(ctx, &Task{Problem: p})
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
		err = cause // what was broken off is not worth telling
	}
	if err != nil {
		return nil, err
	}
	return trained, nil
}

// ready returns the problem settled, with everything decided that comes before learning.
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
	if err := p.checkInitial(); err != nil {
		return nil, err
	}
	if err := p.checkWeights(); err != nil {
		return nil, err
	}
	if err := p.planMemory(); err != nil {
		return nil, err
	}
	if err := p.learnTransforms(); err != nil { // which reads all data: what is refused anyway is so by now
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

// warn calls Warn, if there is one, with a formatted sentence.
func (p *Problem) warn(format string, args ...any) {
	if p.Warn != nil {
		p.Warn(fmt.Sprintf(format, args...))
	}
}

// warnUnimproved warns of a training that ends where it began, and says what to check. It does
// not judge a loss of package loss whose λ is no gradient by its value: LambdaRank's jumps, and
// YetiLoss's rises while the ranking improves.
func (p *Problem) warnUnimproved(objective, start float64) {
	if p.Loss != nil && ownLoss(p.Loss) && p.Loss.Traits().NonGradient {
		return
	}
	p.warn("training did not lower the objective: it is %.6g, and was %.6g at the start; check the sign of λ if the loss is your own, the rate, and the scale of the features", objective, start)
}

// checkLearned returns an error if a learner, perhaps a caller's own, returned no scorer or a
// wrong number of parameters.
func checkLearned(learner Learner, l *Learned) error {
	switch {
	case l == nil || l.Scorer == nil:
		return fmt.Errorf("the learner %T returned no scorer and no error, expected one of them", learner)
	case len(l.Params) != l.Scorer.NumParams():
		return fmt.Errorf("the learner %T returned %d parameters of the scorer %s, expected %d", learner, len(l.Params), l.Scorer.Kind(), l.Scorer.NumParams())
	}
	return nil
}

// model returns the model with a description of the data and the training.
func (p *Problem) model(l *Learned) *model.Model {
	t := l.Training
	t.Fingerprint, t.Seen, t.Summary = p.Data.Fingerprint(), p.Data.QuerySet(), p.Data.Summary()
	t.Queries, t.Documents, t.Used = len(p.Data.Queries), p.Data.Docs(), l.Used
	t.Weighted = weightsOf(p.Data)
	if p.Initial != nil {
		t.Continued = p.Initial.Origin()
		t.Seen = t.Seen.Union(p.Initial.Training.Seen)
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

// changed returns an error if the files that the data are views of have changed.
func (p *Problem) changed() error {
	for _, d := range p.sets() {
		if err := d.Changed(); err != nil {
			return err
		}
	}
	return nil
}

// CurveLine is a line of a learning curve file, a JSON object. It is an epoch of descent, a round
// of boosting, or an iteration of a minimisation, which has a gradient and no rate.
type CurveLine struct {
	Epoch        int      `json:"epoch"`
	Restart      int      `json:"restart"`
	Rate         float64  `json:"rate,omitempty"`
	TrainingCost float64  `json:"training_cost"`
	GradientNorm *float64 `json:"gradient_norm,omitempty"`
	Validation   *float64 `json:"validation,omitempty"`
	Best         bool     `json:"best"`
}

// Line returns what a learning curve says of the iteration.
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

// checkFinite returns a *ProblemError if a model's weights, or the numbers that describe
// how it came about, are not all finite. The optimisers see to it that they are; this is
// the one place that no model gets past.
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
