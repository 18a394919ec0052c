package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// Documents returns a source of the documents of a text. Chunks are parsed concurrently and visited in
// order. Documents and errors are the same as with [Read].
func Documents(in *input.Input, opts dataset.Options, format Format) (stream.Source, error) {
	return newDocuments(in, opts, format)
}

// documents is a text that is read in several passes over its chunks.
type documents struct {
	in     *input.Input
	name   string
	opts   dataset.Options
	format Format
	src    Text
	mem    *memory.Account
	held   bool // all documents will be in memory at once

	collectors []*Collector // of the workers of the last visit

	mu      sync.Mutex // guards the results of counting, which follow
	sizes   []Size     // size of each chunk
	seen    Size       // sums over the chunks, and the largest feature index
	broken  error      // error that prevented reading the text to its end, or nil
	last    int        // index of the chunk in which broken occurred
	density float64    // largest number of lines per byte of a chunk
}

func newDocuments(in *input.Input, opts dataset.Options, format Format) (*documents, error) {
	src, err := TextOf(in, opts, quotes(format))
	if err != nil {
		return nil, err
	}
	return &documents{in: in, name: in.Name, opts: opts, format: format, src: src, mem: in.Mem}, nil
}

// context returns the error of the context if it is cancelled, else nil.
func (s *documents) context() error {
	if err := input.Context(s.opts).Err(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// Close implements stream.Source.
func (s *documents) Close() error { return nil }

// Each implements stream.Source.
func (s *documents) Each(columns int, visit func(b *stream.Batch) error) error {
	return s.visit(func() *worker { return s.worker(columns) }, func(k *worker, _ Chunk, _ int) error {
		if b := k.batch(); len(b.Grades) > 0 {
			return visit(b)
		}
		return nil
	})
}

// leastChunk is the smallest size of a chunk in bytes. leastQuoted is the smallest size for a table, whose header should
// be in the first chunk.
const (
	leastChunk  = 1 << 10
	leastQuoted = 1 << 15
)

// recut makes chunks smaller if the features of a chunk's documents would take too much memory. This
// occurs with short lines and many columns.
func (s *documents) recut(columns int) error {
	size := cmp.Or(s.in.Chunk, chunkSize)
	if most := stream.BatchBytes / (4 * float64(columns) * s.density); most < float64(size) {
		least := int64(leastChunk)
		if quotes(s.format) {
			least = leastQuoted
		}
		size = min(size, max(least, int64(most)))
	}
	if size == cmp.Or(s.in.Chunk, chunkSize) {
		return nil
	}
	s.in.Chunk = size
	opts := s.opts
	opts.Observe = nil
	src, err := TextOf(s.in, opts, quotes(s.format))
	if err != nil || s.seen.Quotes == 0 || !quotes(s.format) {
		s.src = src
		return err
	}
	s.src = src
	sums := make([]int, src.Chunks()) // quotes in each chunk; only a randomText gets here
	err = inOrder(input.Context(s.opts), src, func(int, Chunk) {}, func(_ int, c Chunk) error {
		sums[c.Index] = bytes.Count(c.Text[:c.Lines()], []byte(`"`))
		return nil
	})
	src.quote(oddBefore(sums))
	return err
}

// visit parses all chunks concurrently, with workers that begin makes. It calls do for each chunk, in order,
// with the worker that parsed the chunk and the number of lines before it.
func (s *documents) visit(begin func() *worker, do func(k *worker, c Chunk, before int) error) error {
	workers := make([]*worker, s.src.Workers())
	line := 0
	err := inOrder(input.Context(s.opts), s.src, func(i int, c Chunk) {
		if workers[i] == nil {
			workers[i] = begin()
		}
		workers[i].parse(c)
	}, func(i int, c Chunk) error {
		k := workers[i]
		if k.err != nil {
			return Locate(k.err, s.name, line+k.line)
		}
		if err := do(k, c, line); err != nil {
			return err
		}
		if c.Err != nil {
			return Locate(c.Err, s.name, line+k.line+1)
		}
		line += k.line
		return nil
	})
	s.collectors = nil
	for _, k := range workers {
		if k != nil {
			s.mem.Give(k.taken)
			s.collectors = append(s.collectors, k.col)
		}
	}
	if err := s.context(); err != nil {
		return err
	}
	return err
}

// worker parses one chunk after the other into its own blocks.
type worker struct {
	col    *Collector
	parser Parser
	count  func(c Chunk) Size // counts a chunk; nil if only lines are counted
	taken  int64              // memory of the blocks that is counted

	// Of the current chunk:
	size Size // its lines, an upper bound of the documents; other fields are set by count
	docs int  // number of documents parsed
	line int  // last line parsed, or that of the error
	err  error
}

func (s *documents) worker(columns int) *worker {
	col := NewCollector(&Blocks{Width: columns, Weighted: weighsDocuments(s.format)}, s.opts, s.mem)
	return &worker{col: col, parser: s.format.Parser(col, false)}
}

// checker returns a worker that only checks for errors and stores no features.
func (s *documents) checker() *worker {
	col := NewCollector(&Blocks{Weighted: weighsDocuments(s.format)}, s.opts, s.mem)
	return &worker{col: col, parser: s.format.Parser(col, true)}
}

// parse parses a chunk. It stores an error in k.err, because errors are reported in the order of the chunks.
func (k *worker) parse(c Chunk) {
	if k.count != nil {
		k.size = k.count(c)
	} else {
		k.size.Lines = bytes.Count(c.Text[:c.Lines()], []byte("\n"))
	}
	if k.err = k.room(k.size.Lines); k.err == nil {
		k.docs, k.line, k.err = k.parser.Chunk(c, 0, k.size.Lines)
	}
}

// room prepares the blocks for the given number of documents. It clears them, and allocates larger ones if
// necessary.
func (k *worker) room(docs int) error {
	b, used := k.col.Blocks, k.col.row
	clear(b.X[:used*b.Width])
	clear(b.DocEnd[:used])
	if len(b.Grades) < docs {
		need := int64(memory.DocumentsNeed(docs, b.Width))
		if need > stream.BatchBytes { // a few MB do not count
			if err := k.col.mem.Take(need-k.taken, "documents parsed at a time"); err != nil {
				return err
			}
			k.taken = need
		}
		b.Allocate(docs)
	}
	clear(k.col.ids)
	k.col.names = k.col.names[:0]
	k.col.Begin(0)
	return nil
}

// runs returns the runs of the chunk's documents.
func (k *worker) runs() []stream.Run {
	runs := make([]stream.Run, len(k.col.runs))
	doc, before := 0, uint32(0)
	for i, r := range k.col.runs {
		doc += int(r.docs)
		end := max(before, k.col.DocEnd[doc-1]) // DocEnd is 0 if the document has no identifier
		runs[i] = stream.Run{ID: k.col.names[r.query], Docs: int(r.docs), Bytes: int(end - before)}
		before = end
	}
	return runs
}

// batch returns the documents of the chunk as a batch, without a copy.
func (k *worker) batch() *stream.Batch {
	b, n := k.col.Blocks, k.col.row
	batch := &stream.Batch{Runs: k.runs(), Grades: b.Grades[:n], X: b.X[:n*b.Width], DocText: k.col.docText, DocEnd: b.DocEnd[:n], Absent: k.col.absent}
	if b.Weighted {
		batch.Weights = b.Weights[:n]
	}
	return batch
}

// lineOf returns the line, within the chunk, of the first document after the given runs.
func (k *worker) lineOf(c Chunk, runs []stream.Run) int {
	docs := 0
	for _, r := range runs {
		docs += r.Docs
	}
	if k.room(k.size.Lines) != nil {
		return 0
	}
	_, line, _ := k.parser.Chunk(c, 0, docs) // it stops at the line of the next document
	return line
}
