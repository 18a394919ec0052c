package ingest

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// Read reads a text into memory in two passes. The first pass counts documents and features, so that the
// arrays are allocated once. The second pass parses chunks concurrently and copies their documents to the
// arrays in order. Syntax errors are of type [*dataset.SyntaxError]. The error is the first one in the file.
func Read(in *input.Input, opts dataset.Options, format Format) (*dataset.Dataset, error) {
	s, err := newDocuments(in, opts, format)
	if err != nil {
		return nil, err
	}
	s.held = true
	width, err := s.settle()
	if err != nil {
		return nil, err
	}
	if err := s.mem.TakeMatrix(s.seen.Docs, width, true); err != nil {
		if !opts.Stream { // with Stream, the caller reads the text again and finds mistakes
			err = s.mistakeBefore(err)
		}
		return nil, err
	}
	if err := s.recut(width); err != nil {
		return nil, err
	}
	l := newLoading(s, width)
	found := survey{documents: s, tell: func([]stream.Run) error { return nil }}
	docs, lines := 0, 0
	err = s.visit(func() *worker { return s.worker(width) }, func(k *worker, c Chunk, before int) error {
		docs, lines = docs+k.docs, before+k.line
		if err := found.add(k, c, before); err != nil {
			return err
		}
		l.Missing += k.col.missing
		return Locate(l.add(k.batch()), s.name, 0)
	})
	if err != nil {
		return nil, err
	}
	if docs != s.seen.Docs || lines != s.seen.Lines {
		return nil, fmt.Errorf("%s: %w", s.name, dataset.ErrChanged)
	}
	shape, err := found.shape(width)
	if err != nil {
		return nil, err
	}
	shape.Warnings = append(shape.Warnings, s.rounded()...)
	return l.dataset(shape)
}

// aFewChunks is the number of chunks of a too large text that are checked for mistakes.
const aFewChunks = 4

// mistakeBefore returns a syntax error at the beginning of a text that is too large for memory: a mistake
// may be the reason for its size. If there is none, it returns large.
func (s *documents) mistakeBefore(large error) error {
	err := s.visit(s.checker, func(_ *worker, c Chunk, _ int) error {
		if c.Index > aFewChunks {
			return large
		}
		return nil
	})
	if err != nil {
		return err
	}
	return large
}

// run is a number of successive documents of one query.
type run struct{ query, docs uint32 }

const runBytes = 8

// loading copies documents, which arrive in input order, to the arrays of a data set.
type loading struct {
	*documents
	dataset.Blocks

	row     int               // row of the next document
	numbers map[string]uint32 // index of each query id
	runs    []run

	scattered map[uint32]bool // queries with several runs
	first     string          // id of the first such query

	texts [][]byte // document ids, one text for each batch
	bytes int      // total length of texts
}

// newLoading allocates the arrays for the documents that s has counted.
func newLoading(s *documents, width int) *loading {
	var b Blocks
	b.Width, b.Weighted = width, weighsDocuments(s.format)
	b.Allocate(s.seen.Docs)
	return &loading{
		documents: s,
		Blocks:    dataset.Blocks{Features: width, X: b.X, Grades: b.Grades, Weights: b.Weights, Docs: dataset.DocIDs{End: b.DocEnd}},
		numbers:   make(map[string]uint32),
		scattered: make(map[uint32]bool),
	}
}

// add copies the documents of a batch to the next rows.
func (l *loading) add(b *stream.Batch) error {
	if l.row+len(b.Grades) > len(l.Grades) {
		return dataset.ErrChanged
	}
	copy(l.X[l.row*l.Features:], b.X)
	copy(l.Grades[l.row:], b.Grades)
	copy(l.Weights[min(l.row, len(l.Weights)):], b.Weights)
	l.Absent += b.Absent
	for _, r := range b.Runs {
		if err := l.addRun(r); err != nil {
			return err
		}
	}
	for i, end := range b.DocEnd {
		l.Docs.End[l.row+i] = uint32(l.bytes) + end
	}
	l.row += len(b.Grades)
	if len(b.DocText) == 0 {
		return nil
	}
	l.texts = append(l.texts, bytes.Clone(b.DocText))
	if l.bytes += len(b.DocText); uint64(l.bytes) > math.MaxUint32 {
		return &dataset.SyntaxError{Found: "document ids of more than 4 GiB", Expected: "at most that much"}
	}
	return l.mem.Take(2*int64(len(b.DocText)), "document ids") // the texts, and their concatenation
}

