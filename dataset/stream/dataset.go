package stream

import "github.com/listwise/listwise/dataset"

// Of returns a source of the documents of a data set. If the data set is streamed, its features are read
// query by query. Missing values stay missing.
func Of(d *dataset.Dataset) Source { return &datasetSource{d, d.KeepsDocIDs()} }

type datasetSource struct {
	*dataset.Dataset
	docIDs bool
}

// Survey implements Source.
func (s *datasetSource) Survey(visit func(runs []Run) error) (Shape, error) {
	shape := Shape{
		Features:     s.Features,
		FeatureNames: s.FeatureNames,
		DocIDs:       s.docIDs,
		DocWeights:   s.Weights() != nil,
		QueryWeights: s.QueryWeights(),
		Reordered:    s.InputRows() != nil,
		Warnings:     s.Warnings,

		AttributeNames: s.AttributeNames,
	}
	for i := range s.Queries {
		q := &s.Queries[i]
		if s.AttributeNames != nil {
			shape.Attributes = append(shape.Attributes, q.Attributes)
		}
		n := 0
		for j := range q.Len() {
			n += len(q.DocID(j))
		}
		if err := visit([]Run{{ID: q.ID, Docs: q.Len(), Bytes: n}}); err != nil {
			return Shape{}, err
		}
	}
	return shape, nil
}

// Each implements Source.
func (s *datasetSource) Each(columns int, visit func(b *Batch) error) (err error) {
	defer dataset.GuardFaults(&err)()
	rows := s.Reader()
	b, most := new(Batch), BatchDocs(columns)
	pad := make([]float32, columns-s.Features)
	for i := range s.Queries {
		q := rows.Query(i)
		for from := 0; from < q.Len(); {
			to := min(q.Len(), from+most-len(b.Grades))
			from = s.add(b, q, from, to, pad)
			if len(b.Grades) < most && len(b.DocText) < mostText {
				continue
			}
			if err := visit(b); err != nil {
				return err
			}
			b.reset()
		}
	}
	if len(b.Grades) > 0 {
		if err := visit(b); err != nil {
			return err
		}
	}
	return s.Changed()
}

// mostText is the limit of the identifiers' bytes in a batch. Only the last document may exceed it.
const mostText = 1 << 18

// add appends the documents from ≤ j < to of a query to a batch. It stops early if their identifiers
// exceed mostText. It returns the end of the documents that were added.
func (s *datasetSource) add(b *Batch, q *dataset.Query, from, to int, pad []float32) (end int) {
	for j, n := from, len(b.DocText); s.docIDs && j < to; j++ {
		if n += len(q.DocID(j)); n >= mostText {
			to = j + 1
		}
	}
	b.Runs = append(b.Runs, Run{ID: q.ID, Docs: to - from})
	b.Grades = append(b.Grades, q.Grades[from:to]...)
	if w := q.Weights(); w != nil {
		b.Weights = append(b.Weights, w[from:to]...)
	}
	for j := from; j < to; j++ {
		b.X = append(b.X, q.Row(j)...)
		b.X = append(b.X, pad...)
		if s.docIDs {
			b.DocText = append(b.DocText, q.DocID(j)...)
			b.DocEnd = append(b.DocEnd, uint32(len(b.DocText)))
		}
	}
	if rows := s.InputRows(); rows != nil {
		b.InputRow = append(b.InputRow, rows[q.Start+from:q.Start+to]...)
	}
	return to
}

// reset empties the batch and keeps its memory.
func (b *Batch) reset() {
	b.Runs, b.Grades, b.X, b.Weights = b.Runs[:0], b.Grades[:0], b.X[:0], b.Weights[:0]
	b.DocText, b.DocEnd, b.InputRow = b.DocText[:0], b.DocEnd[:0], b.InputRow[:0]
}
