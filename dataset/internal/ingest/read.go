// Package ingest is what the readers of files of documents share: text cut into chunks that
// are parsed concurrently, and the queries, grades and identifiers of all parts of an input
// put together as a Dataset, whatever the number of workers.
//
// Start reading at [Read] for text, and at [Assembly] for formats that are no text.
package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
)

// Text is read in two passes over its chunks. The first counts documents and
// finds the largest feature index, so that the blocks are allocated once and
// every chunk's place in them is known; the second parses all chunks straight
// into the blocks, concurrently. What remains is sequential and small: query ids
// and document ids of the chunks are put together in order.

// textReader is the state of reading one text.
type textReader struct {
	name   string
	opts   dataset.Options
	format Format
	src    Source
	mem    *memory.Account

	mu     sync.Mutex // held to touch what follows, except one's own chunk
	chunks []*Part    // nil where no line begins
	failed error      // the first error in the order of the text
	sizes  []Size     // of the chunks
	seen   Size       // sums over the chunks counted so far
	broken error      // why the text could not be read to its end, or nil
	last   int        // the chunk that ends there
	cut    bool       // counting ended early, as what there is takes too much already

	passing bool    // documents pass and are not kept
	density float64 // the most lines a byte of any chunk

	stop atomic.Int64 // the chunk of that error
}

// Size is what a chunk of text holds, if all of it is right.
type Size struct {
	Docs, Lines int
	Feature     int // the largest feature index
	Quotes      int // number of quotes, in a format that has such
}

// Format is how a text holds documents.
type Format interface {
	// Quotes says whether line feeds between quotes end no record.
	Quotes() bool

	// Count returns what a chunk holds, of which Parser finds the errors. It is called
	// concurrently; once more for all chunks, after a call of Recount, if there are quotes, outside of
	// which they are then cut, or if they were not all counted.
	Count(c Chunk) Size
	Recount()

	// Counted is called when the first so many chunks are counted, which are all unless they take too much
	// memory; an error ends the reading.
	Counted(chunks int) error

	// Width returns the number of columns if feature is the largest index, 0 if there are
	// none.
	Width(feature int) int

	// Limit returns the largest feature index allowed.
	Limit() int

	// Names returns the names of the columns, or nil.
	Names() []string

	// Parser returns what parses chunks for a collector. With checkOnly it looks for
	// errors: there are no columns, and rows of one chunk.
	Parser(c *Collector, checkOnly bool) Parser

	// Empty returns the error about a text of so many documents without documents or
	// features.
	Empty(docs int) error
}

// FeatureLimit returns the largest number of features that the options accept.
func FeatureLimit(opts dataset.Options) int {
	return cmp.Or(opts.MaxFeature, dataset.DefaultMaxFeature)
}

// weighsDocuments reports whether a format, all of which is counted, has weights of documents.
func weighsDocuments(f Format) bool {
	w, ok := f.(interface{ WeighsDocuments() bool })
	return ok && w.WeighsDocuments()
}

// Parser parses chunks, one after the other.
type Parser interface {
	// Chunk parses a chunk of at most so many documents that stands behind a number of
	// lines. It returns the number of documents and the last line, or an error and its
	// line.
	Chunk(c Chunk, before, most int) (docs, line int, err error)
}

