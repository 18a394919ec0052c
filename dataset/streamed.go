package dataset

import (
	"slices"
	"sync"

	"github.com/listwise/listwise/internal/parallel"
)

// A data set may be streamed: its features are never in memory as a whole. They stay in a mapped file, or are
// computed from another data set on request. X of the data set and of its queries is then nil; [RowReader] reads
// any data set query by query. Data sets derived from a streamed one (by Subset, Filter, KeepDocs, KeepFeatures,
// View, …) are streamed, too.

// Matrix contains the features of the queries of a mapped file. Queries are numbered from 0. Several
// goroutines may use it concurrently.
type Matrix interface {
	// Rows returns the feature vectors of a query as a view of the file. The caller must not change them. Rows
	// panics if the data are damaged or the mapping faults; [GuardFaults] turns the panic into an error.
	Rows(query int) []float32

	// Soon tells the system that the queries from, …, to−1 will be read soon.
	Soon(from, to int)

	// Done tells the system that a reader has read the queries from, …, to−1.
	Done(from, to int)
}

// Lens transforms the feature vectors of a query as they are read.
type Lens struct {
	Features int // number of columns of the result

	// Append appends the transform of a query's row-major matrix to dst. Several goroutines may call it.
	Append func(dst, x []float32) []float32
}

// origin is the source of the features of a query in a streamed data set: a matrix or, if matrix is nil,
// another query.
type origin struct {
	matrix Matrix
	place  int // index of the query in matrix

	base *Query
	lens *Lens // transform of base, or nil
	docs []int // documents of base to keep, ascending; nil for all, or with a lens
}

// Streamed reports whether the features are read on request. X is then nil.
func (d *Dataset) Streamed() bool { return d.streamed }

// FeatureBytes returns the number of bytes of memory that the features take. It is 0 if they are streamed or
// in a mapped file.
func (d *Dataset) FeatureBytes() int64 {
	if d.streamed || d.file != nil {
		return 0
	}
	return 4 * int64(d.Docs()) * int64(d.Features)
}

// Through returns a streamed data set of the same documents. A lens transforms their features, which have no
// names. d must not be changed or closed while the result is in use.
func (d *Dataset) Through(l Lens) *Dataset {
	c := &Dataset{
		Features: l.Features, AttributeNames: d.AttributeNames, IgnoreOthers: d.IgnoreOthers, AbsentMissing: d.AbsentMissing,
		Queries: slices.Clone(d.Queries), Warnings: d.Warnings,
		grades: d.grades, weights: d.weights, inputRow: d.inputRow, missing: d.missing, filled: d.filled, streamed: true, sources: []*Dataset{d},
	}
	origins := make([]origin, len(c.Queries))
	for i := range c.Queries {
		from := &origins[i]
		from.base, from.lens = &d.Queries[i], &l
		c.Queries[i].X, c.Queries[i].from = nil, from
	}
	return c
}

// RowReader reads the feature vectors of queries for one goroutine.
type RowReader struct {
	d       *Dataset
	order   []int // indices of the queries to read, nil for all
	n       int   // number of queries to read
	last    int   // index of the query read last
	ahead   int   // first query after last that was not announced
	window  int   // number of queries to announce at a time, 0 for none
	reads   span  // queries of a file read last
	reading Query
	buffers [][]float32 // one for each origin, other than a matrix, through which a query is read
}

// span is a range of consecutive queries of a file.
type span struct {
	of       Matrix // nil if the range is empty
	from, to int
}

func (s *span) soon() {
	if s.of != nil {
		s.of.Soon(s.from, s.to)
	}
}

func (s *span) done() {
	if s.of != nil {
		s.of.Done(s.from, s.to)
	}
}

// mostDone is the number of queries after which a reader calls Done.
const mostDone = 32

// Reader returns a reader of the data set's features.
func (d *Dataset) Reader() *RowReader {
	return &RowReader{d: d, n: len(d.Queries), last: -2, window: d.Window()}
}

// ReaderOf returns a reader of the given queries. The reader numbers them from 0 in the given order.
func (d *Dataset) ReaderOf(queries []int) *RowReader {
	return &RowReader{d: d, order: queries, n: len(queries), last: -2, window: d.Window()}
}

// Quiet makes the reader announce no queries, and returns the reader. It is used if other code announces the
// same queries.
func (r *RowReader) Quiet() *RowReader {
	r.window = 0
	return r
}

// readAhead is the approximate number of bytes that a reader announces at a time. It suffices to keep a disk
// busy.
const readAhead = 8 << 20

// Window returns the number of queries to announce at a time by [RowReader.Soon]. It is 0 unless the data set
// is streamed.
func (d *Dataset) Window() int {
	if !d.streamed {
		return 0
	}
	return int(readAhead*int64(len(d.Queries))/(1+4*int64(d.Docs())*int64(d.Features))) + 1
}

// query returns the reader's i-th query.
func (r *RowReader) query(i int) *Query {
	if r.order != nil {
		i = r.order[i]
	}
	return &r.d.Queries[i]
}

