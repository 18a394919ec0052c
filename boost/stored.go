package boost

import (
	"cmp"
	"fmt"
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
	rows    []int // of the data set, one a document; nil for all, in their order

	// visit, unless it is nil, is called with the features of every query as they are read, by several goroutines.
	visit func(worker, i int, x []float32)
}

// wholeLayout is that of all documents.
func wholeLayout(d *dataset.Dataset) layout {
	var l layout
	for i := range d.Queries {
		l.numbers, l.starts = append(l.numbers, i), append(l.starts, d.Queries[i].Start)
	}
	l.starts = append(l.starts, d.Docs())
	return l
}

// storedBytes returns the size of the file.
func storedBytes(docs, features int, words bool) int64 {
	bytes := 4 * int64(padded(docs)) * int64(features)
	if words {
		bytes += 8 * int64(padded(docs)) * int64(groupsOf(features))
	}
	return bytes
}

// pageDocs is the number of documents whose values fill a page.
var pageDocs = block.Page / 4

// padded returns the number of documents that a column has room for, so that each begins with a page.
func padded(docs int) int { return (docs + pageDocs - 1) / pageDocs * pageDocs }

// whole returns a column with the room behind it, as it is read and written.
func whole[T uint32 | float32](column []T) []T { return column[:padded(len(column))] }

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
	file.Direct()
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
	w := newPartWriter(s, &l, part)
	defer func() { err = cmp.Or(err, w.close()) }()
	for from := 0; from < len(l.numbers); {
		to := w.fits(from)
		parallel.For(to-from, o.Workers, func(worker, i int) {
			x := readers[worker].At(from + i)
			w.put(from+i, x, &d.Queries[l.numbers[from+i]])
			if l.visit != nil {
				l.visit(worker, from+i, x)
			}
		})
		if err := w.write(to); err != nil {
			return nil, err
		}
		from = to
	}
	return s, nil
}

// column returns where a column begins.
func (s *stored) column(f int) int64 { return 4 * int64(padded(s.docs)) * int64(f) }

// words returns where the words of a group begin.
func (s *stored) words(group int) int64 {
	return s.column(s.features) + 8*int64(padded(s.docs))*int64(group)
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
	part    int  // bytes of values that are held when these are put into columns
}

// Bytes a document that a search takes, beside what it holds all the time: of its row, score, potential, that
// of the search and its addends, and the side of the threshold.
const (
	heldBytes  = 5*8 + 1
	sortBytes  = 16 // of a worker that sorts
	orderBytes = 4  // of an order that is kept
	wordBytes  = 8  // of a group
)

// mostOrders is the number of orders that are kept at most.
const mostOrders = 16

// mostPart is the bytes of values that are held at most when these are put into columns.
const mostPart = 128 << 20

// planStored returns the plan for the memory there is, or an error that says what would be needed.
func planStored(a *arrangement, features int, o Options) (plan, error) {
	n := float64(padded(len(a.rows)))
	p := plan{workers: parallel.Workers(o.Workers, features), orders: mostOrders, part: mostPart}
	if o.Memory <= 0 {
		return p, nil
	}
	held := float64(float64(heldBytes+a.beside)*n) + float64(200*float64(len(a.queries)))
	if a.weights != nil {
		held += float64(16 * n)
	}
	left := float64(o.Memory) - held
	longest := 2 * 4 * float64(a.longest) * float64(features) // pages that are not full, a few MB, are not counted
	inMemory := float64(wordBytes * n * float64(groupsOf(features)))
	need := max(longest, float64(sortBytes*n))
	if p.words = left < inMemory+need; !p.words {
		left -= inMemory
	}
	if left < need {
		return p, tooLarge(len(a.rows), features, held+need, o.Memory)
	}
	p.workers = max(1, min(p.workers, int(left/(sortBytes*n))))
	p.orders = max(1, min(mostOrders, int(left/(orderBytes*n))))
	p.part = int(min(mostPart, left))
	return p, nil
}

// tooLarge returns the error that boosting on streamed data would hold more than the memory there is.
func tooLarge(docs, features int, need float64, memory int64) error {
	return dataset.TooLarge(fmt.Errorf("found %d documents × %d features that are read from a file, of which boosting holds %.3g GB, expected at most %.3g GB of memory; raise the limit or use a sample",
		docs, features, need/1e9, float64(memory)/1e9))
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
		columns: make([]largeColumn, d.Features), potential: cloned(potential), fresh: true,
	}
	s.beginStored(p, o.Cuts)
	return s, nil
}

// beginStored is begin for all groups of streamed data. Words that are in the file are put together in the memory of
// what documents add, and the memory of the sorters is that of the orders afterwards.
func (s *largeSearch) beginStored(p plan, cuts int) {
	n, features := len(s.rows), s.data.Features
	s.sums = block.NewWords(padded(n))[:n]
	sorters := make([]sorter, p.workers)
	if !p.words {
		s.words = block.NewWords(groupsOf(features) * n)
		s.beginColumns(0, features, s.words, sorters, cuts)
	} else {
		for g := range groupsOf(features) {
			clear(s.sums)
			s.beginColumns(g*groupColumns, min((g+1)*groupColumns, features), s.sums, sorters, cuts)
			s.stored.writeWords(g, s.sums, p.workers)
		}
	}
	for i := range sorters {
		if sorters[i].keys != nil {
			s.keepOrders(block.Halves(sorters[i].keys[:padded(n)]), p.orders)
			s.keepOrders(block.Halves(sorters[i].spare[:padded(n)]), p.orders)
		}
	}
	for len(s.orders.slots) < p.orders {
		s.orders.add(make([]uint32, padded(n))[:n])
	}
}

// beginColumns is beginColumn for some columns, given the words of their groups.
func (s *largeSearch) beginColumns(from, to int, words []uint64, sorters []sorter, cuts int) {
	n, base := len(s.rows), from/groupColumns
	parallel.For(to-from, len(sorters), func(worker, i int) {
		f, sort := from+i, &sorters[worker]
		of := words[(f/groupColumns-base)*n:][:n]
		values, order := sort.room(n)
		block.ReadTemporary(s.stored.file, whole(values), s.stored.column(f))
		if s.beginColumn(f, order, values, of, sort, cuts) {
			block.WriteTemporary(s.stored.file, whole(order), s.stored.column(f))
		}
	})
}

// keepOrders adds memory of orders, if they are not enough.
func (s *largeSearch) keepOrders(memory []uint32, most int) {
	for n := len(s.rows); len(memory) > 0 && len(s.orders.slots) < most; memory = memory[padded(n):] {
		s.orders.add(memory[:n])
	}
}

// writeWords writes those of a group.
func (s *stored) writeWords(group int, words []uint64, workers int) {
	words = words[:padded(len(words))]
	parts := (len(words) + storedPart - 1) / storedPart
	parallel.For(parts, workers, func(_, i int) {
		from := i * storedPart
		block.WriteTemporary(s.file, words[from:min(from+storedPart, len(words))], s.words(group)+8*int64(from))
	})
}

// addStored is groupBins.add of a group whose words are in the file, read in parts by the given memory.
func (s *largeSearch) addStored(bins *groupBins, group int, part []uint64) {
	for from := 0; from < len(s.rows); from += len(part) {
		n := min(len(part), len(s.rows)-from)
		block.ReadTemporary(s.stored.file, part[:padded(n)], s.stored.words(group)+8*int64(from))
		bins.add(part[:n], s.sums[from:])
	}
}
