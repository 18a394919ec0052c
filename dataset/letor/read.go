// Package letor reads and writes LETOR text, the format of the collections of that name
// and of svmlight: one judged document a line, a query's id, features by number. It
// reads and writes files of scores too, one a line.
//
// Start reading at [Read], and [Write]; features.go and
// number.go are where the time goes. Files of any format are opened by dataset/datafile.
package letor

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/compress"
	"github.com/listwise/listwise/internal/input"
)

// Text is read in two passes over its chunks. The first counts documents and
// finds the largest feature index, so that the blocks are allocated once and
// every chunk's place in them is known; the second parses all chunks straight
// into the blocks, concurrently. What remains is sequential and small: query ids
// and document ids of the chunks are put together in order.

// textReader is the state of reading one text.
type textReader struct {
	name string
	opts dataset.Options
	src  source
	mem  *input.Memory

	mu     sync.Mutex   // held to touch what follows, except one's own chunk
	chunks []*chunkInfo // nil where no line begins
	failed error        // the first error in the order of the text
	seen   chunkInfo    // sums over the chunks counted so far
	cut    bool         // counting ended early, as what there is takes too much already

	stop atomic.Int64 // the chunk of that error
}

// chunkInfo is what is known of a chunk.
type chunkInfo struct {
	docs, lines int // numbers in this chunk
	feature     int // the largest feature index, if all lines are right
	broken      bool

	row, line int // documents and lines in the chunks before

	worker  int    // whose query numbers the runs use
	runs    []run  // the queries of the documents, in order
	docText []byte // the identifiers of the documents
	missing int    // number of missing values
}

// run is a number of successive documents of one query.
type run struct {
	query, docs uint32
}

// hugeFeature stands for an index of too many digits.
const hugeFeature = math.MaxInt32

// Read reads LETOR text, plain or compressed, whose form dataset/datafile.Open describes.
// Errors in the content are of type [*dataset.SyntaxError]; the first in the file is
// reported.
func Read(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	src, err := textOf(in, opts)
	if err != nil {
		return nil, err
	}
	return readText(src, in, opts)
}

