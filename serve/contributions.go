package serve

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/explain"
	"github.com/listwise/listwise/serve/rankjson"
)

// The limits of a request for contributions, in documents and in feature values. Contributions take
// far more time and memory than scores.
const (
	mostExplainedDocs = 1000
	mostExplained     = 200_000
)

// ordered returns data with the features of a model, in the model's order. It matches features by
// name. It is an error if data lack a feature: with zeros instead, the background would consist of
// other documents.
func ordered(m *model.Model, d *dataset.Dataset) (*dataset.Dataset, error) {
	columns, err := m.Columns(d)
	if err != nil {
		return nil, err
	}
	if n := m.NumFeatures(); columns == nil && d.Features != n {
		return nil, fmt.Errorf("found %d features, expected the model's %d (in text without the last one, add %d:0 to a line)", d.Features, n, n)
	}
	b := dataset.Blocks{Features: m.NumFeatures(), FeatureNames: m.FeatureNames, Grades: slices.Clone(d.Grades())}
	for i := range d.Queries {
		q := &d.Queries[i]
		b.IDs, b.Counts = append(b.IDs, q.ID), append(b.Counts, q.Len())
		for doc := range q.Len() {
			row := q.Row(doc)
			if columns == nil {
				b.X = append(b.X, row...)
				continue
			}
			for _, c := range columns {
				b.X = append(b.X, row[c])
			}
		}
	}
	b.Missing = missing(b.X)
	return dataset.FromBlocks(b), nil
}

func missing(x []float32) (n int) {
	for _, v := range x {
		if v != v {
			n++
		}
	}
	return n
}

// asData returns the documents of a query of the request as a data set.
func (j *job) asData(m *Loaded, q rankjson.Query) *dataset.Dataset {
	width := m.schema.Features
	x := slices.Clone(j.request.X[q.First*width : (q.First+q.Docs)*width])
	return dataset.FromBlocks(dataset.Blocks{Features: width, FeatureNames: m.schema.Names, X: x, Grades: make([]float64, q.Docs), IDs: []string{"query"}, Counts: []int{q.Docs}, Missing: missing(x)})
}

// explain explains the scores of a query. The background is the model's, or the query's documents
// if the model has none.
func (m *Loaded) explain(d *dataset.Dataset) (*explain.Query, *explain.Explainer, error) {
	e, err := m.explainer, error(nil)
	if e == nil {
		e, err = explain.New(m.Model, d, explain.Options{})
	}
	if err != nil {
		return nil, nil, err
	}
	x, err := e.Explain(&d.Queries[0])
	return x, e, err
}

// appendExplained appends the answer to a request for contributions.
func (j *job) appendExplained(dst []byte, m *Loaded) ([]byte, error) {
	req := &j.request
	if n := req.Docs(); n > mostExplainedDocs || n*m.schema.Features > mostExplained {
		return nil, problemf(http.StatusRequestEntityTooLarge, "found %d documents of %d features, expected at most %d documents and %d values in a request for contributions", n, m.schema.Features, mostExplainedDocs, mostExplained)
	}
	dst = rankjson.AppendString(append(dst, `{"model":`...), m.Name)
	dst = rankjson.AppendString(append(dst, `,"version":`...), m.Version)
	if req.Several {
		dst = append(dst, `,"rankings":[`...)
	}
	for i, q := range req.Queries {
		switch {
		case !req.Several:
			dst = append(dst, ',')
		case i > 0:
			dst = append(dst, `,{`...)
		default:
			dst = append(dst, '{')
		}
		x, e, err := m.explain(j.asData(m, q))
		if refused, ok := errors.AsType[*explain.RefusedError](err); ok {
			return nil, problemf(http.StatusUnprocessableEntity, "%v", refused)
		}
		if err != nil {
			return nil, problemf(http.StatusUnprocessableEntity, "%v", err)
		}
		dst = j.appendParts(dst, m, i, x, e)
		if req.Several {
			dst = append(dst, '}')
		}
	}
	if req.Several {
		dst = append(dst, ']')
	}
	return append(dst, '}', '\n'), nil
}

// appendParts appends the JSON members of a query, with the contributions to its scores.
func (j *job) appendParts(dst []byte, m *Loaded, query int, x *explain.Query, e *explain.Explainer) []byte {
	q := j.request.Queries[query]
	dst = j.answer.AppendQuery(dst, query, &j.request)
	dst = rankjson.AppendString(append(dst, `"about":`...), e.About())
	background := "request"
	if m.explainer != nil {
		background = "data"
	}
	dst = rankjson.AppendString(append(dst, `,"background":`...), background)
	dst = append(dst, `,"ranking":[`...)
	terms := e.Terms()
	for rank, doc := range j.answer.Rankings[query] {
		if rank > 0 {
			dst = append(dst, ',')
		}
		dst = rankjson.AppendID(append(dst, `{"id":`...), j.request.IDs[q.First+doc.Doc], doc.Doc)
		dst = rankjson.AppendNumber(append(dst, `,"rank":`...), float64(rank+1))
		dst = rankjson.AppendNumber(append(dst, `,"score":`...), doc.Score)
		dst = rankjson.AppendNumber(append(dst, `,"base":`...), x.Base)
		dst = j.appendTerms(append(dst, `,"contributions":[`...), m, q.First+doc.Doc, x.Row(doc.Doc), terms)
		dst = rankjson.AppendNumber(append(dst, `,"remainder":`...), x.Remainder[doc.Doc])
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendTerms appends the contributions to a document's score, the largest magnitude first, and the
// sum of the contributions that are not shown.
func (j *job) appendTerms(dst []byte, m *Loaded, doc int, row []float64, terms []explain.Term) []byte {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(row[b]), math.Abs(row[a])) })
	shown := len(order)
	if j.request.Contributions != rankjson.All {
		shown = min(shown, j.request.Contributions)
	}
	for i, k := range order[:shown] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rankjson.AppendString(append(dst, `{"feature":`...), terms[k].Name)
		if c := terms[k].Column; c >= 0 {
			dst = append(dst, `,"value":`...)
			if v := j.request.X[doc*m.schema.Features+c]; v == v {
				dst = strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
			} else {
				dst = append(dst, "null"...)
			}
		}
		dst = append(rankjson.AppendNumber(append(dst, `,"contribution":`...), row[k]), '}')
	}
	dst = append(dst, ']')
	if j.request.Contributions != rankjson.All {
		others := 0.0
		for _, k := range order[shown:] {
			others += row[k]
		}
		dst = rankjson.AppendNumber(append(dst, `,"others":`...), others)
	}
	return dst
}
