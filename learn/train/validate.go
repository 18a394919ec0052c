package train

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Validation measures models under way on the validation data.
type Validation struct {
	Data    *dataset.Dataset // before normalization
	Measure measure.Averager

	ready         *dataset.Dataset // Data, transformed once and for all where there are transforms or views
	missing       dataset.Missing
	normalization dataset.Normalization
}

// Validation returns nil if the problem has no validation data. If choosing is set, a
// measure on which all models are equal is a *ProblemError.
func (t *Task) Validation(choosing bool) (*Validation, error) {
	if t.Valid == nil {
		return nil, nil
	}
	v := &Validation{Data: t.Valid, ready: t.Valid, missing: t.Missing, normalization: t.Normalization}
	if t.pipeline != nil || !t.Views.Raw() {
		v.ready, v.normalization = t.prepared(t.Valid), dataset.NoNormalization
	}
	var err error
	if t.Select == nil {
		v.Measure, err = measure.Parse("map", t.relevant, measure.Options{})
	} else {
		v.Measure, err = averager(t.Select)
	}
	if err != nil {
		return nil, err
	}
	if choosing {
		if err := measure.CheckVaries(v.Measure, v.Data); err != nil {
			return nil, BadProblem("validation data: %w", err)
		}
	}
	return v, nil
}

// averager returns the measure as one by which models can be chosen, tie-neutrally.
func averager(m measure.Measure) (measure.Averager, error) {
	a, ok := m.(measure.Averager)
	if !ok {
		return nil, BadProblem("validation data: found the measure %s, expected one that has an expected value under ties (measure.Averager)", m.Name())
	}
	return a, nil
}

// Value returns the measure of a scorer, tie-neutral as wherever a model is chosen.
func (v *Validation) Value(s scorer.Scorer, params []float64) (float64, error) {
	m := model.Model{Missing: v.missing, Normalization: v.normalization, Scorer: s, Params: params}
	scores, err := m.Score(v.ready)
	if err != nil {
		return 0, err
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	value, counted := ranker.Mean(v.Data, scores, v.Measure)
	if counted == 0 {
		return 0, BadProblem("found no validation query that counts for %s, expected at least one", v.Measure.Name())
	}
	return value, nil
}

// identity names what the values depend on beside the model, as words NAME=VALUE.
func (v *Validation) identity() string {
	c := measure.ConventionOf(v.Measure)
	return fmt.Sprintf("valid=%s select=%s/%s/%g", v.Data.Fingerprint(), v.Measure.Name(), c.Name(), c.Threshold())
}
