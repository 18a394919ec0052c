package model

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/scorer"
)

// The scorer sees all features of the model, so documents that lack some are copied with zeros
// added. If a scorer accepts single documents, a copy has at most usualBytes. A copy of more than
// mostBytes is an error, since even a short model file can ask for any number of features.
const (
	usualBytes = 16 << 20
	mostBytes  = 1 << 30
)

// space is the memory with which one goroutine scores.
type space struct {
	before            []float32 // features before views are taken
	transformed, wide []float32
	filled, ordered   []float32 // features of a Binding, in the caller's and the model's order
	scores            []float64 // of a Binding
	views             dataset.ViewMemory
	scorer            scorer.Workspace
	sums              []float64
	missing           bool               // values may be missing
	columns           []int              // data column for each feature of the model; nil: the first columns
	rows              *dataset.RowReader // reader of the data set; nil if the caller passes the features
}

// oneByOne reports whether, after normalization, a document's score is independent of all other
// documents.
func (m *Model) oneByOne() bool {
	switch m.Scorer.(type) {
	case scorer.Linear, scorer.FM, scorer.Network, *scorer.Layers, scorer.Random, *scorer.Stumps, *scorer.Trees, *scorer.TreeClasses:
		return true
	}
	return false
}

// atOnce returns the number of documents that widen copies at a time, for a query of docs
// documents.
func (m *Model) atOnce(docs int) int {
	if !m.oneByOne() || !m.Views.Raw() {
		return docs
	}
	return min(docs, max(1, usualBytes/4/m.Scorer.NumFeatures()))
}

// checkWidth returns an error if adding the features that d lacks would need more than mostBytes.
func (m *Model) checkWidth(d *dataset.Dataset, columns []int) error {
	width := m.NumFeatures()
	if d.Features == width || columns != nil {
		return nil
	}
	longest := 0
	for i := range d.Queries {
		longest = max(longest, m.atOnce(d.Queries[i].Len()))
	}
	if bytes := 4 * float64(m.Scorer.NumFeatures()) * float64(longest); bytes > mostBytes {
		return fmt.Errorf("found %d features, expected the model's %d: to fill up a query of them would take %.0f GiB, and at most %d are taken",
			d.Features, width, bytes/(1<<30), mostBytes>>30)
	}
	return nil
}

// togetherDocs is the number of documents that trees score at once. Short queries are joined to
// reach it, because trees need less time per document for many documents.
const togetherDocs = 128

// runs groups successive queries that are scored at once. It returns the first query of each group,
// and len(queries).
func (m *Model) runs(queries []dataset.Query) []int {
	_, together := m.Scorer.(*scorer.Trees)
	begins, docs := []int{0}, 0
	for i := range queries {
		if docs += queries[i].Len(); !together || docs >= togetherDocs {
			begins, docs = append(begins, i+1), 0
		}
	}
	if begins[len(begins)-1] < len(queries) {
		begins = append(begins, len(queries))
	}
	return begins
}

// scoreQueries sets dst to the scores of all documents of the queries with from ≤ index < to.
func (m *Model) scoreQueries(dst []float64, from, to, features int, s *space) {
	if to == from+1 {
		m.scoreQuery(dst, s.rows.At(from), features, s)
		return
	}
	s.transformed = s.transformed[:0]
	width := features
	for i := from; i < to; i++ {
		width = m.transform(s.rows.At(i), features, s)
	}
	m.scoreRows(dst, s.transformed, width, s)
}

// scoreQuery sets dst to the scores of a query's documents. Each row of x is a document with the
// given number of features. scoreQuery does not change x.
func (m *Model) scoreQuery(dst []float64, x []float32, features int, s *space) {
	if m.Normalization != dataset.NoNormalization || m.Transforms != nil || m.Categories != nil || !m.Views.Raw() || s.missing || s.columns != nil {
		s.transformed = s.transformed[:0]
		features = m.transform(x, features, s)
		x = s.transformed
	}
	m.scoreRows(dst, x, features, s)
}

// transform appends the rows of a query to s.transformed, after the model's transforms, and returns
// their number of columns. If the model has no views, the columns may lack trailing features, which
// widen adds later.
func (m *Model) transform(x []float32, features int, s *space) int {
	if m.Views.Raw() {
		begin := len(s.transformed)
		s.transformed, features = appendColumns(s.transformed, x, features, s.columns)
		m.rescale(s.transformed[begin:], features, s)
		return features
	}
	s.before, features = appendColumns(s.before[:0], x, features, s.columns)
	s.before = lengthen(s.before, features, m.NumFeatures())
	m.rescale(s.before, m.NumFeatures(), s)
	s.transformed = m.Views.Append(s.transformed, s.before, m.NumFeatures(), &s.views)
	return m.Scorer.NumFeatures()
}

// rescale applies all transforms that precede the views to the features of a query, in place.
func (m *Model) rescale(x []float32, features int, s *space) {
	m.encodeRows(x, features)
	if s.missing {
		m.Missing.Apply(x, features)
	}
	m.Transforms.Apply(x, features)
	s.sums = m.Normalization.ApplyWith(s.sums, x, features)
}

// appendColumns appends the given columns of the rows of x to dst. nil selects all columns. Each
// row of x has the given number of features. appendColumns also returns the number of columns of
// the result.
func appendColumns(dst, x []float32, features int, columns []int) ([]float32, int) {
	if columns == nil {
		return append(dst, x...), features
	}
	for row := range slices.Chunk(x, features) {
		for _, c := range columns {
			dst = append(dst, row[c])
		}
	}
	return dst, len(columns)
}

// lengthen appends zeros to every row of x until it has width features. It reuses x if its capacity
// suffices.
func lengthen(x []float32, features, width int) []float32 {
	if features == width {
		return x
	}
	rows := len(x) / features
	x = slices.Grow(x, rows*(width-features))[:rows*width]
	for i := rows - 1; i >= 0; i-- {
		row := x[i*width : (i+1)*width]
		clear(row[copy(row, x[i*features:(i+1)*features]):])
	}
	return x
}

// scoreRows sets dst to the scores of the rows of x. It does not change x.
func (m *Model) scoreRows(dst []float64, x []float32, features int, s *space) {
	width := m.Scorer.NumFeatures()
	if features == width {
		m.Scorer.Score(dst, m.Params, x, &s.scorer)
		return
	}
	for rows := m.atOnce(len(dst)); len(dst) > 0; {
		n := min(rows, len(dst))
		m.widen(x[:n*features], n, features, s)
		m.Scorer.Score(dst[:n], m.Params, s.wide, &s.scorer)
		dst, x = dst[n:], x[n*features:]
	}
}

// widen copies rows to s.wide and appends the features that they lack, each with the transformed
// value of 0. With a normalization the value is 0 without transforms, since every normalization
// maps a constant feature to 0.
func (m *Model) widen(x []float32, rows, features int, s *space) {
	width := m.Scorer.NumFeatures()
	s.wide = slices.Grow(s.wide[:0], rows*width)[:rows*width]
	for i := range rows {
		row := s.wide[i*width : (i+1)*width]
		end := row[copy(row, x[i*features:(i+1)*features]):]
		if i > 0 {
			copy(end, s.wide[features:width])
			continue
		}
		clear(end)
		for j, c := range m.Categories[min(features, len(m.Categories)):] {
			if c != nil {
				end[j], _ = c.Code(0)
			}
		}
		if m.Normalization == dataset.NoNormalization {
			m.Transforms.ApplyFrom(row, features)
		}
	}
}
