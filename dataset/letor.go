package dataset

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Text is read in two passes over its chunks. The first counts documents and
// finds the largest feature index, so that the blocks are allocated once and
// every chunk's place in them is known; the second parses all chunks straight
// into the blocks, concurrently. What remains is sequential and small: query ids
// and document ids of the chunks are put together in order.

// textReader is the state of reading one text.
type textReader struct {
	name string
	opts Options
	src  source

	mu     sync.Mutex   // held to touch what follows, except one's own chunk
	chunks []*chunkInfo // nil where no line begins
	failed error        // the first error in the order of the text

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

func readText(src source, name string, opts Options) (*Dataset, error) {
	r := &textReader{name: name, opts: opts, src: src}
	r.count()
	docs, feature, broken := r.layout()
	limit := r.limit()
	width := max(feature, opts.Features, opts.MinFeatures)
	checkOnly := broken || feature > limit || docs == 0 || width == 0
	if checkOnly { // and find the first error, on whatever line
		width = 0
	} else if err := opts.checkSize(name, docs, width); err != nil {
		return nil, err
	}
	b := &blocks{
		width:  width,
		x:      newBlock(docs * width),
		grades: make([]float64, docs),
		docEnd: make([]uint32, docs),
	}
	parsers := r.parse(b, limit, checkOnly)
	switch {
	case r.failed != nil:
		return nil, r.failed
	case !checkOnly:
		return r.finish(b, parsers)
	case docs == 0:
		return nil, r.bad("no documents", "lines of the form GRADE qid:ID INDEX:VALUE …")
	case feature == 0:
		return nil, r.bad(fmt.Sprintf("no features in %d documents", docs), "INDEX:VALUE after qid:ID")
	}
	return nil, fmt.Errorf("%s: %w", name, ErrChanged)
}

func (r *textReader) bad(found, expected string) error {
	return &SyntaxError{File: r.name, Found: found, Expected: expected}
}

// limit returns the largest feature index allowed.
func (r *textReader) limit() int {
	if r.opts.Features > 0 {
		return r.opts.Features
	}
	return r.opts.maxFeature()
}

// count is the first pass.
func (r *textReader) count() {
	r.stop.Store(math.MaxInt64)
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
		if c.err != nil {
			r.stop.Store(min(r.stop.Load(), int64(c.index)))
		}
	})
	r.stop.Store(math.MaxInt64)
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
		parsers[i] = newParser(b, r.opts, limit, checkOnly)
	}
	r.src.each(&r.stop, func(worker int, c chunk) {
		r.mu.Lock()
		var info *chunkInfo
		if c.index < len(r.chunks) {
			info = r.chunks[c.index]
		}
		r.mu.Unlock()
		if info == nil {
			r.fail(c.index, 0, ErrChanged)
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

// fail records an error unless one of an earlier chunk is known.
func (r *textReader) fail(chunk, line int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if int64(chunk) < r.stop.Load() {
		r.stop.Store(int64(chunk))
		r.failed = locate(err, r.name, line)
	}
}

// locate tells an error of reading text where it happened.
func locate(err error, name string, line int) error {
	var syntax *SyntaxError
	switch {
	case errors.As(err, &syntax):
		syntax.File, syntax.Line = name, line
		return syntax
	case errors.Is(err, errLineTooLong):
		return &SyntaxError{File: name, Line: line, Found: err.Error(), Expected: "text"}
	}
	return fmt.Errorf("%s: %w", name, err)
}
