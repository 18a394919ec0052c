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

// newValidation returns nil if the problem has no validation data.
func newValidation(m *Method, p *Problem) (*validation, error) {
	if p.Valid == nil {
		return nil, nil
	}
	selecting, err := selection(m, p)
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
	return measure.Parse("map", measure.Convention{}, measure.Options{})
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
	return fmt.Sprintf("valid=%s select=%s/%s", v.data.Fingerprint(), v.measure.Name(), measure.ConventionOf(v.measure).Name())
}
