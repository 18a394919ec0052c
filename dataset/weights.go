package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Queries and documents may have weights. The weight of a query multiplies its share in sums over queries: the
// loss of a training, and the mean of a measure. The weight of a document multiplies its share in a loss that
// is a sum over documents. The weights of both documents multiply the share of a pair. Measures ignore the
// weights of documents. A weight of 2 has the effect of two equal queries or documents, and a weight of 0 that
// of none.

// CheckWeight returns an error unless a weight is finite and not negative.
func CheckWeight(w float64) error {
	if !(w >= 0) || math.IsInf(w, 1) {
		return fmt.Errorf("found the weight %v, expected a finite number that is not negative", w)
	}
	return nil
}

// Weigh sets the weights of all queries, in their order, and of all documents, in the order of the rows of X.
// It copies them. nil means weights of 1. Weigh returns an error if the number of weights is wrong, if a
// weight is negative or not finite, or if all weights of queries or of documents are 0.
func (d *Dataset) Weigh(queries, documents []float64) error {
	if err := checkWeights(queries, len(d.Queries), "queries"); err != nil {
		return err
	}
	if err := checkWeights(documents, d.Docs(), "documents"); err != nil {
		return err
	}
	d.weigh(slices.Clone(queries), slices.Clone(documents))
	d.Modified()
	return nil
}

func checkWeights(weights []float64, n int, of string) error {
	if weights == nil {
		return nil
	}
	if len(weights) != n {
		return fmt.Errorf("found %d weights of %s, expected %d", len(weights), of, n)
	}
	for i, w := range weights {
		if err := CheckWeight(w); err != nil {
			return fmt.Errorf("%s: number %d: %w", of, i+1, err)
		}
	}
	return positive(weights, of)
}

func positive(weights []float64, of string) error {
	if len(weights) > 0 && slices.Max(weights) == 0 {
		return fmt.Errorf("weights of %s: all are 0, expected one at least that is not", of)
	}
	return nil
}

// CheckQueryWeights returns an error if the weights of all queries are 0, as can happen in a part of a data
// set. There is then nothing to measure.
func (d *Dataset) CheckQueryWeights() error { return positive(d.QueryWeights(), "queries") }

// CheckWeights returns an error if the weights of all queries are 0. It also returns an error if, in all
// queries with a positive weight, the weights of all documents are 0. There is then nothing to learn.
func (d *Dataset) CheckWeights() error {
	if err := d.CheckQueryWeights(); err != nil || d.weights == nil {
		return err
	}
	for i := range d.Queries {
		if q := &d.Queries[i]; q.Weight() > 0 && slices.Max(q.weights) > 0 {
			return nil
		}
	}
	return errors.New("weights of documents: all of the queries that count are 0, expected one at least that is not")
}

// weigh sets the weights. It retains the slice documents.
func (d *Dataset) weigh(queries, documents []float64) {
	for i := range d.Queries {
		q := &d.Queries[i]
		if q.weighted = queries != nil; q.weighted {
			q.weight = queries[i]
		}
	}
	d.weights = documents
	d.cutWeights()
}

// cutWeights sets the document weights of each query to a view of the block. It sets them to nil if all
// weights in the data set are 1.
func (d *Dataset) cutWeights() {
	if !slices.ContainsFunc(d.weights, notOne) {
		d.weights = nil
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		q.weights = nil
		if end := q.Start + q.Len(); d.weights != nil {
			q.weights = d.weights[q.Start:end:end]
		}
	}
}

func notOne(w float64) bool { return w != 1 }

// Weights returns the weights of the documents, or nil if all documents of the data set have the weight 1. The
// caller must not change them.
func (d *Dataset) Weights() []float64 { return d.weights }

// QueryWeights returns the weights of the queries, in their order, or nil if all are 1.
func (d *Dataset) QueryWeights() []float64 {
	if !slices.ContainsFunc(d.Queries, func(q Query) bool { return q.Weight() != 1 }) {
		return nil
	}
	weights := make([]float64, len(d.Queries))
	for i := range d.Queries {
		weights[i] = d.Queries[i].Weight()
	}
	return weights
}

// RowWeights returns the product of the weights of each document and of its query, in the order of the rows of
// X, or nil if all are 1. It is the document's factor in a sum over all documents.
func (d *Dataset) RowWeights() []float64 {
	if !d.Weighted() {
		return nil
	}
	weights := make([]float64, d.Docs())
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			weights[q.Start+j] = q.Weight()
			if q.weights != nil {
				weights[q.Start+j] *= q.weights[j]
			}
		}
	}
	return weights
}

// Weighted reports whether any query or document has a weight other than 1.
func (d *Dataset) Weighted() bool {
	return d.weights != nil || slices.ContainsFunc(d.Queries, func(q Query) bool { return q.Weight() != 1 })
}

// Weight returns the weight of the query. It is finite and not negative. It is 1 if the data have no weights
// of queries.
func (q *Query) Weight() float64 {
	if !q.weighted {
		return 1
	}
	return q.weight
}

// Weights returns the weights of the documents, or nil if all documents of the data set have the weight 1. The
// caller must not change them.
func (q *Query) Weights() []float64 { return q.weights }

// Counting returns d without the queries and documents of weight 0. It returns d itself if there are none.
func (d *Dataset) Counting() *Dataset {
	if slices.Contains(d.weights, 0) || slices.ContainsFunc(d.Queries, func(q Query) bool { return q.Weight() == 0 }) {
		return d.KeepDocs(func(query, doc int) bool {
			q := &d.Queries[query]
			return q.Weight() > 0 && (q.weights == nil || q.weights[doc] > 0)
		})
	}
	return d
}

// TotalQueryWeight returns the sum of the queries' weights. Without weights it is the number of queries.
func (d *Dataset) TotalQueryWeight() float64 {
	var total float64
	for i := range d.Queries {
		total += d.Queries[i].Weight()
	}
	return total
}
