package dataset

import "context"

// DefaultMaxBytes is the most memory that an input may take unless Options say
// otherwise: 16 GiB, or three quarters of what the machine has if that is less. A
// short file can ask for far more, by a huge index on each of many lines or by
// being compressed; Go then ends the program.
const DefaultMaxBytes = 16 << 30

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
}