// Read reads text of a format. Errors in the content are of type [*dataset.SyntaxError]; the
// first in the file is reported.
func Read(in *input.Input, opts dataset.Options, format Format) (*dataset.Dataset, error) {
	src, err := TextOf(in, opts, format.Quotes())
	if err != nil {
		return nil, err
	}
	r := &textReader{name: in.Name, opts: opts, format: format, src: src, mem: in.Mem}
	if err := r.countAll(); err != nil {
		return nil, err
	}
	docs, feature, broken := r.layout()
	if err := r.counted(); err != nil {
		return nil, err
	}
	if r.cut && !r.exceeds() { // some columns turned out not to be features
		r.passing = true
		if err := r.recount(); err != nil {
			return nil, err
		}
		docs, feature, broken = r.layout()
		if err := r.counted(); err != nil {
			return nil, err
		}
	}
	b := &Blocks{Width: format.Width(feature), Weighted: err == nil && weighsDocuments(format)}
	checkOnly := broken != nil || feature > format.Limit() || docs == 0 || b.Width == 0
	var large error
	if !checkOnly || r.cut { // a reading that stopped at the limit must say so in any case
		var at int
		if at, large = r.fits(); large == nil {
			if !checkOnly {
				b.Allocate(docs)
			}
		} else if opts.Stream { // what is visited finds the first mistake, as it is read to its end
			return nil, large
		} else {
			checkOnly = true
			r.stop.Store(int64(min(at, aFewChunks) + 1)) // a mistake before may be the cause
		}
	}
	collectors := r.parse(b, checkOnly)
	switch err := r.context(); {
	case err != nil:
		return nil, err
	case r.failed != nil:
		return nil, r.failed
	case large != nil:
		return nil, large
	case !checkOnly:
		a := &Assembly{Name: r.name, Opts: opts, Mem: r.mem, Blocks: b, Parts: r.chunks, Collectors: collectors, Names: format.Names()}
		return a.Dataset()
	case docs == 0 || b.Width == 0:
		return nil, Locate(format.Empty(docs), r.name, 0)
	}
	return nil, fmt.Errorf("%s: %w", r.name, dataset.ErrChanged)
}

// aFewChunks is how much of a text that is too large is looked at for mistakes.
const aFewChunks = 4

// context returns the error of the context, once it is cancelled.
func (r *textReader) context() error {
	if err := input.Context(r.opts).Err(); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return nil
}

// parse is the second pass.
func (r *textReader) parse(b *Blocks, checkOnly bool) []*Collector {
	parsers := make([]Parser, r.src.Workers())
	collectors := make([]*Collector, len(parsers))
	for i := range parsers {
		own := b
		if checkOnly {
			own = &Blocks{Weighted: b.Weighted}
		}
		collectors[i] = NewCollector(own, r.opts, r.mem)
		parsers[i] = r.format.Parser(collectors[i], checkOnly)
	}
	r.src.Each(&r.stop, func(worker int, c Chunk) {
		r.mu.Lock()
		var part *Part
		if c.Index < len(r.chunks) {
			part = r.chunks[c.Index]
		}
		r.mu.Unlock()
		if part == nil {
			r.fail(c.Index, 0, dataset.ErrChanged)
			return
		}
		part.worker = worker
		line, err := ParseChunk(parsers[worker], collectors[worker], c, part, checkOnly)
		if c.Err != nil && (err == nil || errors.Is(err, dataset.ErrChanged)) { // a part of the chunk was not read
			line, err = part.Line+part.Lines+1, c.Err
		}
		if err != nil {
			r.fail(c.Index, line, err)
		}
	})
	return collectors
}

// ParseChunk parses a chunk into its rows and notes in part what goes elsewhere; with
// checkOnly, it has no rows. An error comes with its line.
func ParseChunk(z Parser, col *Collector, c Chunk, part *Part, checkOnly bool) (line int, err error) {
	first := part.Row
	if checkOnly {
		col.Grades = slices.Grow(col.Grades[:0], part.Docs)[:part.Docs]
		col.DocEnd = slices.Grow(col.DocEnd[:0], part.Docs)[:part.Docs]
		if col.Weighted {
			col.Weights = slices.Grow(col.Weights[:0], part.Docs)[:part.Docs]
		}
		first = 0
	}
	col.Begin(first)
	docs, line, err := z.Chunk(c, part.Line, part.Docs)
	switch {
	case err != nil:
		return line, err
	case docs != part.Docs || line != part.Line+part.Lines:
		return line, dataset.ErrChanged
	}
	return line, col.End(part, first)
}

// fail records an error unless one of an earlier chunk is known.
func (r *textReader) fail(chunk, line int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if int64(chunk) < r.stop.Load() {
		r.stop.Store(int64(chunk))
		r.failed = Locate(err, r.name, line)
	}
}

// Locate adds to an error of reading text where it happened.
func Locate(err error, name string, line int) error {
	var syntax *dataset.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.File = name; syntax.Line == 0 && !errors.Is(err, dataset.ErrTooLarge) { // which is of no one line
			syntax.Line = line
		}
		return syntax
	}
	return fmt.Errorf("%s: %w", name, err)
}
