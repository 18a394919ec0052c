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

// Matrix is the features of the queries of a mapped file, by number of the query. Any number of goroutines may
// read it.
type Matrix interface {
	// Rows returns the feature vectors of a query, a view of the file, which must not be changed. It panics if
	// they are damaged or the mapping faults; [GuardFaults] makes an error of that.
	Rows(query int) []float32

	// Soon tells the system that the queries from one up to another will be read soon.
	Soon(from, to int)

	// Done tells it that a reader has read the queries from one up to another.
	Done(from, to int)
}

// Lens transforms the feature vectors of a query as they are read.
type Lens struct {
	Features int // columns of what it makes

	// Append appends the transform of a query's row-major matrix to dst. Several goroutines may call it.
	Append func(dst, x []float32) []float32
}

// origin is the source of the features of a query of a streamed data set: a matrix or, if that is nil, another
// query.
type origin struct {
	matrix Matrix
	place  int // of the query in it

	base *Query
	lens *Lens // through which base is seen, nil for none
	docs []int // those of base that are kept, ascending, nil for all; only without a lens
}

// Streamed reports whether the features are not in memory, so that X is nil.
func (d *Dataset) Streamed() bool { return d.streamed }

// FeatureBytes returns the bytes of memory that the features take: none if they are streamed
// or in a mapped file.
func (d *Dataset) FeatureBytes() int64 {
	if d.streamed || d.file != nil {
		return 0
	}
	return 4 * int64(d.Docs()) * int64(d.Features)
}

// Through returns a streamed data set of the same documents whose features are seen through a lens.
// Its features have no names. d must not be changed or closed while it is in use.
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
	order   []int // which query is the i-th, nil for all of them
	n       int   // number of them
	last    int   // query read last
	ahead   int   // the first query after it that was not announced
	window  int   // queries that are announced at a time, 0 for none
	reads   span  // what was read last of a file
	reading Query
	buffers [][]float32 // one for each origin that a query is read through but for a matrix
}

// span is the queries from one up to another of a file.
type span struct {
	of       Matrix // nil for none
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

// mostDone is the number of queries that are read before the system is notified.
const mostDone = 32

// Reader returns a reader of the data set's features.
func (d *Dataset) Reader() *RowReader {
	return &RowReader{d: d, n: len(d.Queries), last: -2, window: d.Window()}
}

// ReaderOf returns a reader of some queries, which are numbered from 0 in the order given.
func (d *Dataset) ReaderOf(queries []int) *RowReader {
	return &RowReader{d: d, order: queries, n: len(queries), last: -2, window: d.Window()}
}

// Quiet makes the reader announce nothing and returns it. It is for queries that others announce.
func (r *RowReader) Quiet() *RowReader {
	r.window = 0
	return r
}

// readAhead is about the number of bytes that a reader announces at a time: enough to keep a disk busy.
const readAhead = 8 << 20

// Window returns the number of queries to announce at a time, 0 unless the data set is streamed.
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

// At returns the row-major matrix of a query's feature vectors, its X unless the data set is streamed. It must
// not be changed, and may be overwritten by the next call. For a streamed data set it panics if reading fails;
// [GuardFaults] makes an error of that. Queries that are read in order are announced to the system before.
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

// Query returns query i with its X, which is like that of At.
func (r *RowReader) Query(i int) *Query {
	q := r.query(i)
	if q.from == nil {
		return q
	}
	r.reading = *q
	r.reading.X = r.At(i)
	return &r.reading
}

// near is the largest step between successive queries of a reader where several goroutines share queries in
// order.
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

// soon announces n queries, adjacent ones of a file together.
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

// place returns the matrix that a query is read from, nil for none, and its place there.
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

// read returns the features of a query, in the buffer of a level or in place.
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

// columnsLens selects columns; a negative one is 0.
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

// inPlaceLens applies change to a query in place.
func inPlaceLens(features int, change func(x []float32)) Lens {
	return Lens{Features: features, Append: func(dst, x []float32) []float32 {
		from := len(dst)
		dst = append(dst, x...)
		change(dst[from:])
		return dst
	}}
}

// viewLens takes views.
func viewLens(v Views, features int) Lens {
	memories := sync.Pool{New: func() any { return new(ViewMemory) }}
	return Lens{Features: features * v.Count(), Append: func(dst, x []float32) []float32 {
		m := memories.Get().(*ViewMemory)
		defer memories.Put(m)
		return v.Append(dst, x, features, m)
	}}
}

// eachPart calls visit for parts of consecutive queries in parallel, with the number of the worker
// and a reader.
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
