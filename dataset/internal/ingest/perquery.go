package ingest

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/stream"
)

// queryWeights are the weights of queries, collected run by run. All runs of a query must have the same
// weight.
type queryWeights struct {
	known  map[string]int // index of each query id
	weight []float64      // weight of each query, in the order of first occurrence
}

// add adds the weight of a run. It returns an error if an earlier run of the query has another weight.
func (w *queryWeights) add(query string, r runWeight) *dataset.SyntaxError {
	if w.known == nil {
		w.known = make(map[string]int)
	}
	q, known := w.known[query]
	if !known {
		w.known[query] = len(w.weight)
		w.weight = append(w.weight, r.weight)
		return nil
	}
	if first := w.weight[q]; first != r.weight {
		err := unequalWeights(query, r.weight, first)
		err.Line = r.line
		return err
	}
	return nil
}

// unequalWeights returns the error for different weights of a query.
func unequalWeights(query string, w, first float64) *dataset.SyntaxError {
	return &dataset.SyntaxError{Found: fmt.Sprintf("the weight %v of query %q", w, query), Expected: fmt.Sprintf("%v, as in a row of it before", first)}
}

// noWeight returns the error for data in which all weights are 0.
func noWeight(name, of string) error {
	return &dataset.SyntaxError{File: name, Found: "weights of 0 of every " + of, Expected: "one at least that is not"}
}

// Weights collects the weights of queries and documents during a survey.
type Weights struct {
	queries   queryWeights
	documents bool // some weight of a document is not 1
	positive  bool // some weight of a document is not 0
}

// Query adds the weight of a query, read on the given line. It is an error if the query had another weight
// before.
func (w *Weights) Query(id string, weight float64, line int) *dataset.SyntaxError {
	return w.queries.add(id, runWeight{weight, line})
}

// Queries returns the number of queries with weights.
func (w *Weights) Queries() int { return len(w.queries.weight) }

// Documents adds the weights of documents.
func (w *Weights) Documents(weights []float64) {
	for _, v := range weights {
		w.documents, w.positive = w.documents || v != 1, w.positive || v > 0
	}
}

// add adds the weights of a chunk. before is the number of lines before the chunk.
func (w *Weights) add(col *Collector, before int) error {
	for k, r := range col.weights {
		if err := w.Query(col.names[col.runs[k].query], r.weight, r.line+before); err != nil {
			return err
		}
	}
	if col.Weighted {
		w.Documents(col.Weights[:col.row])
	}
	return nil
}

// Set sets the weights in a shape. It is an error if all weights are 0.
func (w *Weights) Set(shape *stream.Shape, name string) error {
	if all := w.queries.weight; slices.ContainsFunc(all, func(v float64) bool { return v != 1 }) {
		shape.QueryWeights = all
		if slices.Max(all) == 0 {
			return noWeight(name, "query")
		}
	}
	if w.documents && !w.positive {
		return noWeight(name, "document")
	}
	shape.DocWeights = w.documents
	return nil
}

// runTexts are the attributes of a run's query, read from the first document of the run, and the line of
// this document.
type runTexts struct {
	values []string
	line   int
}

// Attributes sets the attributes of the next document's query. It must be called after Query. line is the
// line of the document. It is an error if an attribute differs from that of the document before in the same
// query.
func (c *Collector) Attributes(names []string, values [][]byte, line int) error {
	if c.drop {
		return nil
	}
	if c.runs[len(c.runs)-1].docs > 1 {
		for k, first := range c.texts[len(c.texts)-1].values {
			if string(values[k]) != first {
				return unequalTexts(c.last, names[k], string(values[k]), first)
			}
		}
		return nil
	}
	t := runTexts{make([]string, len(values)), line}
	for k, v := range values {
		t.values[k] = c.text(v)
	}
	c.texts = append(c.texts, t)
	return nil
}

// text returns an attribute as a string. Equal attributes share one string, since few are different.
func (c *Collector) text(v []byte) string {
	if c.known == nil {
		c.known = make(map[string]string)
	}
	text, known := c.known[string(v)]
	if !known {
		text = string(v)
		c.known[text] = text
	}
	return text
}

// unequalTexts returns the error for different values of an attribute of a query.
func unequalTexts(query, name, value, first string) *dataset.SyntaxError {
	return &dataset.SyntaxError{Found: fmt.Sprintf("%q in column %s for query %q", value, name, query), Expected: fmt.Sprintf("%q, as in a row of it before: a column of the query's own", first)}
}

// Attributes collects the attributes of queries, run by run. All runs of a query must have the same
// attributes.
type Attributes struct {
	known map[string]int // index of each query id
	of    [][]string     // attributes of each query, in the order of first occurrence
}

// Query adds the attributes of a query, read on the given line. It retains values if the query is new. It
// is an error if the query had other values before.
func (a *Attributes) Query(id string, names, values []string, line int) *dataset.SyntaxError {
	if a.known == nil {
		a.known = make(map[string]int)
	}
	q, known := a.known[id]
	if !known {
		a.known[id] = len(a.of)
		a.of = append(a.of, values)
		return nil
	}
	for k, first := range a.of[q] {
		if values[k] != first {
			err := unequalTexts(id, names[k], values[k], first)
			err.Line = line
			return err
		}
	}
	return nil
}

// Queries returns the number of queries with attributes.
func (a *Attributes) Queries() int { return len(a.of) }

// add adds the attributes of a chunk. before is the number of lines before the chunk.
func (a *Attributes) add(col *Collector, names []string, before int) error {
	for k, t := range col.texts {
		if err := a.Query(col.names[col.runs[k].query], names, t.values, t.line+before); err != nil {
			return err
		}
	}
	return nil
}

// Set sets the attributes in a shape.
func (a *Attributes) Set(shape *stream.Shape, names []string) {
	if a.of != nil {
		shape.AttributeNames, shape.Attributes = slices.Clone(names), a.of
	}
}
