package dataset

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/internal/parallel"
)

// A data set may be streamed: its features stay in a file, or are made of another data set's as
// they are asked for, and are never in memory as a whole. X of it and of its queries is then nil;
// [RowReader] reads one query after the other, of any data set, into memory of the reader's own. What
// is made of a streamed data set (Subset, Filter, KeepDocs, KeepFeatures, View, …) is streamed, too.

// Matrix is the features of the queries of a file. Any number of goroutines may read it.
type Matrix interface {
	// Lend returns the feature vectors of a query, which is known by its number in the file, in memory
	// that stays as it is until the loan is returned, and must not be changed.
	// If reading fails it panics with a value that [GuardFaults] makes an error of, as it does of a
	// fault of a mapped file.
	Lend(query int) ([]float32, Loan)

	// Window is the number of queries that it is worth announcing before they are read, and of those parts of them
	// that are not neighbours.
	Window() (queries, alone int)

	// Soon announces that the queries of some parts will be read, each once, and in this order.
	Soon(parts []Part)

	// Check returns an error if what was read is not what was written.
	Check() error
}

// Part is the queries From ≤ q < To of a file.
type Part struct{ From, To int }

// Loan is memory that a matrix lends.
type Loan interface {
	Return() // once; what is not returned is the garbage collector's
}

// Lens is what is done to the feature vectors of a query as they are read.
type Lens struct {
	Features int // columns of what it makes

	// Append appends what becomes of a query's row-major matrix to dst. Several goroutines may
	// call it.
	Append func(dst, x []float32) []float32
}

// origin is where the features of a query of a streamed data set come from: a matrix or, if that
// is nil, another query.
type origin struct {
	matrix Matrix
	place  int // of the query in the matrix
	values int // number of them

	base *Query
	lens *Lens // through which base is seen, nil for none
	docs []int // those of base that are kept, ascending, nil for all; only without a lens

	noted noted
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
	wanted := new(atomic.Bool)
	for i := range c.Queries {
		from := &origins[i]
		from.base, from.lens, from.noted.wanted = &d.Queries[i], &l, wanted
		c.Queries[i].X, c.Queries[i].from = nil, from
	}
	return c
}

// RowReader reads the feature vectors of queries for one goroutine.
type RowReader struct {
	d       *Dataset
	order   []int  // which query is the i-th, nil for all of them
	n       int    // number of them
	last    int    // query read last
	ahead   int    // queries after it that were announced
	full    int    // how many were, when some were announced last
	window  int    // how many may be, −1 if that is not known yet
	alone   int    // how many of them are not neighbours, at most
	matrix  Matrix // that parts are of
	parts   []Part // to announce
	reading Query
	loan    Loan        // of the query read last, nil for none
	buffers [][]float32 // one for each origin that a query is read through but for a matrix
}

// Reader returns a reader of the data set's features.
func (d *Dataset) Reader() *RowReader {
	return &RowReader{d: d, n: len(d.Queries), last: -2, window: -1}
}

// ReaderOf returns a reader of some queries, which are numbered from 0 in the order given.
func (d *Dataset) ReaderOf(queries []int) *RowReader {
	return &RowReader{d: d, order: queries, n: len(queries), last: -2, window: -1}
}

// Quiet makes the reader announce nothing, for one whose queries are announced by others or come in no
// order, and returns it.
func (r *RowReader) Quiet() *RowReader {
	r.window = 0
	return r
}

// number returns which query of the data set is the reader's i-th.
func (r *RowReader) number(i int) int {
	if r.order == nil {
		return i
	}
	return r.order[i]
}

// At returns the row-major matrix of a query's feature vectors, its X unless the data set is
// streamed. It must not be changed, and may be overwritten by the next call. Of a streamed data set it
// panics if reading fails, with a value that [GuardFaults] makes an error of. Queries that are read
// in order are announced to the system before.
func (r *RowReader) At(i int) []float32 {
	q := &r.d.Queries[r.number(i)]
	if q.from == nil {
		return q.X
	}
	if step := i - r.last; 0 < step && step <= near {
		r.announce(i, step)
	} else {
		r.ahead = 0
	}
	r.last = i
	return r.read(q, 0)
}

// Query returns query i with its X, which is like that of At.
func (r *RowReader) Query(i int) *Query {
	q := &r.d.Queries[r.number(i)]
	if q.from == nil {
		return q
	}
	r.reading = *q
	r.reading.X = r.At(i)
	return &r.reading
}

// near is how far the next query is where several goroutines share queries that are read in order.
const near = 8

// announce announces the queries after the i-th, which are read in order, step queries after the
// last one: when half of what was announced has been read, so that they are read together.
func (r *RowReader) announce(i, step int) {
	r.ahead = max(0, r.ahead-step)
	if r.window < 0 {
		r.window, r.alone = r.d.Window()
	}
	window := r.window
	if r.ahead > r.full/2 {
		return
	}
	next, to := i+1+r.ahead, min(i+1+window, r.n)
	most := max(1, window/8)
	for ; next < to && len(r.parts) < r.alone; next++ {
		r.add(next, most)
	}
	r.announced()
	r.ahead = max(r.ahead, next-i-1)
	r.full = r.ahead
}

// add adds a query to those that are announced next, to the part before it if it comes after that in a file and
// there are not as many queries in that as may be announced together.
func (r *RowReader) add(i, most int) {
	m, place := r.d.Queries[r.number(i)].place()
	if m != r.matrix {
		r.announced()
		r.matrix = m
	}
	if m == nil {
		return
	}
	if last := len(r.parts) - 1; last >= 0 && place == r.parts[last].To && place-r.parts[last].From < most {
		r.parts[last].To++
		return
	}
	r.parts = append(r.parts, Part{place, place + 1})
}

// announced announces what was added.
func (r *RowReader) announced() {
	if len(r.parts) > 0 {
		r.matrix.Soon(r.parts)
		r.parts = r.parts[:0]
	}
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

// Window is the number of queries that are worth announcing before they are read, and of those that are not
// neighbours in a file; 0 unless the data set is streamed from one.
func (d *Dataset) Window() (queries, alone int) {
	if !d.streamed || len(d.Queries) == 0 {
		return 0, 0
	}
	m, _ := d.Queries[0].place()
	if m == nil {
		return 0, 0
	}
	return m.Window()
}

// Soon announces that some queries will be read. It is advice, and does nothing unless the data set is streamed.
func (r *RowReader) Soon(queries []int) {
	for _, i := range queries {
		r.add(i, 1)
	}
	r.announced()
}

// read returns the features of a query, in the buffer of a level or in place.
func (r *RowReader) read(q *Query, level int) []float32 {
	from := q.from
	if from == nil {
		return q.X
	}
	if from.matrix != nil {
		x := r.borrow(from)
		from.noted.note(q, x)
		return x
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
	from.noted.note(q, b)
	return b
}

// borrow returns the features of a query of a matrix, where they were read to.
func (r *RowReader) borrow(from *origin) (x []float32) {
	if r.loan != nil {
		r.loan.Return()
		r.loan = nil // Lend may panic
	}
	x, r.loan = from.matrix.Lend(from.place)
	return x
}

// LongestQuery returns the largest number of documents of a query.
func (d *Dataset) LongestQuery() int {
	most := 0
	for i := range d.Queries {
		most = max(most, d.Queries[i].Len())
	}
	return most
}

// columnsLens picks columns, 0 where one is negative.
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

// inPlaceLens does what change does to a query in place.
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
