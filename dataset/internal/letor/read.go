// Package letor reads and writes LETOR text, the format of the LETOR collections and of svmlight. A line is a
// judged document with the id of its query and numbered features. The package also reads and writes files of
// scores, one per line.
//
// Start reading at [Read] and [Write]. Most of the time is spent in features.go. Package dataset/internal/ingest has
// the parts that text formats share. Package dataset/datafile opens files of any format.
package letor

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/decimal"
)

// hugeFeature replaces an index that has too many digits.
const hugeFeature = math.MaxInt32

// Read reads LETOR text, plain or compressed. dataset/datafile.Open describes the form. Errors in the content
// are of type [*dataset.SyntaxError]. The error is the first one in the file.
func Read(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	return ingest.Read(in, opts, newFormat(opts))
}

// Stream returns a source of the documents that [Read] would read.
func Stream(in *input.Input, opts dataset.Options) (stream.Source, error) {
	return ingest.Documents(in, opts, newFormat(opts))
}

// format is the ingest.Format of LETOR text with options.
type format struct {
	opts dataset.Options

	mu    sync.Mutex
	names []string // names of the features, nil if no line has names
	at    int      // chunk that has the names
	huge  int      // first chunk with an index above the limit, or math.MaxInt
}

func newFormat(opts dataset.Options) *format { return &format{opts: opts, huge: math.MaxInt} }

// first returns the index of the first feature in the text.
func (f *format) first() int {
	if f.opts.FromZero {
		return 0
	}
	return 1
}

var (
	_ ingest.Format   = (*format)(nil)
	_ ingest.Surveyor = (*format)(nil)
)

func (f *format) Count(c ingest.Chunk) ingest.Size { return f.count(c) }

// Counted implements ingest.Format. It ignores names after an index above the limit: counting stops soon after
// such an index, but how soon depends on the workers.
func (f *format) Counted() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at > f.huge {
		f.names = nil
	}
	return nil
}

func (f *format) Names() []string {
	if f.opts.GradesOnly {
		return nil
	}
	return f.names
}

func (f *format) Width(feature int) int {
	if f.opts.GradesOnly {
		return min(feature, 1)
	}
	if n := f.named(); n > 0 {
		return n
	}
	if feature == 0 && f.opts.Features == 0 && f.opts.MinFeatures == 0 {
		return 0
	}
	return max(feature, f.opts.Features, f.opts.MinFeatures)
}

func (f *format) Limit() int {
	if n := f.named(); n > 0 {
		return n
	}
	return f.unnamedLimit()
}

// unnamedLimit returns the largest feature index accepted in a text that does not name its features.
func (f *format) unnamedLimit() int {
	if f.opts.Features > 0 {
		return f.opts.Features
	}
	return ingest.FeatureLimit(f.opts)
}

func (f *format) Parser(c *ingest.Collector, checkOnly bool) ingest.Parser {
	return newParser(c, f, checkOnly)
}

// Surveyor implements ingest.Surveyor.
func (f *format) Surveyor(c *ingest.Collector) ingest.Parser {
	z := newParser(c, f, true)
	z.gradesOnly, z.surveying = true, true
	return z
}

func (f *format) Empty(docs int) error {
	if docs == 0 {
		return &dataset.SyntaxError{Found: "no documents", Expected: "lines of the form GRADE qid:ID INDEX:VALUE …"}
	}
	return &dataset.SyntaxError{Found: fmt.Sprintf("no features in %d documents", docs), Expected: "INDEX:VALUE after qid:ID"}
}

// FirstError returns the first error in text, the beginning of a longer text. It ignores an incomplete last
// line. It returns nil if the text is compressed.
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
	c := ingest.Chunk{Text: ingest.CloseLine(append(make([]byte, 0, n+1+decimal.Padding), text[:n]...))}.WithoutMark()
	if line, err := ingest.CheckLines(newFormat(opts), opts, memory.New(name, opts), c); err != nil {
		return ingest.Locate(err, name, line)
	}
	return nil
}
