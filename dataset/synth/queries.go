package synth

import (
	"fmt"
	"strconv"

	"github.com/listwise/listwise/dataset"
)

// Queries are the queries of a data set before they are made, one at a time: a data set may be
// larger than memory.
type Queries struct {
	Number   int // of queries
	Features int

	what  string // begins errors
	docs  func(id string) int
	query func(id string) (grades []float64, x []float32)
}

// ID returns the id of query i: they count from 1.
func (q *Queries) ID(i int) string { return strconv.Itoa(i + 1) }

// Docs returns the number of documents of query i, which takes little time.
func (q *Queries) Docs(i int) int { return q.docs(q.ID(i)) }

// DocID returns the identifier of document k of query i.
func (q *Queries) DocID(i, k int) string { return fmt.Sprintf("%d-%04d", i+1, k+1) }

// Query makes query i: the grades of its documents and their features, row by row, valid until the
// next call.
func (q *Queries) Query(i int) (grades []float64, x []float32) { return q.query(q.ID(i)) }

// dataset makes all queries.
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
