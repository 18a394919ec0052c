package train

import (
	"maps"
	"reflect"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// Settled returns the problem with everything put in place that depends on the data:
// features are in one order, by their names, values that are missing are filled in, and the measures have their relevance threshold
// and Measure, by [measure.ForTraining], no rule that is for evaluations alone. Run settles
// a problem itself; settling twice changes nothing.
func (p *Problem) Settled() (*Problem, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s, err := p.arranged()
	if err != nil {
		return nil, err
	}
	if s, err = s.filled(); err != nil {
		return nil, err
	}
	if !s.transforms() {
		if err := s.checkKept(); err != nil {
			return nil, err
		}
	}
	sets := []*dataset.Dataset{s.Data}
	if s.Valid != nil {
		sets = append(sets, s.Valid)
	}
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

// Relevant returns the convention of the problem's measures with the relevance
// threshold for the data, once it is settled.
func (p *Problem) Relevant() measure.Convention { return p.relevant }

// filled returns a copy of the problem with values that are missing filled in.
func (p *Problem) filled() (*Problem, error) {
	f := *p
	if p.Missing == dataset.MissingKeep {
		return &f, nil
	}
	if p.Data.Missing() == 0 && (p.Valid == nil || p.Valid.Missing() == 0) {
		return &f, nil
	}
	if p.Missing != dataset.MissingZero && p.Missing != dataset.MissingMin {
		return nil, BadProblem("found missing values in the data, expected to be told what they become")
	}
	for _, d := range []**dataset.Dataset{&f.Data, &f.Valid} {
		if *d != nil && (*d).Missing() > 0 { // a clone of streamed data is streamed, too
			*d = (*d).Clone()
			(*d).FillMissing(p.Missing)
		}
	}
	return &f, nil
}

// MissingLearner is a Learner that may learn from data with missing values
// (dataset.MissingKeep), and says whether it does.
type MissingLearner interface {
	Learner

	// LearnsMissing reports whether values may be missing.
	LearnsMissing() bool
}

// checkKept returns an error if missing values are to be kept, not all transforms make
// numbers of them, and the learner, once there is one, or the normalization has no use for
// them.
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
