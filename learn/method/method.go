// Package method is the registry of learning methods: each a loss, a scorer and
// an optimiser under one name, with its hyperparameters and its source.
//
// Start reading at [Method] and at registry.go; [Method.Train] learns a model. The package
// must not depend on files, folds or tables.
package method

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
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

	whole bool // it takes all features at once, not query by query

	// penalty, if not nil, returns the c of the penalty ‖w‖²/c that goes with its loss;
	// else that is C.
	penalty func(p *Problem) float64

	// onTrees is the method as it grows trees, with other hyperparameters; nil if it does not.
	onTrees *Method

	// scorers, if not nil, are the only ones that it can train, its default first.
	scorers []string

	// plan returns the loss, nil if there is none on scores, and the learner that the
	// problem, which is settled, asks for.
	plan func(m *Method, p *Problem) (loss.Loss, train.Learner, error)
}

// Problem is what a method learns from. Only Data is necessary, and Measure where the
// method uses one.
type Problem struct {
	Data          *dataset.Dataset // before normalization; not changed
	Missing       dataset.Missing  // what values of Data and Valid that are missing became, or become; stored in the model
	Valid         *dataset.Dataset // before normalization; by it descent chooses the epoch to keep; may be nil
	Select        measure.Measure  // of Valid, tie-neutral; nil means Measure if the method uses one, else map
	Measure       measure.Measure  // the training measure, see CheckMeasure; its threshold, and that of Select, is for the data unless chosen
	Values        Values           // the hyperparameters; the zero value: the defaults
	Scorer        string           // one of the method's Scorers; empty means the first
	Normalization dataset.Normalization
	Views         dataset.Views    // the forms in which the scorer sees the features, after Normalization; nil: raw
	Transforms    []transform.Spec // done to features one by one before Normalization, learned from Data, stored in the model; none with Initial
	Seed          uint64
	Workers       int             // goroutines; 0 means GOMAXPROCS
	MaxBytes      int64           // of memory for features, see train.Problem; 0: what dataset.MemoryLimit says
	Bindings      *train.Bindings // keep what the loss draws for other trainings, see train.Problem; nil: nothing does

	// Initial, if not nil, is a model of trees to go on from. Its monotone, categorical and
	// interactions are kept, and Values may add to them. Refit adds no trees to it but
	// learns their values anew, of which the old ones make up the part Decay, from 0 to 1.
	Initial *model.Model
	Refit   bool
	Decay   float64

	// Checkpoint, if not empty, is the file that the optimiser's state is
	// written to now and then; training goes on from it if it exists. It is
	// deleted in the end. Methods that take seconds write none.
	Checkpoint string

	// Observe, if not nil, is called after every iteration or epoch; if EpochsAlone is set, after epochs,
	// rounds and sweeps alone. Iterations of a minimisation, which are validated for the observer only,
	// then cost nothing besides.
	Observe     func(Iteration)
	EpochsAlone bool

	// Warn, if not nil, is called with a sentence about what may be wrong with the problem or
	// with the training, such as an objective that did not fall.
	Warn func(sentence string)

	relevant measure.Convention // with the threshold for the data; set by Train
}

// Iteration is the progress of training.
type Iteration = train.Iteration

// ProblemError is the error of a problem from which a method cannot learn: the data, the
// settings, the training measure or the checkpoint do not fit.
type ProblemError = train.ProblemError

