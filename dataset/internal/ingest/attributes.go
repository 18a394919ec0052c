package ingest

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// runTexts are the attributes of a run's query by its first document, and that one's line.
type runTexts struct {
	values []string
	line   int
}

// Attributes notes what the next document, on that line, says are the attributes of its query, which
// Query was called for. All documents of a query must say the same.
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
	c.newNames += int64(16*len(values)) + 32
	return nil
}

// text returns the text of an attribute, of which there are few.
func (c *Collector) text(v []byte) string {
	if c.known == nil {
		c.known = make(map[string]string)
	}
	text, known := c.known[string(v)]
	if !known {
		text = string(v)
		c.known[text] = text
		c.newNames += memory.KnownBytes + int64(len(text))
	}
	return text
}

// unequalTexts is the error about a query of two values of an attribute.
func unequalTexts(query, name, value, first string) *dataset.SyntaxError {
	return &dataset.SyntaxError{Found: fmt.Sprintf("%q in column %s for query %q", value, name, query), Expected: fmt.Sprintf("%q, as in a row of it before: a column of the query's own", first)}
}

// attributes returns the attributes of the queries in the order in which they first appear, nil
// without any.
func (a *Assembly) attributes() ([][]string, error) {
	var all Attributes
	for c := range a.parts() {
		for k, t := range c.texts {
			if err := all.Query(a.Collectors[c.worker].names[c.runs[k].query], a.Opts.Table.Attributes, t.values, t.line); err != nil {
				return nil, Locate(err, a.Name, 0)
			}
		}
		c.texts = nil
	}
	return all.of, nil
}

// Attributes are those of queries as documents tell them, run by run: of each query, all
// runs must say the same.
type Attributes struct {
	known map[string]int // the queries' numbers
	of    [][]string     // the queries, in the order in which they first appeared
}

// Query notes the attributes of a query, as a row on the given line says, and keeps the values if it is
// the query's first. It is an error if one before said otherwise.
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

// add notes the attributes of a chunk, whose lines follow a number of others.
func (a *Attributes) add(col *Collector, names []string, before int) error {
	for k, t := range col.texts {
		if err := a.Query(col.names[col.runs[k].query], names, t.values, t.line+before); err != nil {
			return err
		}
	}
	return nil
}

// Set tells them of a shape.
func (a *Attributes) Set(shape *stream.Shape, names []string) {
	if a.of != nil {
		shape.AttributeNames, shape.Attributes = slices.Clone(names), a.of
	}
}
