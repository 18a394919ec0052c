package boost

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// stored has the columns of a streamed data set in a temporary file, one after the other: first the values, 4
// bytes a document, whose place the documents by increasing value take. After them come the codes of groups
// of columns, if they are not in memory: those of as many documents as are read at a time, column by column, and then
// those of the next.
type stored struct {
	file     *block.Temporary
	docs     int
	features int
	rows     *dataset.RowReader
}

// groupColumns is the number of columns of a group, whose codes are read together.
const groupColumns = 8

// groupsOf returns the number of groups of so many columns.
func groupsOf(features int) int { return (features + groupColumns - 1) / groupColumns }

// storedPart is the number of documents whose codes are read at a time.
var storedPart = 1 << 16

// storedParts returns how many of these the documents make.
func storedParts(docs int) int { return (docs + storedPart - 1) / storedPart }

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
func storedBytes(docs, features int, codes bool) int64 {
	bytes := 4 * int64(padded(docs)) * int64(features)
	if codes {
		bytes += groupColumns * int64(storedPart) * int64(storedParts(docs)) * int64(groupsOf(features))
	}
	return bytes
}

// pageDocs is the number of documents whose values fill a page.
var pageDocs = block.Page / 4

// padded returns the number of documents that a column has room for, so that each begins with a page.
func padded(docs int) int { return (docs + pageDocs - 1) / pageDocs * pageDocs }

// whole returns a column with the room behind it, as it is read and written.
func whole[T uint32 | float32](column []T) []T { return column[:padded(len(column))] }

// newStored reads the data once, in parts whose values take at most so many bytes of memory or what PartBytes says.
func newStored(d *dataset.Dataset, l layout, codes bool, part int, o Options) (s *stored, err error) {
	docs := l.starts[len(l.numbers)]
	size := storedBytes(docs, d.Features, codes)
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

// codes returns where the codes of a group and part begin.
func (s *stored) codes(group, part int) int64 {
	return s.column(s.features) + groupColumns*int64(storedPart)*int64(group*storedParts(s.docs)+part)
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
	codes   bool // are in the file
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
)

// mostOrders is the number of orders that are kept at most.
const mostOrders = 16

// mostPart is the bytes of values that are held at most when these are put into columns.
const mostPart = 128 << 20

// fewBytes is how much of what columns take whatever the number of documents is not counted: all of it up to 300 features.
const fewBytes = 4 << 20

// columnBytes returns the bytes that columns take by themselves, with bins for every worker, above fewBytes.
func columnBytes(features, workers int) float64 {
	each := float64(int(unsafe.Sizeof(largeColumn{})) + workers*int(unsafe.Sizeof(fourBins{})/4))
	return max(0, float64(each*float64(features))-fewBytes)
}

// checkHeld returns an error if searching features that are in memory would hold more than the memory there is: what a
// search always holds, so many bytes a cell, and so many a document for every worker.
func checkHeld(a *arrangement, features int, o Options, cell, worker float64) error {
	if o.Memory <= 0 {
		return nil
	}
	n, workers := float64(padded(len(a.rows))), parallel.Workers(o.Workers, features)
	need := heldBySearch(a, features, workers) + float64(cell*n*float64(features)) + float64(worker*n*float64(workers))
	return checkBeside(len(a.rows), features, need, o.Memory)
}

// checkBeside returns an error if boosting on features that are in memory would hold more bytes beside them than there are.
func checkBeside(docs, features int, need float64, memory int64) error {
	if memory <= 0 || need <= float64(memory) {
		return nil
	}
	return dataset.TooLarge(fmt.Errorf("found %d documents × %d features in memory, beside which boosting holds %.3g GB, expected at most %.3g GB of memory; raise the limit or use a sample",
		docs, features, need/1e9, float64(memory)/1e9))
}

// heldBySearch returns the bytes that a search holds wherever features are.
func heldBySearch(a *arrangement, features, workers int) float64 {
	n := float64(padded(len(a.rows)))
	held := float64(float64(heldBytes+a.beside)*n) + float64(200*float64(len(a.queries))) + columnBytes(features, workers)
	if a.weights != nil {
		held += float64(16 * n)
	}
	return held
}

// planStored returns the plan for the memory there is, or an error that says what would be needed.
func planStored(a *arrangement, features int, o Options) (plan, error) {
	n := float64(padded(len(a.rows)))
	p := plan{workers: parallel.Workers(o.Workers, features), orders: mostOrders, part: mostPart}
	if o.Memory <= 0 {
		return p, nil
	}
	held := heldBySearch(a, features, p.workers)
	left := float64(o.Memory) - held
	inMemory := float64(n * float64(features))
	need := max(float64(PartBytes(len(a.rows), a.longest, features)), float64(sortBytes*n))
	if p.codes = left < inMemory+need; !p.codes {
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
	file, err := newStored(d, l, p.codes, p.part, o)
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

// beginStored is begin for all columns of streamed data. The memory of the sorters is that of the orders afterwards.
func (s *largeSearch) beginStored(p plan, cuts int) {
	n, features := len(s.rows), s.data.Features
	s.sums = block.NewWords(padded(n))[:n]
	sorters := make([]sorter, p.workers)
	if !p.codes {
		s.codes = newCodes(features * n)
	}
	parallel.For(features, p.workers, func(worker, f int) {
		sort := &sorters[worker]
		values, order := sort.room(n)
		block.ReadTemporary(s.stored.file, whole(values), s.stored.column(f))
		codes := sort.codes()
		if !p.codes {
			codes = s.codesOf(f)
		}
		if !s.beginColumn(f, order, values, codes, sort, cuts) {
			return
		}
		block.WriteTemporary(s.stored.file, whole(order), s.stored.column(f))
		if p.codes {
			s.stored.writeCodes(f, codes)
		}
	})
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

// keepOrders adds memory of orders, if they are not enough.
func (s *largeSearch) keepOrders(memory []uint32, most int) {
	for n := len(s.rows); len(memory) > 0 && len(s.orders.slots) < most; memory = memory[padded(n):] {
		s.orders.add(memory[:n])
	}
}

// writeCodes writes those of a column, which have room for whole pages behind them.
func (s *stored) writeCodes(f int, codes []uint8) {
	for part := range storedParts(s.docs) {
		from := part * storedPart
		to := min(from+storedPart, (s.docs+block.Page-1)/block.Page*block.Page)
		block.WriteTemporary(s.file, codes[from:min(to, cap(codes))], s.codes(f/groupColumns, part)+int64(f%groupColumns*storedPart))
	}
}
