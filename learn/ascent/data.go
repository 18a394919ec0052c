package ascent

import (
	"fmt"

	"github.com/listwise/listwise/eval/measure"
)

// Data contains the measure to maximise and judged queries. Every document has a number in every column. After the last
// call of Add, several climbs may use a Data at once.
type Data struct {
	columns int
	measure measure.Measure
	queries []query // queries whose value depends on the order of their documents
	settled float64 // Σ weight·value over the counted queries whose value does not depend on the order
	counted float64 // sum of the weights of all queries that count for the measure
	tables  tables
}

type query struct {
	pattern
	grades []float64
	weight float64 // weight in the mean of the measure

	x      []float32 // row-major
	varies []bool    // whether a column has different values
}

// NewData returns a Data without queries, for the given number of columns.
func NewData(columns int, m measure.Measure) *Data { return &Data{columns: columns, measure: m} }

// Columns returns the number of columns.
func (d *Data) Columns() int { return d.columns }

// Queries returns the number of queries whose value depends on the order of their documents.
func (d *Data) Queries() int { return len(d.queries) }

// Add appends a query. x is row-major, with a row for each grade. Data keeps both slices, which must not change while
// the Data is used.
func (d *Data) Add(grades []float64, x []float32) { d.AddWeighted(grades, x, 1) }

// AddWeighted appends a query with a weight in the mean of the measure. The weight must be finite and not negative. A
// query of weight 0 does not count.
func (d *Data) AddWeighted(grades []float64, x []float32, weight float64) {
	n := len(grades)
	if len(x) != n*d.columns {
		panic(fmt.Sprintf("ascent: %d values for %d documents and %d columns", len(x), n, d.columns))
	}
	worst, best, ok := measure.Extremes(d.measure, grades)
	if !ok || weight == 0 {
		return
	}
	d.counted += weight
	if worst == best {
		d.settled += float64(weight * worst)
		return
	}
	d.queries = append(d.queries, query{pattern: newPattern(d.measure, grades, &d.tables), grades: grades, weight: weight})
	q := &d.queries[len(d.queries)-1]
	q.x, q.varies = x, make([]bool, d.columns)
	for i := d.columns; i < len(x); i += d.columns {
		for j, v := range x[i : i+d.columns] {
			if v != x[j] {
				q.varies[j] = true
			}
		}
	}
}

// Bytes returns an upper bound on the number of bytes that a query takes in a Data and a climb, in addition to its
// grades and features. exact must be set for [Exact].
func Bytes(grades []float64, exact bool) float64 {
	const (
		document = 4 + 2*8 + 2*4      // class, score, score before a move, column value, and rank
		each     = 250 + 8*mostPoints // the query, its slices in a climb, and its values along a line
		crossing = 5 * 16             // the list of changes, its copy for sorting, and the old list while the list grows
	)
	n := float64(len(grades))
	bytes := each + float64(document*n)
	if exact {
		bytes += float64(crossing / 2 * n * n)
	}
	return bytes
}

// column copies column j to dst, which has an element for each document.
func (q *query) column(dst []float32, j int) {
	columns := len(q.varies)
	for i := range dst {
		dst[i] = q.x[i*columns+j]
	}
}

// mean divides a total over all queries by the sum of their weights.
func (d *Data) mean(total float64) float64 {
	if d.counted == 0 {
		return 0
	}
	return total / d.counted
}
