package synth

import (
	"fmt"
	"strconv"

	"github.com/listwise/listwise/dataset"
)

// Queries generates the queries of a data set one at a time. So the data set may be larger than memory.
type Queries struct {
	Number   int // number of queries
	Features int

	what  string // beginning of errors
	docs  func(id string) int
	query func(id string) (grades []float64, x []float32)
}

// ID returns the id of query i, which is i+1 in decimal digits.
func (q *Queries) ID(i int) string { return strconv.Itoa(i + 1) }

// Docs returns the number of documents of query i. It does not generate the documents.
func (q *Queries) Docs(i int) int { return q.docs(q.ID(i)) }

// DocID returns the identifier of document k of query i.
func (q *Queries) DocID(i, k int) string { return fmt.Sprintf("%d-%04d", i+1, k+1) }

// Query generates query i. It returns the grades of its documents and their features, row by row. Both are
// valid until the next call.
func (q *Queries) Query(i int) (grades []float64, x []float32) { return q.query(q.ID(i)) }

// dataset generates all queries.
func (q *Queries) dataset() (*dataset.Dataset, error) {
	var b dataset.Builder
	for i := range q.Number {
		grades, x := q.Query(i)
		docs := make([]string, len(grades))
		for k := range docs {
			docs[k] = q.DocID(i, k)
		}
		if err := b.Add(q.ID(i), grades, x, docs); err != nil {
			return nil, fmt.Errorf("%s: %w", q.what, err)
		}
	}
	return b.Dataset(), nil
}
