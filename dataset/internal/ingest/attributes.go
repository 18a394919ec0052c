package ingest

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/stream"
)

// runTexts are the attributes of a run's query, from its first document, and the line of that.
type runTexts struct {
	values []string
	line   int
}

// Attributes sets the attributes of the query of the next document, which is on the given line, after a call of
// Query. All documents of a query must have the same.
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

// text returns an attribute as a string. There are few different ones.
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

// unequalTexts is the error about different values of an attribute of a query.
func unequalTexts(query, name, value, first string) *dataset.SyntaxError {
	return &dataset.SyntaxError{Found: fmt.Sprintf("%q in column %s for query %q", value, name, query), Expected: fmt.Sprintf("%q, as in a row of it before: a column of the query's own", first)}
}

// Attributes are the attributes of queries, collected run by run. All runs of a query must have the same.
type Attributes struct {
	known map[string]int // the queries' numbers
	of    [][]string     // the queries, in the order in which they first appeared
}

// Query notes the attributes of a query in a row on the given line, and keeps the values if it is the query's
// first. Other values than before are an error.
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

// Queries returns the number of queries whose attributes were noted.
func (a *Attributes) Queries() int { return len(a.of) }

// add notes the attributes of a chunk that begins after the given number of lines.
func (a *Attributes) add(col *Collector, names []string, before int) error {
	for k, t := range col.texts {
		if err := a.Query(col.names[col.runs[k].query], names, t.values, t.line+before); err != nil {
			return err
		}
	}
	return nil
}

// Set adds them to a shape.
func (a *Attributes) Set(shape *stream.Shape, names []string) {
	if a.of != nil {
		shape.AttributeNames, shape.Attributes = slices.Clone(names), a.of
	}
}