// addRun adds the documents of a run to the counts of its query.
func (l *loading) addRun(r stream.Run) error {
	q, known := l.numbers[r.ID]
	if !known {
		if err := l.mem.Take(memory.QueryBytes+int64(len(r.ID)), "queries"); err != nil {
			return err
		}
		q = uint32(len(l.IDs))
		l.numbers[r.ID] = q
		l.IDs, l.Counts = append(l.IDs, r.ID), append(l.Counts, 0)
	}
	l.Counts[q] += r.Docs
	if n := len(l.runs); n > 0 && l.runs[n-1].query == q {
		l.runs[n-1].docs += uint32(r.Docs)
		return nil
	}
	if known && !l.scattered[q] {
		l.scattered[q] = true
		if l.first == "" {
			l.first = r.ID
		}
	}
	l.runs = append(l.runs, run{q, uint32(r.Docs)})
	return l.mem.Take(2*runBytes, "runs of documents of one query")
}

// dataset returns the data set. The documents of each query are adjacent, and missing values are replaced
// by the policy of the options.
func (l *loading) dataset(shape stream.Shape) (*dataset.Dataset, error) {
	b := &l.Blocks
	b.FeatureNames, b.Warnings, b.QueryWeights = shape.FeatureNames, shape.Warnings, shape.QueryWeights
	b.AttributeNames, b.Attributes = shape.AttributeNames, shape.Attributes
	b.X, b.Grades, b.Docs.End = b.X[:l.row*b.Features], b.Grades[:l.row], b.Docs.End[:l.row]
	if b.Weights = b.Weights[:min(l.row, len(b.Weights))]; !shape.DocWeights {
		b.Weights = nil
	}
	if b.Docs.Text = joined(l.texts, l.bytes); l.bytes == 0 {
		b.Docs = dataset.DocIDs{}
	}
	if len(l.scattered) > 0 {
		if err := l.mem.Take(memory.RowBytes*int64(l.row)+int64(l.bytes), "documents out of order"); err != nil {
			return nil, err
		}
		l.collect()
	}
	d := dataset.FromBlocks(*b)
	d.TakeMissing(l.name, l.opts.Missing)
	return d, nil
}

// collect reorders the documents so that those of each query are adjacent.
func (l *loading) collect() {
	b := &l.Blocks
	b.InputRow = inputRows(l.runs, b.Counts)
	if b.Weights != nil {
		b.Weights = picked(b.Weights, b.InputRow)
	}
	permute(b)
	b.Docs = b.Docs.Pick(b.InputRow)
	b.Warnings = append(b.Warnings, dataset.ScatteredWarning(l.name, len(l.scattered), l.first))
}

// joined returns the concatenation of texts, whose total length is size.
func joined(texts [][]byte, size int) string {
	var all strings.Builder
	all.Grow(size)
	for _, text := range texts {
		all.Write(text)
	}
	return all.String()
}

// inputRows returns the input position of the document in each row of the data set, in which the documents
// of each query are adjacent.
func inputRows(runs []run, counts []int) []int {
	next := make([]int, len(counts))
	rows := 0
	for q, n := range counts {
		next[q] = rows
		rows += n
	}
	inputRow := make([]int, rows)
	in := 0
	for _, r := range runs {
		for range r.docs {
			inputRow[next[r.query]] = in
			next[r.query]++
			in++
		}
	}
	return inputRow
}

// picked returns the values at the given places.
func picked(values []float64, places []int) []float64 {
	all := make([]float64, len(places))
	for r, in := range places {
		all[r] = values[in]
	}
	return all
}

// permute moves the rows of X and Grades from input order to the order of d.InputRow. It works in place,
// along the cycles of the permutation.
func permute(d *dataset.Blocks) {
	f := d.Features
	row := func(r int) []float32 { return d.X[r*f : (r+1)*f] }
	moved := make([]bool, len(d.InputRow))
	first := make([]float32, f)
	for r := range d.InputRow {
		if moved[r] {
			continue
		}
		copy(first, row(r))
		grade := d.Grades[r]
		to := r
		for from := d.InputRow[to]; from != r; from = d.InputRow[to] {
			copy(row(to), row(from))
			d.Grades[to] = d.Grades[from]
			moved[to] = true
			to = from
		}
		copy(row(to), first)
		d.Grades[to] = grade
		moved[to] = true
	}
}
