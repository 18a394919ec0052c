package method

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/scorer"
)

// validation measures models under way on the validation data.
type validation struct {
	data          *dataset.Dataset
	measure       measure.Measure
	normalization dataset.Normalization
}

// newValidation returns nil if the problem has no validation data. The measure is that
// of selection or, for those who choose by it, of choosing.
func newValidation(m *Method, p *Problem, by func(*Method, *Problem) (measure.Measure, error)) (*validation, error) {
	if p.Valid == nil {
		return nil, nil
	}
	selecting, err := by(m, p)
	return &validation{p.Valid, selecting, p.Normalization}, err
}

// selection returns the measure by which epochs are chosen.
func selection(m *Method, p *Problem) (measure.Measure, error) {
	switch {
	case p.Select != nil:
		return p.Select, nil
	case m.UsesMeasure:
		return p.Measure, nil
	}
	return measure.Parse("map", p.relevant, measure.Options{})
}

// choosing is selection for those that choose by it: an error if it is the same
// whatever is chosen.
func choosing(m *Method, p *Problem) (measure.Measure, error) {
	by, err := selection(m, p)
	if err != nil {
		return nil, err
	}
	if err := measure.CheckVaries(by, p.Valid); err != nil {
		return nil, badProblem("validation data: %w", err)
	}
	return by, nil
}

// value returns the measure, tie-neutral as wherever a model is chosen.
func (v *validation) value(s scorer.Scorer, params []float64) (float64, error) {
	m := model.Model{Normalization: v.normalization, Scorer: s, Params: params}
	scores, err := m.Score(v.data)
	if err != nil {
		return 0, err
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	value, counted := ranker.Mean(v.data, scores, v.measure)
	if counted == 0 {
		return 0, badProblem("found no validation query that counts for %s, expected at least one", v.measure.Name())
	}
	return value, nil
}

// fingerprint names what the values depend on beside the model, as words
// NAME=VALUE.
func (v *validation) fingerprint() string {
	c := measure.ConventionOf(v.measure)
	return fmt.Sprintf("valid=%s select=%s/%s/%g", v.data.Fingerprint(), v.measure.Name(), c.Name(), c.Threshold())
}
