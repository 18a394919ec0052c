// Package method is the registry of learning methods. A method combines a loss, a scorer and an optimiser under one
// name, with its hyperparameters and its source.
//
// Start reading at [Method] and at registry.go. [Method.Train] learns a model. The package must not depend on files,
// folds or tables.
package method

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// Method is a learning method. Methods are immutable and safe for concurrent use.
type Method struct {
	Name            string // for the command line
	Title           string // for tables
	Summary         string // one sentence
	Source          string // paper, with section or equation
	UsesMeasure     bool   // the method optimises a measure that the user chooses
	DefaultMeasure  string // default of that measure
	Hyperparameters []Hyperparameter

	takes measureClass // the class of training measures that it accepts
	pairs bool         // the default scorer is the pair network

	whole bool // the method reads all features at once, not query by query

	// penalty, if not nil, returns the c of the penalty ‖w‖²/c. By default c is the hyperparameter C.
	penalty func(p *Problem) float64

	// onTrees is the method for trees, with other hyperparameters. It is nil if the method cannot train trees.
	onTrees *Method

	// scorers, if not nil, lists the kinds of scorers that the method can train, the default first.
	scorers []string

	// own identifies the loss of a method of Gradient. It is empty for the catalogue's methods.
	own string

	// plan returns the loss and the learner for a settled problem. The loss is nil if the learner takes none.
	plan func(m *Method, p *Problem) (loss.Loss, train.Learner, error)
}

// Problem is a training by a method. Only Data is required, and Measure if the method uses one (see
// [Method.CheckMeasure]). The method sets Loss, Learner, Method, Settings and Identity.
type Problem struct {
	train.Problem

	Values Values // hyperparameters; the zero value means the defaults
	Scorer string // one of the method's Scorers; empty means the first one

	// Refit learns new leaf values for the trees of Initial and adds no trees. Decay is the weight of the old values,
	// from 0 to 1. Without Refit, training keeps the hyperparameters monotone, categorical and interactions of
	// Initial, and Values may add features to them.
	Refit bool
	Decay float64

	// Debias corrects grades that are clicks for Slots.
	Debias train.Debias

	relevant measure.Convention // with the threshold for the data; set by Method.Problem
}

// Iteration is the progress of training.
type Iteration = train.Iteration

// ProblemError is the error of an invalid problem: its data, settings, training measure and checkpoint do not fit
// together.
type ProblemError = train.ProblemError

// CheckMeasure returns a *ProblemError if the method cannot optimise the measure. Methods without a training measure
// accept any measure, and nil.
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

// Measures returns examples of training measures that the method accepts. It returns nil if the method uses none.
func (m *Method) Measures() []string {
	if !m.UsesMeasure {
		return nil
	}
	return slices.Clone(trainingMeasures[m.takes].examples)
}

// Train learns a model. The model is a function of the problem alone: it has the same bytes for any number of
// workers, and with or without interruptions. The error is a *ProblemError if the problem is at fault. It wraps ctx's
// error if ctx ended the training.
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

// Problem returns p as a settled problem for package train, with the method's loss and learner.
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
	if p.Debias.By != train.NoDebias && p.Slots == nil {
		return nil, train.BadProblem("found no slots for the correction %s, expected the slot of each document", p.Debias.By)
	}
	if own.Values, err = own.Values.keeping(p.Initial); err != nil {
		return nil, err
	}
	own.Method = m.Name
	if !m.UsesMeasure {
		own.Measure = nil
	}
	t, err := own.Settled()
	if err != nil {
		return nil, err
	}
	own.Problem = *t
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

// Streams reports whether the method, with the given hyperparameters, reads the data query by query. Then it can
// learn from data larger than memory.
func (m *Method) Streams(v Values) bool {
	if _, err := m.hyperparameter("splits"); err == nil {
		return v.Text("splits") != "exact" && v.Text("boosting") == "gradient"
	}
	return !m.whole
}

// identity names the method, its measure and its hyperparameters, as words NAME=VALUE.
func (p *Problem) identity(m *Method) string {
	words := "method=" + m.Identity()
	if m.UsesMeasure {
		words += " measure=" + p.Measure.Name() + " convention=" + measure.ConventionOf(p.Measure).Name()
	}
	return fmt.Sprintf("%s scorer=%s %s", words, scorerKind(m, p), p.Values)
}

// Lookup returns the method of the given name. An unknown name is a *ProblemError, which suggests similar names or
// lists the known ones.
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
	additive  measureClass = iota // sum over relevant documents
	anyOne                        // any measure of package measure
	anyNDCG                       // NDCG with or without a cutoff
	wholeNDCG                     // NDCG without a cutoff
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

// Weighs returns the kinds of weights that the method uses with its default hyperparameters and scorer. Most methods
// use weights of queries. PRank does not, because it learns from single documents in random order. Losses over
// documents and pairs also use weights of documents.
func (m *Method) Weighs() train.Weighs {
	p := &Problem{Problem: train.Problem{Data: twoGrades()}}
	if m.UsesMeasure {
		p.Measure = measure.MustParse(m.DefaultMeasure, measure.Convention{})
	}
	whole, err := m.Problem(p)
	if err != nil {
		return train.Weighs{}
	}
	return whole.Weighs()
}

// twoGrades returns a data set from which every method can learn.
func twoGrades() *dataset.Dataset {
	var b dataset.Builder
	if err := b.Add("1", []float64{1, 0, 0}, []float32{1, 0, 0}, nil); err != nil {
		panic("method: " + err.Error())
	}
	return b.Dataset()
}

// explainWeights adds to a *train.WeightsRefused the names of the methods that use such weights.
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
