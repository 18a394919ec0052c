package boost

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
)

// partWriter puts the rows of successive queries into columns, some at a time, and writes them while the next are put.
// It writes whole pages: the documents of the last that is not full go to the part that follows.
type partWriter struct {
	stored *stored
	layout *layout
	room   int // documents that a part's columns have room for

	columns, other []float32 // of the part at hand, one column after the other, and of the one before, nil if all is one part
	base           int       // the first document of the part
	pending        chan error
}

// newPartWriter returns a writer that holds so many bytes of values, or those that PartBytes says if these are more.
func newPartWriter(s *stored, l *layout, bytes int) *partWriter {
	longest := 0
	for i := range l.numbers {
		longest = max(longest, l.starts[i+1]-l.starts[i])
	}
	if all := wholeBytes(s.docs, s.features); all <= max(int64(bytes), severalBytes(longest, s.features)) {
		return &partWriter{stored: s, layout: l, room: padded(s.docs), columns: block.New(padded(s.docs) * s.features)}
	}
	docs := min(s.docs, max(longest, bytes/(2*4*s.features)-2*pageDocs))
	w := &partWriter{stored: s, layout: l, room: padded(docs) + pageDocs}
	w.columns, w.other = block.New(w.room*s.features), block.New(w.room*s.features)
	return w
}

// PartBytes returns the bytes of values that putting so many documents, at most longest of them a query, into columns holds
// at least: all of them, or twice a query's, and pages that are not full, of which a few MB are not counted.
func PartBytes(docs, longest, features int) int64 {
	values := 2 * 4 * int64(longest) * int64(features)
	return max(values, min(wholeBytes(docs, features), severalBytes(longest, features))-fewBytes)
}

// wholeBytes and severalBytes are those of one part of all documents, and of two that hold the longest query each.
func wholeBytes(docs, features int) int64 { return 4 * int64(padded(docs)) * int64(features) }

func severalBytes(longest, features int) int64 {
	return 2 * 4 * int64(padded(longest)+pageDocs) * int64(features)
}

// fits returns where the queries end that go into a part from one on: the next one at least.
func (w *partWriter) fits(from int) (to int) {
	starts := w.layout.starts
	for to = from + 1; to < len(starts)-1 && starts[to+1]-w.base <= w.room; {
		to++
	}
	return to
}

// put puts a query's rows into the columns. Several goroutines may, for different queries. It fills cache lines of
// the columns one after the other: of these, which all begin with a page, a cache does not hold one each.
func (w *partWriter) put(i int, x []float32, q *dataset.Query) {
	const line = 16 // documents
	l, features := w.layout, w.stored.features
	var rows [line][]float32
	for doc := l.starts[i]; doc < l.starts[i+1]; {
		n, at := 0, doc-w.base
		for ; doc < l.starts[i+1] && (n == 0 || doc%line > 0); doc++ {
			row := doc
			if l.rows != nil {
				row = l.rows[doc]
			}
			rows[n] = x[(row-q.Start)*features:][:features]
			n++
		}
		for f := range features {
			column := w.columns[f*w.room+at:][:n]
			for k := range column {
				column[k] = rows[k][f]
			}
		}
	}
}

// write begins to write the columns up to a query, and makes ready for the next ones.
func (w *partWriter) write(to int) error {
	if err := w.close(); err != nil {
		return err
	}
	end := w.layout.starts[to]
	full := end / pageDocs * pageDocs
	if to == len(w.layout.numbers) {
		full = padded(end)
	}
	columns, base := w.columns, w.base
	for f := 0; f < w.stored.features && full < end; f++ {
		at := f*w.room - base
		copy(w.other[f*w.room:], columns[at+full:at+end])
	}
	w.pending = make(chan error, 1)
	go func(done chan<- error) { done <- w.writePart(columns, base, full) }(w.pending)
	w.columns, w.other, w.base = w.other, columns, full
	return nil
}

// writePart writes the documents from one page to another.
func (w *partWriter) writePart(columns []float32, from, to int) (err error) {
	defer block.Guard(&err)()
	for f := range w.stored.features {
		part := columns[f*w.room:][:to-from]
		block.WriteTemporary(w.stored.file, part, w.stored.column(f)+4*int64(from))
	}
	return nil
}

// close waits until all is written.
func (w *partWriter) close() error {
	if w.pending == nil {
		return nil
	}
	err := <-w.pending
	w.pending = nil
	return err
}
