package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// DefaultMaxFeature is the largest feature index accepted unless Options say
// otherwise. The matrix is dense, so an index mistyped as 10⁹ must not be taken
// at its word.
const DefaultMaxFeature = 100_000

// DefaultMaxBytes is the largest matrix of features accepted unless Options say
// otherwise: 16 GiB. A short file can ask for far more, by a huge index on each of
// many lines, than a machine has; Go then ends the program.
const DefaultMaxBytes = 16 << 30

// ErrTooLarge is the cause of the error about a matrix of more than
// Options.MaxBytes.
var ErrTooLarge = errors.New("the matrix of features is too large")

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

	// MaxBytes bounds the matrix of features of text, which takes 4 bytes for
	// every document and feature, absent features included; DefaultMaxBytes if 0.
	// A cache, which is as large as its file, is bounded only if it is to get
	// further columns.
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

// checkSize returns an error if a matrix of docs × features is larger than
// allowed.
func (o Options) checkSize(name string, docs, features int) error {
	limit := o.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	// In float64, as the product may overflow; and never beyond what can be
	// addressed.
	size := 4 * float64(docs) * float64(features)
	if size <= float64(limit) && size < math.MaxInt/2 {
		return nil
	}
	return &SyntaxError{
		File:     name,
		Found:    fmt.Sprintf("%d documents × %d features × 4 bytes = %s", docs, features, inBytes(size)),
		Expected: fmt.Sprintf("at most %s; the matrix is as wide as the largest feature index, so number the features from 1 on without gaps, or raise the limit", inBytes(float64(limit))),
		Err:      ErrTooLarge,
	}
}

// inBytes describes a number of bytes in a unit that suits it.
func inBytes(n float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size {
			return strconv.FormatFloat(n/unit.size, 'g', 4, 64) + " " + unit.name
		}
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " bytes"
}

// Open reads a file of judged documents. The format is recognised by content:
// LETOR/svmlight text, the same compressed by gzip or zstandard, or the binary
// cache that [WriteCache] writes. "-" is the standard input.
//
// A text line is
//
//	GRADE qid:ID INDEX:VALUE INDEX:VALUE … # comment
//
// with a finite non-negative grade, any text without blanks as query id, and
// feature indices that start from 1 and ascend; features left out are 0. A
// comment "docid = X …" names the document. Blank lines and lines that begin
// with # are skipped. The documents of a query may stand in several places; they
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
	return readText(in.text(kind, opts), in.name, opts)
}
