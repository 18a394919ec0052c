package ascent

import (
	"fmt"

	"github.com/listwise/listwise/eval/measure"
)

// Data are judged queries, whose documents have a number in every column, and the
// measure to maximise. After the last Add several climbs may use a Data at the same time, but of one
// with a [Source] one after the other.
type Data struct {
	columns int
	source  Source // nil if the queries have their rows
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

	x      []float32 // row-major, nil if the data have a source
	varies []bool    // whether a column has different values, likewise
	from   int       // the first document in the source's columns
}

// Source gives the numbers of all documents column by column, such as from a file that is larger than memory.
type Source interface {
	// Of returns a column, valid until the next call.
	Of(column int) []float32
}

// NewData returns a Data without queries, for the given number of columns.
func NewData(columns int, m measure.Measure) *Data { return &Data{columns: columns, measure: m} }

// NewDataOf returns a Data without queries whose columns come from a source. A climb asks for each once when it looks
// for its weight, and for those of weights that are not 0 once a sweep. It has the result of one by rows, bit for bit.
func NewDataOf(columns int, m measure.Measure, s Source) *Data {
	return &Data{columns: columns, measure: m, source: s}
}

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
	if d.source != nil || len(x) != n*d.columns {
		panic(fmt.Sprintf("ascent: %d values for %d documents and %d columns", len(x), n, d.columns))
	}
	q := d.add(grades, weight)
	if q == nil {
		return
	}
	q.x, q.varies = x, make([]bool, d.columns)
	for i := d.columns; i < len(x); i += d.columns {
		for j, v := range x[i : i+d.columns] {
			if v != x[j] {
				q.varies[j] = true
			}
		}
	}
}

// AddOf is AddWeighted of a query whose documents are some successive ones of the source.
func (d *Data) AddOf(grades []float64, from int, weight float64) {
	if d.source == nil {
		panic("ascent: a query without numbers")
	}
	if q := d.add(grades, weight); q != nil {
		q.from = from
	}
}

// add adds a query without numbers, and returns nil if its value does not depend on the order.
func (d *Data) add(grades []float64, weight float64) *query {
	worst, best, ok := measure.Extremes(d.measure, grades)
	if !ok || weight == 0 {
		return nil
	}
	d.counted += weight
	if worst == best {
		d.settled += float64(weight * worst)
		return nil
	}
	d.queries = append(d.queries, query{pattern: newPattern(d.measure, grades, &d.tables), grades: grades, weight: weight})
	return &d.queries[len(d.queries)-1]
}

// Bytes returns how much memory the data and a climb take, about and at most, beside what was given: grades, rows and a
// source.
func (d *Data) Bytes(search Search) int64 {
	const (
		document = 4 + 2*8 + 4        // class, score, the one before a move, and place
		each     = 250 + 8*mostPoints // of a query: itself, its parts of what a climb holds, and its values along a line
		crossing = 5 * 16             // the list of changes and the one it is sorted into, and while a list grows the one before it
	)
	bytes := 8 * int64(d.tables.size)
	for i := range d.queries {
		bytes += each + document*int64(len(d.queries[i].grades))
		if search == Exact {
			bytes += crossing * d.queries[i].pairs()
		}
	}
	return bytes
}

// pairs returns the number of pairs of documents that the measure distinguishes.
func (p *pattern) pairs() int64 {
	docs := make([]int64, p.classes)
	for _, class := range p.class {
		docs[class]++
	}
	pairs := int64(len(p.class)) * int64(len(p.class))
	for _, n := range docs {
		pairs -= n * n
	}
	return pairs / 2
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