// CheckMeasure returns a *ProblemError if the method cannot optimise the measure.
// A method that has no training measure accepts any, nil included.
func (m *Method) CheckMeasure(training measure.Measure) error {
	if !m.UsesMeasure {
		return nil
	}
	if training == nil {
		return train.BadProblem("found no training measure, expected one such as %s", m.DefaultMeasure)
	}
	if threshold, ok := measure.RelevanceOf(training); ok && measure.StatesRelevance(training) {
		return train.BadProblem("found the training measure %s, expected it without a grade in its name, and the threshold %s, which the loss takes too", training.Name(), dataset.FormatGrade(threshold))
	}
	if !trainingMeasures[m.takes].accepts(training) {
		return train.BadProblem("found the training measure %s, expected %s", training.Name(), trainingMeasures[m.takes].expected)
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

// Train learns a model. The result is a function of the problem alone: the same bytes for
// any number of workers, with or without interruptions and checkpoints. An error is a
// *ProblemError if the problem is at fault, and wraps ctx's if that ended the training.
func (m *Method) Train(ctx context.Context, p *Problem) (trained *model.Model, err error) {
	defer dataset.GuardFaults(&err)()
	whole, err := m.Problem(p)
	if err == nil {
		trained, err = train.Run(ctx, whole)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, explainWeights(err))
	}
	return trained, nil
}

// Problem returns the method's loss and learner with the data of p as a problem for
// package train, settled.
func (m *Method) Problem(p *Problem) (*train.Problem, error) {
	m, err := m.For(p.Scorer)
	if err != nil {
		return nil, err
	}
	own := *p
	if own.Values.method == nil {
		if own.Values, err = m.Values(nil); err != nil {
			return nil, err
		}
	}
	if other := own.Values.method; other != m {
		return nil, fmt.Errorf("found the hyperparameters of %s, expected those of %s", other.label(), m.label())
	}
	if err := m.CheckMeasure(p.Measure); err != nil {
		return nil, err
	}
	if p.Refit && p.Initial == nil {
		return nil, train.BadProblem("found no model to refit, expected one to continue")
	}
	if own.Values, err = own.Values.keeping(p.Initial); err != nil {
		return nil, err
	}
	t := &train.Problem{
		Data: p.Data, Valid: p.Valid, Missing: p.Missing, Normalization: p.Normalization, Views: p.Views, Transforms: p.Transforms,
		Select: p.Select, Initial: p.Initial, Seed: p.Seed, Workers: p.Workers, MaxBytes: p.MaxBytes, Bindings: p.Bindings, Checkpoint: p.Checkpoint, Observe: p.Observe, EpochsAlone: p.EpochsAlone, Warn: p.Warn,
		Method: m.Name,
	}
	if m.UsesMeasure {
		t.Measure = p.Measure
	}
	if t, err = t.Settled(); err != nil {
		return nil, err
	}
	own.Data, own.Valid, own.Select = t.Data, t.Valid, t.Select
	if own.Measure = t.Measure; !m.UsesMeasure {
		own.Measure = p.Measure
	}
	own.settle(t.Relevant())
	t.Settings = own.Values.Typed()
	if t.Loss, t.Learner, err = m.plan(m, &own); err != nil {
		return nil, err
	}
	t.Identity = own.identity(m)
	if _, err := m.hyperparameter(thresholdName); err == nil {
		t.Threshold = own.Values.Number(thresholdName)
	}
	if _, err := m.hyperparameter(largestWork.Name); err == nil {
		t.LargestWork = own.Values.Number(largestWork.Name)
	}
	return t, nil
}

// Streams reports whether the method, with these hyperparameters, learns from data that are larger than memory, which it
// reads query by query.
func (m *Method) Streams(v Values) bool {
	if _, err := m.hyperparameter("splits"); err == nil {
		return v.Text("splits") != "exact" && v.Text("boosting") == "gradient"
	}
	return !m.whole
}

// identity names the method, what it optimises and its settings, as words NAME=VALUE.
func (p *Problem) identity(m *Method) string {
	words := "method=" + m.Name
	if m.UsesMeasure {
		words += " measure=" + p.Measure.Name() + " convention=" + measure.ConventionOf(p.Measure).Name()
	}
	return fmt.Sprintf("%s scorer=%s %s", words, scorerKind(m, p), p.Values)
}

// Lookup returns the method of that name. The error for an unknown one, a *ProblemError, says
// what is near or, if nothing is, lists the known ones.
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

// measureClass is a class of training measures.
type measureClass int

const (
	additive  measureClass = iota // sums over relevant documents
	anyOne                        // any that package measure can compute
	anyNDCG                       // with or without a cutoff
	wholeNDCG                     // the gain and discount are the convention's, without a cutoff
)

var trainingMeasures = [...]struct {
	accepts  func(measure.Measure) bool
	expected string
	examples []string
}{
	additive: {func(m measure.Measure) bool {
		_, ok := m.(measure.Additive)
		return ok
	}, "one that is a sum over relevant documents, such as map, ndcg@10, auc or mrr", []string{"map", "ndcg@K", "auc", "mrr"}},
	anyOne:    {func(measure.Measure) bool { return true }, "any", []string{"map", "ndcg@K", "auc", "mrr", "err"}},
	anyNDCG:   {func(m measure.Measure) bool { return measure.Family(m) == "ndcg" }, "ndcg or ndcg@K", []string{"ndcg", "ndcg@K"}},
	wholeNDCG: {func(m measure.Measure) bool { return measure.Family(m) == "ndcg" && measure.CutoffOf(m) == 0 }, "ndcg, of whole lists", []string{"ndcg"}},
}

// Weighs returns which weights of the training data the method takes with its default
// hyperparameters and scorer. All methods take those of queries that are not on single documents
// with an order of their own, as PRank's are; those of documents are taken by losses over
// documents and pairs.
func (m *Method) Weighs() train.Weighs {
	p := &Problem{Data: twoGrades()}
	if m.UsesMeasure {
		p.Measure = measure.MustParse(m.DefaultMeasure, measure.Convention{})
	}
	whole, err := m.Problem(p)
	if err != nil {
		return train.Weighs{}
	}
	return whole.Weighs()
}

// twoGrades are data that every method can be asked about.
func twoGrades() *dataset.Dataset {
	var b dataset.Builder
	if err := b.Add("1", []float64{1, 0, 0}, []float32{1, 0, 0}, nil); err != nil {
		panic("method: " + err.Error())
	}
	return b.Dataset()
}

// explainWeights adds to the error of weights that are not taken the methods that take them.
func explainWeights(err error) error {
	refused, ok := errors.AsType[*train.WeightsRefused](err)
	if !ok {
		return err
	}
	var names []string
	for _, m := range registry {
		if w := m.Weighs(); refused.Of == "queries" && w.Queries || refused.Of == "documents" && w.Documents {
			names = append(names, m.Name)
		}
	}
	return fmt.Errorf("%w; methods that take them, at their defaults: %s", err, strings.Join(names, ", "))
}