func readText(src source, in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	r := &textReader{name: in.Name, opts: opts, src: src, mem: in.Mem}
	if err := r.count(); err != nil {
		return nil, err
	}
	docs, feature, broken := r.layout()
	limit := r.limit()
	b := &blocks{width: r.width(feature)}
	checkOnly := broken || feature > limit || docs == 0 || b.width == 0
	var large error
	if !checkOnly || r.cut { // a reading that stopped at the limit must say so in any case
		var at int
		if at, large = r.fits(); large == nil {
			if !checkOnly {
				b.allocate(docs)
			}
		} else {
			checkOnly = true
			r.stop.Store(int64(min(at, aFewChunks) + 1)) // a mistake before may be the cause
		}
	}
	parsers := r.parse(b, limit, checkOnly)
	switch err := r.context(); {
	case err != nil:
		return nil, err
	case r.failed != nil:
		return nil, r.failed
	case large != nil:
		return nil, large
	case !checkOnly:
		return r.finish(b, parsers)
	case docs == 0:
		return nil, r.bad("no documents", "lines of the form GRADE qid:ID INDEX:VALUE …")
	case feature == 0:
		return nil, r.bad(fmt.Sprintf("no features in %d documents", docs), "INDEX:VALUE after qid:ID")
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

// width returns the number of columns if feature is the largest index.
func (r *textReader) width(feature int) int {
	if feature == 0 && r.opts.Features == 0 && r.opts.MinFeatures == 0 {
		return 0
	}
	return max(feature, r.opts.Features, r.opts.MinFeatures)
}

func (r *textReader) bad(found, expected string) error {
	return &dataset.SyntaxError{File: r.name, Found: found, Expected: expected}
}

// limit returns the largest feature index allowed.
func (r *textReader) limit() int {
	if r.opts.Features > 0 {
		return r.opts.Features
	}
	if r.opts.MaxFeature > 0 {
		return r.opts.MaxFeature
	}
	return dataset.DefaultMaxFeature
}

// count is the first pass. It ends early where the documents so far take too much
// memory, or where an index is so large that it must be a mistake.
func (r *textReader) count() error {
	r.stop.Store(math.MaxInt64)
	var full error
	r.src.each(&r.stop, func(_ int, c chunk) {
		info := new(chunkInfo)
		info.docs, info.lines, info.feature = countLines(c)
		info.broken = c.err != nil
		r.mu.Lock()
		defer r.mu.Unlock()
		for len(r.chunks) <= c.index {
			r.chunks = append(r.chunks, nil)
		}
		r.chunks[c.index] = info
		r.seen.docs += info.docs
		r.seen.feature = max(r.seen.feature, info.feature)
		if err := r.mem.Take(chunkBytes, "lines"); err != nil && full == nil {
			full = err
		}
		wrong := r.seen.feature > r.limit()
		large := !wrong && r.mem.Exceeds(input.DocumentsNeed(r.seen.docs, r.width(r.seen.feature)))
		r.cut = r.cut || large && len(r.chunks) < r.src.chunks()
		switch {
		case c.err != nil:
			r.stop.Store(min(r.stop.Load(), int64(c.index)))
		case wrong || large || full != nil: // all chunks before the last seen will be seen
			r.stop.Store(min(r.stop.Load(), int64(len(r.chunks)-1)))
		}
	})
	r.stop.Store(math.MaxInt64)
	if err := r.context(); err != nil {
		return err
	}
	return full
}

// chunkBytes is what is known of a chunk, in bytes.
const chunkBytes = 160

// fits counts the memory that the documents take. If it is too much, the error is
// of the documents up to the first chunk at which it is, for any number of
// workers.
func (r *textReader) fits() (at int, err error) {
	docs, feature := 0, 0
	for i, c := range r.chunks {
		if c == nil {
			continue
		}
		docs, feature = docs+c.docs, max(feature, c.feature)
		last := i == len(r.chunks)-1
		if need := input.DocumentsNeed(docs, r.width(feature)); last || r.mem.Exceeds(need) {
			return i, r.mem.TakeMatrix(docs, r.width(feature), last && !r.cut)
		}
	}
	return 0, nil
}

// layout gives each chunk its place and returns the number of documents, the
// largest feature index and whether the text broke off.
func (r *textReader) layout() (docs, feature int, broken bool) {
	lines := 0
	for _, c := range r.chunks {
		if c == nil {
			continue
		}
		c.row, c.line = docs, lines
		docs += c.docs
		lines += c.lines
		feature = max(feature, c.feature)
		broken = broken || c.broken
	}
	return docs, feature, broken
}

// parse is the second pass.
func (r *textReader) parse(b *blocks, limit int, checkOnly bool) []*parser {
	parsers := make([]*parser, r.src.workers())
	for i := range parsers {
		parsers[i] = newParser(b, r.opts, limit, checkOnly, r.mem)
	}
	r.src.each(&r.stop, func(worker int, c chunk) {
		r.mu.Lock()
		var info *chunkInfo
		if c.index < len(r.chunks) {
			info = r.chunks[c.index]
		}
		r.mu.Unlock()
		if info == nil {
			r.fail(c.index, 0, dataset.ErrChanged)
			return
		}
		info.worker = worker
		line, err := parsers[worker].chunk(c, info)
		if err == nil && c.err != nil {
			line, err = info.line+info.lines+1, c.err
		}
		if err != nil {
			r.fail(c.index, line, err)
		}
	})
	return parsers
}

// FirstError returns the first error in the lines at the beginning of a text, of
// which more is to come; nil if the text is compressed.
func FirstError(text []byte, name string, opts dataset.Options) error {
	if compress.Detect(text, name) != compress.Plain {
		return nil
	}
	n := bytes.LastIndexByte(text, '\n') + 1
	if n == 0 {
		if n = len(text); bytes.IndexByte(text, 0) < 0 {
			return nil
		}
	}
	c := chunk{text: closeLine(append(make([]byte, 0, n+1+padding), text[:n]...))}.withoutMark()
	info := new(chunkInfo)
	info.docs, info.lines, _ = countLines(c)
	r := &textReader{opts: opts}
	z := newParser(new(blocks), opts, r.limit(), true, input.NewMemory(name, opts))
	line, err := z.chunk(c, info)
	if err != nil {
		return locate(err, name, line)
	}
	return nil
}

// fail records an error unless one of an earlier chunk is known.
func (r *textReader) fail(chunk, line int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if int64(chunk) < r.stop.Load() {
		r.stop.Store(int64(chunk))
		r.failed = locate(err, r.name, line)
	}
}

// locate adds to an error of reading text where it happened.
func locate(err error, name string, line int) error {
	var syntax *dataset.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.File = name; !errors.Is(err, dataset.ErrTooLarge) { // which is of no one line
			syntax.Line = line
		}
		return syntax
	}
	return fmt.Errorf("%s: %w", name, err)
}
