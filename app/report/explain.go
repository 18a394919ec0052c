package report

import (
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/explain"
)

// explainer takes the scores of a model apart. The contribution of a feature to a document's
// score is that of package explain less its mean over the query's documents, so that the
// contributions add up to how far the score is from the query's mean score: what a feature
// gives all documents alike ranks none of them. For a linear scorer that is
// w_f·(x_f − mean of f in the query). An explainer is not safe for concurrent use.
type explainer struct {
	model   *model.Model
	exact   *explain.Explainer
	columns []int // of the data that are the model's features; nil: the first ones
	places  []int // of the model's features among those of the page; nil: their numbers

	at    *dataset.Query
	parts *explain.Query // of its documents
	mean  []float64      // over its documents, a feature each
	score float64        // mean over its documents
}

// newExplainer returns the explainer of a model, or nil if its scores have no exact contributions
// of features: a document's score depends on the others of its query, or on nothing
// that was learned.
func newExplainer(m *model.Model, d *dataset.Dataset) *explainer {
	if m == nil {
		return nil
	}
	exact, err := explain.New(m, d, explain.Options{})
	if err != nil || !exact.ByFeature() {
		return nil
	}
	columns, err := m.Columns(d)
	if err != nil {
		return nil
	}
	return &explainer{model: m, exact: exact, columns: columns}
}

// query makes a query the one whose documents are explained.
func (e *explainer) query(q *dataset.Query) error {
	if e.at == q {
		return nil
	}
	parts, err := e.exact.Explain(q)
	if err != nil {
		return err
	}
	e.at, e.parts, e.mean, e.score = q, parts, slices.Repeat([]float64{0}, len(parts.Row(0))), 0
	n := float64(q.Len())
	for i, s := range parts.Scores {
		e.score += s / n
		for j, v := range parts.Row(i) {
			e.mean[j] += v / n
		}
	}
	return nil
}

// valueOf returns a feature of the model as the data have it; what they lack is 0.
func (e *explainer) valueOf(doc, feature int) float32 {
	column := feature
	if e.columns != nil {
		column = e.columns[feature]
	}
	if row := e.at.Row(doc); column < len(row) {
		return row[column]
	}
	return 0
}

// contribution is what a feature, from 0, does to a score.
type contribution struct {
	feature int
	value   float64
}

// document returns the contributions to the score of a document of the query that are not 0,
// in the order of the features. The slice is the caller's.
func (e *explainer) document(doc int) []contribution {
	var parts []contribution
	for j, v := range e.parts.Row(doc) {
		if v -= e.mean[j]; v != 0 {
			parts = append(parts, contribution{j, v})
		}
	}
	return parts
}
