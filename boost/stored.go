package boost

import (
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// stored has the columns of a streamed data set in a temporary file, one after the other: first the values, 4
// bytes a document, whose place the documents by increasing value take. After them come the words of groups
// of columns, if they are not in memory.
type stored struct {
	file     *block.Temporary
	docs     int
	features int
	rows     *dataset.RowReader
}

// storedPart is the number of words that are read at a time.
var storedPart = 1 << 16

// layout says which documents of a data set columns have: some of the rows of successive queries.
type layout struct {
	numbers []int // of the queries
	starts  []int // where the documents of each begin, and the end
	rows    []int // of the data set, one a document
}

// storedBytes returns the size of the file.
func storedBytes(docs, features int, words bool) int64 {
	bytes := 4 * int64(docs) * int64(features)
	if words {
		bytes += 8 * int64(docs) * int64(groupsOf(features))
	}
	return bytes
}

// newStored reads the data once, in parts whose values take at most so many bytes of memory or those of
// the longest query.
func newStored(d *dataset.Dataset, l layout, words bool, part int, o Options) (s *stored, err error) {
	docs := l.starts[len(l.numbers)]
	size := storedBytes(docs, d.Features, words)
	if o.Note != nil {
		o.Note(fmt.Sprintf("the features are put in a temporary file of %.3g GB in %s, column by column", float64(size)/1e9, os.TempDir()))
	}
	file, err := block.NewTemporary("", size)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // the error is told
		}
	}()
	defer block.Guard(&err)()
	s = &stored{file: file, docs: docs, features: d.Features, rows: d.Reader().Quiet()}
	readers := make([]*dataset.RowReader, parallel.Workers(o.Workers, len(l.numbers)))
	for w := range readers {
		readers[w] = d.ReaderOf(l.numbers)
	}
	var buffer []float32
	for from := 0; from < len(l.numbers); {
		to := from + 1
		for to < len(l.numbers) && 4*(l.starts[to+1]-l.starts[from])*d.Features <= part {
			to++
		}
		n := l.starts[to] - l.starts[from]
		buffer = slices.Grow(buffer[:0], n*d.Features)[:n*d.Features]
		parallel.For(to-from, o.Workers, func(worker, i int) {
			l.transpose(buffer, n, from, from+i, readers[worker].At(from+i), &d.Queries[l.numbers[from+i]], d.Features)
		})
		parallel.For(d.Features, o.Workers, func(_, f int) {
			block.WriteTemporary(file, buffer[f*n:(f+1)*n], s.column(f)+4*int64(l.starts[from]))
		})
		from = to
	}
	return s, nil
}

// transpose puts the values of a query into columns of n documents, the first those of query from.
func (l *layout) transpose(columns []float32, n, from, i int, x []float32, q *dataset.Query, features int) {
	for doc := l.starts[i]; doc < l.starts[i+1]; doc++ {
		row, at := l.rows[doc]-q.Start, doc-l.starts[from]
		for f, v := range x[row*features : (row+1)*features] {
			columns[f*n+at] = v
		}
	}
}

// column returns where a column begins.
func (s *stored) column(f int) int64 { return 4 * int64(s.docs) * int64(f) }

// words returns where the words of a group begin.
func (s *stored) words(group int) int64 {
	return s.column(s.features) + 8*int64(s.docs)*int64(group)
}

// value reads one value from the data.
func (s *stored) value(d *dataset.Dataset, row, f int) float32 {
	i, found := slices.BinarySearchFunc(d.Queries, row, func(q dataset.Query, row int) int { return q.Start - row })
	if !found {
		i--
	}
	return s.rows.At(i)[(row-d.Queries[i].Start)*d.Features+f]
}

// plan is how a search of streamed data uses memory.
type plan struct {
	words   bool // are in the file
	workers int  // that sort columns
	orders  int  // that are kept
	part    int  // bytes of values that are read before they are written
}

// planStored returns the plan for the memory there is, or an error that says what would be needed.
func planStored(a *arrangement, features int, o Options) (plan, error) {
	const most = 64 << 20
	n := float64(len(a.rows))
	p := plan{workers: parallel.Workers(o.Workers, groupsOf(features)), orders: keptOrders, part: most}
	if o.Memory <= 0 {
		return p, nil
	}
	// By document: row, score, potential, that of the search, its addends, and the side of the threshold.
	held := float64(float64(5*8+1)*n) + float64(200*float64(len(a.queries)))
	if a.weights != nil {
		held += float64(16 * n)
	}
	const order, sort, word = 4, 16, 8
	left := float64(o.Memory) - held
	longest := 4 * float64(a.longest) * float64(features)
	inMemory := float64(word * n * float64(groupsOf(features)))
	if p.words = left < inMemory+max(longest, float64((order+sort)*n)); !p.words {
		left -= inMemory
	}
	each := float64((order + sort) * n)
	if p.words {
		each += float64(word * n)
	}
	if need := max(each, longest); left < need {
		return p, fmt.Errorf("found %d documents × %d features that are read from a file, of which boosting holds %.3g GB, expected at most %.3g GB of memory; raise the limit or use a sample",
			len(a.rows), features, (held+need)/1e9, float64(o.Memory)/1e9)
	}
	p.workers = max(1, min(p.workers, int(left/each)))
	p.orders = max(1, min(keptOrders, int(left/(order*n))))
	p.part = int(min(most, left))
	return p, nil
}

