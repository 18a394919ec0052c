package bridge

import (
	"context"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/explain"
)

// explainRequest is a request for what scores are made of.
type explainRequest struct {
	Model       uint64
	Data        rows
	Background  *rows // null: Data
	Attribution string
	Sample      int
	Seed        uint64
}

// explain answers with arrays: contributions (documents × terms), bases, scores and remainders, a
// row each in the order of the documents.
func (j *job) explain(ctx context.Context, r explainRequest, arrays Arrays) (any, error) {
	m, err := held(r.Model)
	if err != nil {
		return nil, err
	}
	how, err := explain.ParseAttribution(r.Attribution)
	if err != nil {
		return nil, err
	}
	d, err := r.Data.dataset(arrays, dataset.MissingKeep)
	if err != nil {
		return nil, err
	}
	background := d
	if r.Background != nil {
		if background, err = r.Background.dataset(arrays, dataset.MissingKeep); err != nil {
			return nil, err
		}
	}
	e, err := explain.New(m, background, explain.Options{Attribution: how, Sample: r.Sample, Seed: r.Seed})
	if err != nil {
		return nil, err
	}
	if _, err := m.Score(d); err != nil {
		return nil, err // of features that are missing or too many
	}
	if len(d.FeatureNames) > 0 && fmt.Sprint(d.FeatureNames) != fmt.Sprint(background.FeatureNames) {
		return nil, fmt.Errorf("background: found features other than those of X, expected the same in the same order")
	}
	if d.Features != background.Features {
		return nil, fmt.Errorf("background: found %d features, expected %d as in X", background.Features, d.Features)
	}
	if err := j.explainAll(ctx, e, d); err != nil {
		return nil, err
	}
	var names []string
	for _, t := range e.Terms() {
		names = append(names, t.Name)
	}
	return map[string]any{"terms": names, "about": e.About(), "warnings": d.Warnings}, nil
}

// explainAll fills the arrays query by query.
func (j *job) explainAll(ctx context.Context, e *explain.Explainer, d *dataset.Dataset) error {
	terms := len(e.Terms())
	n := d.Docs()
	parts, base, scores, rest := make([]float64, n*terms), make([]float64, n), make([]float64, n), make([]float64, n)
	at := make([]float64, n) // the place of each row among the documents
	for i := range at {
		at[i] = float64(i)
	}
	rows := make([]float64, n)
	d.FromInputOrder(rows, at)
	for i := range d.Queries {
		if err := ctx.Err(); err != nil {
			return err
		}
		q := &d.Queries[i]
		x, err := e.Explain(q)
		if err != nil {
			return err
		}
		for k := range q.Len() {
			in := int(rows[q.Start+k])
			copy(parts[in*terms:], x.Row(k))
			base[in], scores[in], rest[in] = x.Base, x.Scores[k], x.Remainder[k]
		}
	}
	j.arrays = []any{parts, base, scores, rest}
	return nil
}
