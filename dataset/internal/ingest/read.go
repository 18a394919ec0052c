// Package ingest reads documents from text. It divides the text into chunks, parses them concurrently and
// visits them in order. So the result does not depend on the number of workers. The package must not
// depend on any particular format.
//
// Start reading at [Format], which a format implements, and at [Read].
package ingest

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
)

// Size is the result of counting a chunk. It is exact if the chunk has no syntax errors.
type Size struct {
	Docs, Lines int
	Feature     int // the largest feature index
	Quotes      int // number of quotation marks, for a Quoted format
}

// Format is a text format for documents, such as LETOR text or CSV.
type Format interface {
	// Count counts a chunk. It does not check for errors, which Parser does. It is called concurrently.
	Count(c Chunk) Size

	// Counted is called when all chunks are counted; an error ends the reading.
	Counted() error

	// Width returns the number of columns of the data set if feature is the largest index in the text.
	// It returns 0 if there are no features.
	Width(feature int) int

	// Limit returns the largest feature index allowed.
	Limit() int

	// Names returns the names of the columns, or nil.
	Names() []string

	// Parser returns a parser that writes documents to c. With checkOnly it only checks for errors: the
	// blocks of c then have no columns, and only enough rows for one chunk.
	Parser(c *Collector, checkOnly bool) Parser

	// Empty returns the error for a text without features. docs is the number of its documents, perhaps 0.
	Empty(docs int) error
}

// Quoted is a Format in which quoted cells may contain line feeds, such as CSV.
type Quoted interface {
	Format

	// Recount is called before all chunks are counted a second time. This occurs if the text has quotes:
	// the chunks are then cut only at line feeds outside quotes.
	Recount()
}

// quotes reports whether f is a Quoted format.
func quotes(f Format) bool {
	_, ok := f.(Quoted)
	return ok
}

// FeatureLimit returns the largest number of features that the options accept.
func FeatureLimit(opts dataset.Options) int {
	return cmp.Or(opts.MaxFeature, dataset.DefaultMaxFeature)
}

// weighsDocuments reports whether the text has weights of documents. It must be called after counting.
func weighsDocuments(f Format) bool {
	w, ok := f.(interface{ WeighsDocuments() bool })
	return ok && w.WeighsDocuments()
}

// Parser parses chunks, one after the other.
type Parser interface {
	// Chunk parses the documents of a chunk. before is the number of lines before the chunk. It returns the
	// number of documents and the last line that it read. With an error, line is the line of the error. It is
	// an error if the chunk has more than most documents.
	Chunk(c Chunk, before, most int) (docs, line int, err error)
}

// Locate adds the name of the file, and the line of a syntax error, to an error. It returns nil for nil.
func Locate(err error, name string, line int) error {
	if err == nil {
		return nil
	}
	var syntax *dataset.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.File = name; syntax.Line == 0 && !errors.Is(err, dataset.ErrTooLarge) { // ErrTooLarge is not about one line
			syntax.Line = line
		}
		return syntax
	}
	return fmt.Errorf("%s: %w", name, err)
}