// At returns the row-major matrix of the feature vectors of query i. It is X of the query unless the data set
// is streamed. The caller must not change it, and the next call may overwrite it. For a streamed data set, At
// panics if reading fails; [GuardFaults] turns the panic into an error. If queries are read in order, At
// announces the next ones to the system.
func (r *RowReader) At(i int) []float32 {
	q := r.query(i)
	if q.from == nil {
		return q.X
	}
	if r.window > 0 {
		r.announce(i)
	}
	return r.read(q, 0)
}

// Query returns query i. Its X is the matrix that At returns.
func (r *RowReader) Query(i int) *Query {
	q := r.query(i)
	if q.from == nil {
		return q
	}
	r.reading = *q
	r.reading.X = r.At(i)
	return &r.reading
}

// near is the largest step between successive queries that counts as reading in order. Steps exceed 1 if
// several goroutines share the queries.
const near = 8

// announce announces query i. If queries are read in order, it also announces a window of the next ones, as soon
// as half of the last window has been read.
func (r *RowReader) announce(i int) {
	to := i + 1
	if step := i - r.last; 0 < step && step <= near {
		to = min(i+r.window, r.n)
	} else {
		r.ahead = i
	}
	r.last, r.ahead = i, max(r.ahead, i)
	if r.ahead < to && r.ahead-i <= r.window/2 {
		r.soon(to-r.ahead, func(k int) *Query { return r.query(r.ahead + k) })
		r.ahead = to
	}
}

// Soon announces that some queries will be read. It does nothing unless the data set is streamed.
func (r *RowReader) Soon(queries []int) {
	r.soon(len(queries), func(k int) *Query { return r.query(queries[k]) })
}

// soon announces n queries. Adjacent queries of a file are announced together.
func (r *RowReader) soon(n int, query func(k int) *Query) {
	var next span
	for k := range n {
		m, place := query(k).place()
		if m != next.of || place != next.to {
			next.soon()
			next = span{m, place, place}
		}
		next.to++
	}
	next.soon()
}

// place returns the matrix from which the query is read, or nil, and the index of the query in the matrix.
func (q *Query) place() (m Matrix, place int) {
	from := q.from
	for from != nil && from.matrix == nil {
		from = from.base.from
	}
	if from == nil {
		return nil, 0
	}
	return from.matrix, from.place
}

// read returns the features of a query: where they are stored, or in the buffer of the level.
func (r *RowReader) read(q *Query, level int) []float32 {
	from := q.from
	if from == nil {
		return q.X
	}
	if from.matrix != nil {
		if s := &r.reads; s.of != from.matrix || from.place < s.to || from.place > s.to+near || s.to-s.from > mostDone {
			s.done()
			*s = span{from.matrix, from.place, from.place}
		}
		r.reads.to = from.place + 1
		return from.matrix.Rows(from.place)
	}
	if level == len(r.buffers) {
		r.buffers = append(r.buffers, nil)
	}
	x := r.read(from.base, level+1)
	b := r.buffers[level][:0]
	switch {
	case from.lens != nil:
		b = from.lens.Append(b, x)
	case from.docs != nil:
		width := len(x) / from.base.Len()
		for _, doc := range from.docs {
			b = append(b, x[doc*width:(doc+1)*width]...)
		}
	default:
		return x
	}
	r.buffers[level] = b
	return b
}

// LongestQuery returns the largest number of documents of a query.
func (d *Dataset) LongestQuery() int {
	most := 0
	for i := range d.Queries {
		most = max(most, d.Queries[i].Len())
	}
	return most
}

// columnsLens returns a lens that selects columns. A column is 0 if its index is negative.
func columnsLens(columns []int, features int) Lens {
	return Lens{Features: len(columns), Append: func(dst, x []float32) []float32 {
		for row := range slices.Chunk(x, max(features, 1)) {
			for _, c := range columns {
				if c < 0 {
					dst = append(dst, 0)
				} else {
					dst = append(dst, row[c])
				}
			}
		}
		return dst
	}}
}

// inPlaceLens returns a lens that applies change to a copy of the features.
func inPlaceLens(features int, change func(x []float32)) Lens {
	return Lens{Features: features, Append: func(dst, x []float32) []float32 {
		from := len(dst)
		dst = append(dst, x...)
		change(dst[from:])
		return dst
	}}
}

// viewLens returns a lens that computes views.
func viewLens(v Views, features int) Lens {
	memories := sync.Pool{New: func() any { return new(ViewMemory) }}
	return Lens{Features: features * v.Count(), Append: func(dst, x []float32) []float32 {
		m := memories.Get().(*ViewMemory)
		defer memories.Put(m)
		return v.Append(dst, x, features, m)
	}}
}

// eachPart divides the queries into parts of consecutive queries and calls visit for each part, concurrently.
// visit gets the number of the worker and the worker's reader.
func (d *Dataset) eachPart(visit func(worker, from, to int, rows *RowReader)) {
	const parts = 64
	n := min(parts, len(d.Queries))
	workers := parallel.Workers(0, n)
	readers := make([]*RowReader, workers)
	parallel.For(n, workers, func(worker, i int) {
		if readers[worker] == nil {
			readers[worker] = d.Reader()
		}
		visit(worker, i*len(d.Queries)/n, (i+1)*len(d.Queries)/n, readers[worker])
	})
}
