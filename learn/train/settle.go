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

// Settled returns a copy of the problem in which everything that depends on the data is decided. Features are in one
// order, by their names, and missing values are filled in. Measures have the relevance threshold for the data.
// Measure has no rules that are for evaluation only (see [measure.ForTraining]). Run calls Settled. Settling a
// settled problem changes nothing.
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
		s.Select = s.Measure // which keeps the rules for evaluation
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

// check returns a *ProblemError if the problem has no training data, or settings that are invalid or that a model
// file cannot store.
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

// storable reports whether a model file can store value as a setting.
func storable(value any) bool {
	switch v := reflect.ValueOf(value); {
	case v.CanFloat():
		return !notFinite(v.Float())
	default:
		return v.CanInt() || v.CanUint() || v.Kind() == reflect.Bool || v.Kind() == reflect.String
	}
}

// Relevant returns the convention of the measures, with the relevance threshold for the data. The problem must be
// settled.
func (p *Problem) Relevant() measure.Convention { return p.relevant }

// sets returns the training data and, if there are any, the validation data.
func (p *Problem) sets() []*dataset.Dataset {
	if p.Valid == nil {
		return []*dataset.Dataset{p.Data}
	}
	return []*dataset.Dataset{p.Data, p.Valid}
}

// fill replaces data sets with missing values by filled copies, unless Missing is MissingKeep.
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

// MissingLearner is a Learner that may be able to learn from data with missing values (dataset.MissingKeep).
type MissingLearner interface {
	Learner

	// LearnsMissing reports whether the learner accepts missing values.
	LearnsMissing() bool
}

// checkKept returns a *ProblemError if missing values are kept but the learner or the normalization cannot use them.
// It returns nil if the transforms fill all missing values. If Learner is nil, it checks the normalization only.
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

// arrange brings the features of all data into one order, by name. The order is the initial model's or else the
// training data's. It copies data in another order. Unknown or missing names are a *ProblemError.
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

// withNames returns d with its features in the order of names, d itself if they are in this order.
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

// Weighs states which weights a training uses. Every training leaves out queries and documents of weight 0.
type Weighs struct {
	Queries   bool // it uses weights of queries
	Documents bool // it uses weights of documents
}

// Weigher is a Learner that states which weights it uses with a loss, which may be nil. Run returns a *WeightsRefused
// for other weights. A learner that is no Weigher uses no weights.
type Weigher interface {
	Learner

	// Weighs returns the weights that the learner uses with l. l is nil if the learner takes no loss.
	Weighs(l loss.Loss) Weighs
}

// WeightsRefused is the error for data with weights that the training does not use.
type WeightsRefused struct {
	Of      string    // "queries" or "documents"
	Learner Learner   // the learner that does not use the weights
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

// Weighs returns the weights that the problem's learner uses with its loss.
func (p *Problem) Weighs() Weighs {
	if w, ok := p.Learner.(Weigher); ok {
		return w.Weighs(p.Loss)
	}
	return Weighs{}
}

// checkWeights returns a *ProblemError if the training data have weights that the learner or loss does not use.
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

// weightsOf names the kinds of weights in d, "" for none.
func weightsOf(d *dataset.Dataset) string {
	return weighted(d.QueryWeights() != nil, d.Weights() != nil)
}

// weighted describes which of queries and documents have weights, "" for none.
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

// underLoss returns the weights that learners use if they minimise an objective.Risk or objective.Functional.
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

// Weighs implements Weigher. Weights do not affect bins, or settings that count documents, such as LeafDocuments.
func (Trees) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (l Boosting) Weighs(loss.Loss) Weighs { return l.Takes }

// Weighs implements Weigher.
func (Classification) Weighs(loss.Loss) Weighs { return Weighs{true, true} }

// Weighs implements Weigher.
func (TreeClassification) Weighs(loss.Loss) Weighs { return Weighs{true, true} }

// indifferentShare is the smallest share of queries for which Indifference returns a sentence.
const indifferentShare = 0.1

// Indifference returns a warning if a training measure cannot teach the order of documents in many queries of d,
// because it has the same value for every order. Otherwise it returns "". m may be nil.
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

// countIndifferent counts the queries that have different grades, and among them the queries for which the measure
// has the same value for every order of the documents.
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
