// Package ingest reads text of documents. It cuts text into chunks, parses them concurrently and
// visits them in order, so that the number of workers does not change the result. It must not know
// any one format.
//
// Start reading at [Format], which a format implements, and at [Read].
package ingest

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
)

// Size is the size of a chunk, if all of it is valid.
type Size struct {
	Docs, Lines int
	Feature     int // the largest feature index
	Quotes      int // number of quotes, in a format that has such
}

// Format is a form of text with documents.
type Format interface {
	// Count returns what a chunk holds. Errors are left to Parser. It is called concurrently.
	Count(c Chunk) Size

	// Counted is called when all chunks are counted; an error ends the reading.
	Counted() error

	// Width returns the number of columns if feature is the largest index, 0 if there are
	// none.
	Width(feature int) int

	// Limit returns the largest feature index allowed.
	Limit() int

	// Names returns the names of the columns, or nil.
	Names() []string

	// Parser returns a parser of chunks for a collector. With checkOnly it looks for errors only: there are no
	// columns, and only the rows of one chunk.
	Parser(c *Collector, checkOnly bool) Parser

	// Empty returns the error about a text that has no documents, or docs documents without features.
	Empty(docs int) error
}

// Quoted is a Format in which line feeds between quotes end no record.
type Quoted interface {
	Format

	// Recount is called if there are quotes. Then all chunks are cut outside them and counted again.
	Recount()
}

// quotes reports whether line feeds between quotes end no record.
func quotes(f Format) bool {
	_, ok := f.(Quoted)
	return ok
}

// FeatureLimit returns the largest number of features that the options accept.
func FeatureLimit(opts dataset.Options) int {
	return cmp.Or(opts.MaxFeature, dataset.DefaultMaxFeature)
}

// weighsDocuments reports whether a format has weights of documents. All of it must be counted.
func weighsDocuments(f Format) bool {
	w, ok := f.(interface{ WeighsDocuments() bool })
	return ok && w.WeighsDocuments()
}

// Parser parses chunks, one after the other.
type Parser interface {
	// Chunk parses a chunk of at most most documents that follows a number of lines. It returns the number of
	// documents and the last line, or an error and its line.
	Chunk(c Chunk, before, most int) (docs, line int, err error)
}

// Locate adds to an error of reading text where it happened. It returns nil for nil.
func Locate(err error, name string, line int) error {
	if err == nil {
		return nil
	}
	var syntax *dataset.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.File = name; syntax.Line == 0 && !errors.Is(err, dataset.ErrTooLarge) { // which is of no one line
			syntax.Line = line
		}
		return syntax
	}
	return fmt.Errorf("%s: %w", name, err)
}
