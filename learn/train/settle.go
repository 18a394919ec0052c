package train

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
)

// Settled returns the problem with everything that depends on the data. Features have one order,
// by their names, and missing values are filled in. Measures have their relevance threshold.
// Measure has no rules that are for evaluation only (see [measure.ForTraining]). Run settles a
// problem itself; settling twice changes nothing.
func (p *Problem) Settled() (*Problem, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	own := *p
	s := &own
	if err := s.arrange(); err != nil {
		return nil, err
	}
	if err := s.fill(); err != nil {
		return nil, err
	}
	if !s.transforms() {
		if err := s.checkKept(); err != nil {
			return nil, err
		}
	}
	sets := s.sets()
	s.Measure, s.Select = measure.For(p.Measure, sets...), measure.For(p.Select, sets...)
	if s.Select == nil {
		s.Select = s.Measure // with the rules of an evaluation
	}
	if s.Valid != nil && s.Select != nil {
		if _, err := averager(s.Select); err != nil {
			return nil, err
		}
	}
	s.Measure = measure.ForTraining(s.Measure)
	var c measure.Convention
	switch {
	case p.Measure != nil:
		c = measure.ConventionOf(p.Measure)
	case p.Select != nil:
		c = measure.ConventionOf(p.Select)
	case p.Threshold > 0:
		c = c.WithThreshold(p.Threshold)
	}
	s.relevant = c.For(sets...)
	return s, nil
}

