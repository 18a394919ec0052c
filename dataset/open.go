package dataset

import (
	"context"
	"io"
)

// DefaultMaxFeature is the largest feature index accepted unless Options say
// otherwise. The matrix is dense, so an index mistyped as 10⁹ must not be taken
// at its word.
const DefaultMaxFeature = 100_000

// Options tell how a file is read. The zero value reads complete data with
// features up to DefaultMaxFeature, using all cores.
type Options struct {
	// Missing says what an explicit nan or NULL becomes.
	Missing Missing

	// MaxFeature is the largest feature index accepted, DefaultMaxFeature if 0.
	MaxFeature int

	// Features, if positive, is the exact number of columns: missing ones are
	// added as zeros, an index above it is an error. It makes a file fit a model.
	Features int

	// MinFeatures is the least number of columns; missing ones are added as
	// zeros.
	MinFeatures int

	// MaxBytes bounds the memory that the input may take, for which nothing is
	// allocated beyond it: the matrix of features, 4 bytes for every document and
	// feature, absent features included; grades, identifiers and what it takes to
	// put the documents in order; the bytes of a stream, and long lines.
	// DefaultMaxBytes if 0. Not counted are a few MB for each worker, and the pages
	// of a cache that is mapped, which the system may take back.
	MaxBytes int64

	// Workers is the number of goroutines that parse, GOMAXPROCS if 0. It has no
	// influence on the result, nor on errors and warnings.
	Workers int

	// Observe, if not nil, is told how many bytes of how many were read of text,
	// which is read twice: the total is twice the file's size. It is called from
	// several goroutines. A cache is not read but mapped.
	Observe func(done, total int64)

	// Context, if not nil, ends the reading with its error when it is cancelled,
	// even while a pipe has nothing to say.
	Context context.Context

	line  int   // bytes in the longest line, longestLine if 0; for tests
	chunk int64 // bytes in a chunk, chunkSize if 0; for tests
}

func (o Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

func (o Options) maxFeature() int {
	if o.MaxFeature > 0 {
		return o.MaxFeature
	}
	return DefaultMaxFeature
}

// Open reads a file of judged documents. The format is recognised by content:
// LETOR/svmlight text, the same compressed by gzip or zstandard, or the binary
// cache that [WriteCache] writes. "-" is the standard input.
//
// A text line is
//
//	GRADE qid:ID INDEX:VALUE INDEX:VALUE … # comment
//
// with a finite non-negative grade, any UTF-8 text without blanks, # and control
// characters as query id, and feature indices that start from 1 and ascend; features left out are 0. A
// comment "docid = X …" names the document. Blank lines and lines that begin
// with # are skipped. Lines end in LF or CR LF. The documents of a query may stand in several places; they
// are put together, with a warning.
//
// Errors in the content are of type [*SyntaxError]; the first in the file is
// reported. The Dataset of a cache is a view of the file and must be closed;
// closing others does no harm.
//
// The text of a regular file is read twice, so that the matrix is allocated once,
// at its size; a pipe's is kept in memory meanwhile.
func Open(path string, opts Options) (*Dataset, error) {
	var d *Dataset
	err := withInput(path, opts, func(in *input) (err error) {
		d, err = open(in, opts)
		return err
	})
	return d, err
}

// Read is Open for a stream, whose bytes it keeps in memory until they are
// parsed. The name stands for the file's in errors.
func Read(r io.Reader, name string, opts Options) (*Dataset, error) {
	in, err := hold(r, name, opts)
	if err != nil {
		return nil, err
	}
	return open(in, opts)
}

func open(in *input, opts Options) (*Dataset, error) {
	kind, err := in.sniff()
	if err != nil {
		return nil, err
	}
	if kind == binaryCache {
		return openCache(in, opts)
	}
	return readText(in.text(kind, opts), in, opts)
}
