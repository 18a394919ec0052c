package method

import (
	"context"
	"math"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// scattered visits the documents of a streamed data set in any order at the speed of reading in order: a pass over
// the data puts each document into the part of a temporary file where its turn comes, and then one part after the
// other, which fits into memory, is read and visited. So a visit of all documents reads the features twice and writes
// them once, however many there are and however little memory.
type scattered struct {
	data    *dataset.Dataset
	workers int
	file    *block.Temporary
	layout  scatteredLayout
	turns   []uint32     // of each document: its place in the order
	parts   []sync.Mutex // a part each, which guards what follows of it
	waiting [][]float32  // numbers of a part that are not in the file yet, with room for those of a flush
	written []int        // numbers of a part that are
	memory  []float32    // of the part that is visited
	at      []uint32     // of its documents by their turns: where they begin in memory, in rows
	readers []*dataset.RowReader
}

// scatteredLayout is how the file is divided. A row is a document's features and its turn within the part, which is
// small enough for a number of single precision.
type scatteredLayout struct {
	docs, row int
	of        int // documents of a part
	parts     int
	flush     int // numbers of a part that are written at a time, whole pages
}

const (
	pageNumbers    = block.Page / 4
	mostScattered  = 256 << 20 // bytes of a part, beyond which there is no use
	mostFlush      = 1 << 20   // bytes that are written together, likewise
	scatteredQuery = 1 << 14   // queries between two looks at the context
)

// scatter plans the file for so many bytes of memory; where these are too few it returns how many would do.
func scatter(docs, features int, memory int64) (l scatteredLayout, need int64) {
	l = scatteredLayout{docs: docs, row: features + 1}
	bytes := float64(4 * l.row)
	size := float64(docs) * bytes
	// A part takes its documents' rows and where they begin; every part of the file a page that is to be written.
	least := 4*block.Page + float64(4*math.Sqrt(float64(size*block.Page))) + float64(2*bytes)
	if least > float64(memory) {
		return l, int64(least)
	}
	of := min(float64(memory/2), mostScattered) / (bytes + 4)
	l.of = max(1, min(docs, 1<<24, int(of)))
	l.parts = (docs + l.of - 1) / l.of
	each := min(int(memory)/2/l.parts, mostFlush)
	l.flush = max(1, each/block.Page) * pageNumbers
	return l, 0
}

// part returns where the numbers of a part begin in the file.
func (l *scatteredLayout) part(p int) int64 {
	numbers := int64(l.of*l.row+l.flush-1) / int64(l.flush) * int64(l.flush)
	return 4 * numbers * int64(p)
}

func newScattered(d *dataset.Dataset, l scatteredLayout, workers int) (*scattered, error) {
	file, err := block.NewTemporary("", l.part(l.parts))
	if err != nil {
		return nil, err
	}
	file.Direct()
	s := &scattered{
		data: d, workers: workers, file: file, layout: l, turns: make([]uint32, l.docs),
		parts: make([]sync.Mutex, l.parts), waiting: make([][]float32, l.parts), written: make([]int, l.parts),
		at: make([]uint32, l.of), readers: make([]*dataset.RowReader, parallel.Workers(workers, len(d.Queries))),
	}
	all := paged(l.flush * l.parts)
	for p := range s.waiting {
		s.waiting[p] = all[p*l.flush:][:0:l.flush]
	}
	s.memory = paged((l.of*l.row + pageNumbers - 1) / pageNumbers * pageNumbers)
	for w := range s.readers {
		s.readers[w] = d.Reader()
	}
	return s, nil
}

// paged returns so many numbers that begin with a page.
func paged(n int) []float32 { return block.Float32s(block.Aligned(4*n, block.Page)) }

// each visits the documents in an order, each once. If reading or writing fails it panics with a value that
// dataset.GuardFaults makes an error of.
func (s *scattered) each(ctx context.Context, order []int, visit func(doc int, x []float32)) error {
	for turn, doc := range order {
		s.turns[doc] = uint32(turn)
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	for p := range s.layout.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := p * s.layout.of
		part := order[from:min(from+s.layout.of, len(order))]
		s.read(p, len(part))
		for turn, doc := range part {
			at := int(s.at[turn]) * s.layout.row
			visit(doc, s.memory[at:at+s.layout.row-1])
		}
	}
	return nil
}

// write puts all documents into their parts.
func (s *scattered) write(ctx context.Context) error {
	clear(s.written)
	for from := 0; from < len(s.data.Queries); from += scatteredQuery {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(scatteredQuery, len(s.data.Queries)-from)
		parallel.For(n, s.workers, func(worker, i int) {
			s.put(&s.data.Queries[from+i], s.readers[worker].At(from+i))
		})
	}
	parallel.For(s.layout.parts, s.workers, func(_, p int) {
		if rest := s.waiting[p]; len(rest) > 0 {
			s.flush(p, rest[:(len(rest)+pageNumbers-1)/pageNumbers*pageNumbers])
		}
	})
	return nil
}

// put puts the documents of a query into their parts.
func (s *scattered) put(q *dataset.Query, x []float32) {
	features := s.layout.row - 1
	for i := range q.Len() {
		turn := int(s.turns[q.Start+i])
		p := turn / s.layout.of
		s.parts[p].Lock()
		s.add(p, x[i*features:(i+1)*features])
		s.add(p, []float32{float32(turn % s.layout.of)})
		s.parts[p].Unlock()
	}
}

// add adds numbers to a part, and writes as many as are written at a time.
func (s *scattered) add(p int, numbers []float32) {
	for len(numbers) > 0 {
		w := s.waiting[p]
		n := min(len(numbers), cap(w)-len(w))
		s.waiting[p] = append(w, numbers[:n]...)
		if numbers = numbers[n:]; len(s.waiting[p]) == cap(w) {
			s.flush(p, s.waiting[p])
		}
	}
}

func (s *scattered) flush(p int, numbers []float32) {
	block.WriteTemporary(s.file, numbers, s.layout.part(p)+4*int64(s.written[p]))
	s.written[p] += len(numbers)
	s.waiting[p] = s.waiting[p][:0]
}

// read reads a part of so many documents and finds where each begins.
func (s *scattered) read(p, docs int) {
	row := s.layout.row
	pages := (docs*row + pageNumbers - 1) / pageNumbers * pageNumbers
	const together = mostFlush / 4
	parallel.For((pages+together-1)/together, s.workers, func(_, i int) {
		from := i * together
		block.ReadTemporary(s.file, s.memory[from:min(from+together, pages)], s.layout.part(p)+4*int64(from))
	})
	for i := range docs {
		s.at[int(s.memory[(i+1)*row-1])] = uint32(i)
	}
}

// Close removes the file.
func (s *scattered) Close() error { return s.file.Close() }
