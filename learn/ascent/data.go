package ascent

import (
	"fmt"

	"github.com/listwise/listwise/eval/measure"
)

// Data are judged queries, whose documents have a number in every column, and the measure to maximise.
// After the last Add several climbs may use a Data at the same time.
type Data struct {
	columns int
	measure measure.Measure
	queries []query // those whose value depends on the order
	settled float64 // Σ of the values of all others, by their weights
	counted float64 // Σ of the weights of queries that count
	tables  tables
}

type query struct {
	pattern
	grades []float64
	weight float64 // in the mean

	x      []float32 // row-major
	varies []bool    // whether a column has different values
}

// NewData returns a Data without queries, for the given number of columns.
func NewData(columns int, m measure.Measure) *Data { return &Data{columns: columns, measure: m} }

// Columns returns the number of columns.
func (d *Data) Columns() int { return d.columns }

// Queries returns the number of queries whose value depends on the order of their
// documents.
func (d *Data) Queries() int { return len(d.queries) }

// Add appends a query; x is row-major, a row for each grade. Both are kept and not copied:
// they must not change while the Data is used.
func (d *Data) Add(grades []float64, x []float32) { d.AddWeighted(grades, x, 1) }

// AddWeighted is Add of a query with a weight in the mean of the measure, finite and not
// negative; one of 0 does not count.
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

// Bytes returns the most memory that a query and a climb take, without the grades and rows.
func Bytes(grades []float64, exact bool) float64 {
	const (
		document = 4 + 2*8 + 2*4      // class, score, the one before a move, column, and place
		each     = 250 + 8*mostPoints // of a query: itself, its parts of what a climb holds, and its values along a line
		crossing = 5 * 16             // the list of changes and the one it is sorted into, and while a list grows the one before it
	)
	n := float64(len(grades))
	bytes := each + float64(document*n)
	if exact {
		bytes += float64(crossing / 2 * n * n)
	}
	return bytes
}

// column copies column j, one number a document.
func (q *query) column(dst []float32, j int) {
	columns := len(q.varies)
	for i := range dst {
		dst[i] = q.x[i*columns+j]
	}
}

// mean returns a total over all queries that count as their mean.
func (d *Data) mean(total float64) float64 {
	if d.counted == 0 {
		return 0
	}
	return total / d.counted
}