// check returns an error for a problem without data, or with what no model could keep.
func (p *Problem) check() error {
	if p.Data == nil || len(p.Data.Queries) == 0 {
		return BadProblem("found no training data, expected at least one query")
	}
	if err := p.Data.CheckWeights(); err != nil {
		return BadProblem("training data: %w", err)
	}
	if _, err := dataset.ParseMissing(p.Missing.String()); err != nil {
		return BadProblem("what missing values become: %w", err)
	}
	if p.Threshold != 0 {
		if err := measure.CheckThreshold(p.Threshold); err != nil {
			return &ProblemError{err}
		}
	}
	if !(p.LargestWork >= 0) {
		return BadProblem("found the largest work %v, expected a positive number, or 0 for %g", p.LargestWork, float64(DefaultLargestWork))
	}
	if _, err := dataset.ParseNormalization(p.Normalization.String()); err != nil {
		return BadProblem("normalization: %w", err)
	}
	if err := p.Views.Check(); err != nil {
		return BadProblem("views: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Settings)) {
		if !storable(p.Settings[name]) {
			return BadProblem("setting %s: found %v (%T), expected a finite number, text or true or false", name, p.Settings[name], p.Settings[name])
		}
	}
	return nil
}

// storable reports whether a model file can hold the value of a setting.
func storable(value any) bool {
	switch v := reflect.ValueOf(value); {
	case v.CanFloat():
		return !notFinite(v.Float())
	default:
		return v.CanInt() || v.CanUint() || v.Kind() == reflect.Bool || v.Kind() == reflect.String
	}
}

// Relevant returns the convention of the measures of a settled problem, with the relevance
// threshold for the data.
func (p *Problem) Relevant() measure.Convention { return p.relevant }

// sets returns the training data and, if there are any, the validation data.
func (p *Problem) sets() []*dataset.Dataset {
	if p.Valid == nil {
		return []*dataset.Dataset{p.Data}
	}
	return []*dataset.Dataset{p.Data, p.Valid}
}

// fill replaces data with missing values by filled copies, unless missing values are kept.
func (p *Problem) fill() error {
	for _, d := range []**dataset.Dataset{&p.Data, &p.Valid} {
		switch {
		case *d == nil || (*d).Missing() == 0 || p.Missing == dataset.MissingKeep:
		case p.Missing != dataset.MissingZero && p.Missing != dataset.MissingMin:
			return BadProblem("found missing values in the data, expected to be told what they become")
		default:
			*d = (*d).Clone() // a clone of streamed data is streamed, too
			(*d).FillMissing(p.Missing)
		}
	}
	return nil
}

// MissingLearner is a Learner that may learn from data with missing values
// (dataset.MissingKeep), and says whether it does.
type MissingLearner interface {
	Learner

	// LearnsMissing reports whether values may be missing.
	LearnsMissing() bool
}

// checkKept returns an error if missing values are kept but the learner or the normalization
// cannot use them. Transforms that fill all of them make the check pass. Before there is a
// learner, only the normalization is checked.
func (p *Problem) checkKept() error {
	if p.Missing != dataset.MissingKeep || p.pipeline.Fills(p.Data.Features) {
		return nil
	}
	if p.Normalization != dataset.NoNormalization {
		return BadProblem("found missing values to be kept with the normalization %s, expected %s", p.Normalization, dataset.NoNormalization)
	}
	if p.Learner == nil {
		return nil
	}
	if l, ok := p.Learner.(MissingLearner); !ok || !l.LearnsMissing() {
		return BadProblem("found missing values to be kept, expected zero or min to stand for them: only trees learn from what is missing")
	}
	return nil
}

// arrange brings the features of all data into one order, by name: that of the model to
// continue, or of the training data. Data in another order are copied. Features with other names
// are a *ProblemError.
func (p *Problem) arrange() (err error) {
	if p.Initial != nil {
		if p.Data, err = withNames(p.Data, p.Initial.FeatureNames); err != nil {
			return BadProblem("model to continue: %w", err)
		}
	}
	if p.Valid == nil {
		return nil
	}
	if p.Valid, err = withNames(p.Valid, p.featureNames()); err != nil {
		return BadProblem("validation data, for a model of the training data's features: %w", err)
	}
	if p.Valid.Features > p.Data.Features {
		return BadProblem("found %d features in the validation data, expected at most the training data's %d", p.Valid.Features, p.Data.Features)
	}
	return nil
}

// withNames returns d with the features of the given names, d itself if it has them so.
func withNames(d *dataset.Dataset, names []string) (*dataset.Dataset, error) {
	columns, err := dataset.MatchNames(names, d.FeatureNames, d.IgnoreOthers)
	if err != nil || columns == nil {
		return d, err
	}
	return d.KeepFeatures(columns), nil
}

// featureNames returns the feature names of the data or, if they have none, of the initial model.
func (p *Problem) featureNames() []string {
	if p.Data.FeatureNames == nil && p.Initial != nil {
		return p.Initial.FeatureNames
	}
	return p.Data.FeatureNames
}

// Weighs says whether a training uses the weights of queries and of documents. Every training
// leaves out queries and documents of weight 0.
type Weighs struct{ Queries, Documents bool }

// Weigher is a Learner that says which weights it uses under a loss, nil for none. Other weights
// are a *WeightsRefused, as are all weights for a learner that is no Weigher.
type Weigher interface {
	Learner
	Weighs(l loss.Loss) Weighs
}

// WeightsRefused is the error of data whose weights a training does not use.
type WeightsRefused struct {
	Of      string // queries or documents
	Learner Learner
	Loss    loss.Loss // nil if there is none
}

// Error implements error.
func (e *WeightsRefused) Error() string {
	by := fmt.Sprintf("the learner %T", e.Learner)
	if w, ok := e.Learner.(Weigher); ok && e.Loss != nil && w.Weighs(e.Loss).Queries {
		by = fmt.Sprintf("the loss %T", e.Loss)
	}
	return fmt.Sprintf("found weights of %s, expected none: %s does not take them", e.Of, by)
}

// Weighs returns which weights the problem's learner takes under its loss.
func (p *Problem) Weighs() Weighs {
	if w, ok := p.Learner.(Weigher); ok {
		return w.Weighs(p.Loss)
	}
	return Weighs{}
}

// checkWeights returns an error unless all weights of the training data, if there are any, count.
func (p *Problem) checkWeights() error {
	if !p.Data.Weighted() {
		return nil
	}
	takes := p.Weighs()
	switch {
	case p.Data.QueryWeights() != nil && !takes.Queries:
		return &ProblemError{&WeightsRefused{"queries", p.Learner, p.Loss}}
	case p.Data.Weights() != nil && !takes.Documents:
		return &ProblemError{&WeightsRefused{"documents", p.Learner, p.Loss}}
	case !p.Weights.IsZero() && p.Data.Counting() != p.Data:
		return BadProblem("found weights of documents in pairs and queries or documents of weight 0, expected none of weight 0")
	}
	return nil
}

// weightsOf names the weights that data have, "" for none.
func weightsOf(d *dataset.Dataset) string {
	return weighted(d.QueryWeights() != nil, d.Weights() != nil)
}

// weighted names what has weights, "" if nothing does.
func weighted(queries, documents bool) string {
	switch {
	case queries && documents:
		return "queries and documents"
	case queries:
		return "queries"
	case documents:
		return "documents"
	}
	return ""
}

// underLoss returns the weights used by a learner that minimises an objective.Risk or Functional.
func underLoss(l loss.Loss) Weighs { return Weighs{Queries: true, Documents: loss.WeighsDocuments(l)} }

// Weighs implements Weigher.
func (LBFGS) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (Descent) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (Newton) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (Smoothing) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (Planes) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher. Weights do not change bins, nor what counts documents, such as
// LeafDocuments.
func (Trees) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (l Boosting) Weighs(loss.Loss) Weighs { return l.Takes }

// Weighs implements Weigher.
func (Classification) Weighs(loss.Loss) Weighs { return Weighs{true, true} }

// Weighs implements Weigher.
func (TreeClassification) Weighs(loss.Loss) Weighs { return Weighs{true, true} }

// indifferentShare is the part of the queries with different grades from which on Indifference
// has something to say.
const indifferentShare = 0.1

// Indifference returns a sentence if a training measure has the same value for every order of
// the documents in many queries of d; else it is empty. Such a measure cannot teach their order.
// A nil measure is indifferent to nothing.
func Indifference(m measure.Measure, d *dataset.Dataset) string {
	if m == nil {
		return ""
	}
	m = measure.ForTraining(measure.For(m, d))
	indifferent, graded := countIndifferent(m, d)
	if indifferent == 0 || float64(indifferent) < indifferentShare*float64(graded) {
		return ""
	}
	convention, hint := measure.ConventionOf(m), "another measure or threshold may tell them apart"
	standard := measure.Standard.WithThreshold(convention.Threshold())
	if fewer, _ := countIndifferent(measure.Under(m, standard), d); fewer < indifferent {
		hint = "the convention standard tells more of them apart"
	}
	return fmt.Sprintf("%s under the convention %s has the same value for every order of the documents in %d of the %d queries with different grades, so that it cannot teach their order; %s",
		m.Name(), convention.Name(), indifferent, graded, hint)
}

// countIndifferent returns for how many queries of different grades the measure has the same
// value for every order of the documents.
func countIndifferent(m measure.Measure, d *dataset.Dataset) (indifferent, graded int) {
	for i := range d.Queries {
		q := &d.Queries[i]
		if q.Weight() == 0 || q.Len() == 0 || slices.Min(q.Grades) == slices.Max(q.Grades) {
			continue
		}
		graded++
		if worst, best, ok := measure.Extremes(m, q.Grades); !ok || worst == best {
			indifferent++
		}
	}
	return indifferent, graded
}
