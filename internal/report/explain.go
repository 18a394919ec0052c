package report

import (
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/scorer"
)

// explainer takes the scores of a model apart. The contribution of a feature to a
// document's score is what the score loses if the feature has, in its place, its
// mean over the query's documents:
//
//	c_f(x) = s(x) − s(x with x_f = mean of f in the query)
//
// For a linear scorer that is w_f·(x_f − mean), and the contributions add up to how
// far the score is from that of the mean document. For others they are what each
// feature does alone. Features that are the same for all documents contribute
// nothing. An explainer is not safe for concurrent use.
type explainer struct {
	model   *model.Model
	columns []int // of the data; nil: the first ones
	places  []int // of the model's features among those of the page; nil: their numbers
	width   int
	space   scorer.Workspace

	x      []float32 // of the query, normalized
	mean   []float32
	varied []int // features that are not the same for all of the query's documents
	rows   []float32
	scores []float64
}

// newExplainer returns the explainer of a model, or nil if a document's score
// depends on the others of its query, or on nothing that was learned.
func newExplainer(m *model.Model, d *dataset.Dataset) *explainer {
	if m == nil || m.Scorer.Kind() == (scorer.Random{}).Kind() {
		return nil
	}
	columns, err := m.Columns(d)
	if err != nil {
		return nil
	}
	e := &explainer{model: m, columns: columns, width: m.Scorer.NumFeatures()}
	checked := 0
	for i := range d.Queries {
		if d.Queries[i].Len() < 2 {
			continue
		}
		e.query(&d.Queries[i])
		if !e.alone() {
			return nil
		}
		if checked++; checked == 3 {
			break
		}
	}
	return e
}

// query makes a query the one whose documents are explained.
func (e *explainer) query(q *dataset.Query) {
	e.x = e.model.Inputs(e.x[:0], q, e.columns)
	e.mean, e.varied = e.mean[:0], e.varied[:0]
	for f := range e.width {
		sum, differs := 0.0, false
		for i := range q.Len() {
			v := e.x[i*e.width+f]
			sum += float64(v)
			differs = differs || v != e.x[f]
		}
		e.mean = append(e.mean, float32(sum/float64(q.Len())))
		if differs {
			e.varied = append(e.varied, f)
		}
	}
}

// alone reports whether every document of the query has by itself the score that it
// has among the others.
func (e *explainer) alone() bool {
	n := len(e.x) / e.width
	together, single := make([]float64, n), make([]float64, 1)
	e.model.Scorer.Score(together, e.model.Params, e.x, &e.space)
	for i, want := range together {
		e.model.Scorer.Score(single, e.model.Params, e.x[i*e.width:(i+1)*e.width], &e.space)
		if math.Abs(single[0]-want) > 1e-9*(1+math.Abs(want)) {
			return false
		}
	}
	return true
}

// contribution is what a feature, from 0, does to a score.
type contribution struct {
	feature int
	value   float64
}

// document returns the contributions to the score of a document of the query, in
// the order of the features and only those of features that vary. The slice is
// the caller's.
func (e *explainer) document(doc int) []contribution {
	row := e.x[doc*e.width : (doc+1)*e.width]
	e.rows = append(e.rows[:0], row...)
	for _, f := range e.varied {
		e.rows = append(e.rows, row...)
		e.rows[len(e.rows)-e.width+f] = e.mean[f]
	}
	n := len(e.varied) + 1
	for len(e.scores) < n {
		e.scores = append(e.scores, 0)
	}
	e.model.Scorer.Score(e.scores[:n], e.model.Params, e.rows, &e.space)
	parts := make([]contribution, len(e.varied))
	for i, f := range e.varied {
		parts[i] = contribution{f, e.scores[0] - e.scores[i+1]}
	}
	return parts
}