// newStreamedSearch is newLargeSearch for streamed data.
func newStreamedSearch(d *dataset.Dataset, a *arrangement, o Options, potential []float64) (s *largeSearch, err error) {
	if len(a.rows) >= first {
		return nil, fmt.Errorf("found %d documents that are read from a file, expected fewer than %d", len(a.rows), first)
	}
	p, err := planStored(a, d.Features, o)
	if err != nil {
		return nil, err
	}
	l := layout{rows: a.rows}
	for i := range a.queries {
		l.numbers, l.starts = append(l.numbers, a.queries[i].number), append(l.starts, a.queries[i].from())
	}
	l.starts = append(l.starts, len(a.rows))
	file, err := newStored(d, l, p.words, p.part, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.file.Close() // the error is told
		}
	}()
	defer block.Guard(&err)()
	s = &largeSearch{
		data: d, rows: a.rows, up: o.Up, workers: o.Workers, stored: file,
		columns: make([]largeColumn, d.Features), potential: slices.Clone(potential), fresh: true,
	}
	s.beginStored(p, o.Cuts)
	s.sums = make([]uint64, len(a.rows))
	return s, nil
}

// beginStored is begin for all groups of streamed data.
func (s *largeSearch) beginStored(p plan, cuts int) {
	n, groups := len(s.rows), groupsOf(s.data.Features)
	if !p.words {
		s.words = block.NewWords(groups * n)
	}
	sorters, orders, words := make([]sorter, p.workers), make([][]uint32, p.workers), make([][]uint64, p.workers)
	parallel.For(groups, p.workers, func(worker, g int) {
		if orders[worker] == nil {
			orders[worker] = make([]uint32, n)
			if p.words {
				words[worker] = make([]uint64, n)
			}
		}
		of := words[worker]
		if p.words {
			clear(of)
		} else {
			of = s.words[g*n : (g+1)*n]
		}
		order := orders[worker]
		for f := g * groupColumns; f < min((g+1)*groupColumns, s.data.Features); f++ {
			block.ReadTemporary(s.stored.file, order, s.stored.column(f))
			if s.beginColumn(f, order, of, &sorters[worker], cuts) {
				block.WriteTemporary(s.stored.file, order, s.stored.column(f))
			}
		}
		if p.words {
			block.WriteTemporary(s.stored.file, of, s.stored.words(g))
		}
	})
	for _, memory := range orders[:min(p.orders, len(orders))] {
		if memory != nil {
			s.orders.add(memory)
		}
	}
	for len(s.orders.slots) < p.orders {
		s.orders.add(make([]uint32, n))
	}
}

// lookStored looks at the marked bins of a column whose order is in the file.
func (s *largeSearch) lookStored(f int, marks *[256]bool, potential []float64) {
	c, at := &s.columns[f], s.stored.column(f)
	for code, n := range c.docs[:c.codes] {
		if marks[code] {
			s.bin = slices.Grow(s.bin[:0], int(n))[:n]
			block.ReadTemporary(s.stored.file, s.bin, at)
			c.look(code, s.bin, potential, s.up)
		}
		at += 4 * int64(n)
	}
}

// addStored is groupBins.add of a group whose words are in the file, read in parts by the given memory.
func (s *largeSearch) addStored(bins *groupBins, group int, part []uint64) {
	for from := 0; from < len(s.rows); from += len(part) {
		words := part[:min(len(part), len(s.rows)-from)]
		block.ReadTemporary(s.stored.file, words, s.stored.words(group)+8*int64(from))
		bins.add(words, s.sums[from:])
	}
}

// Columns gives the features of a data set one at a time, from a temporary file.
type Columns struct {
	stored *stored
	values []float32
	last   int
}

// NewColumns reads a data set once, which may be streamed. Of the options it takes Workers and Note.
func NewColumns(d *dataset.Dataset, o Options) (*Columns, error) {
	l := layout{rows: make([]int, d.Docs())}
	for i := range l.rows {
		l.rows[i] = i
	}
	for i := range d.Queries {
		l.numbers, l.starts = append(l.numbers, i), append(l.starts, d.Queries[i].Start)
	}
	l.starts = append(l.starts, d.Docs())
	s, err := newStored(d, l, false, 16<<20, o)
	if err != nil {
		return nil, err
	}
	return &Columns{stored: s, values: make([]float32, d.Docs()), last: math.MinInt}, nil
}

// Of returns a feature of all documents, valid until the next call. If reading fails it panics with a value
// that [dataset.GuardFaults] makes an error of.
func (c *Columns) Of(feature int) []float32 {
	if feature != c.last {
		block.ReadTemporary(c.stored.file, c.values, c.stored.column(feature))
		c.last = feature
	}
	return c.values
}

// Close removes the file.
func (c *Columns) Close() error { return c.stored.file.Close() }
