package dataset

import (
	"context"
	"io"

	"github.com/listwise/listwise/internal/block"
)

// DefaultMaxBytes is the memory that an input may take unless Options say otherwise, where it is not known how much
// there is: elsewhere three quarters of what the machine or its control group has. A
// short file can need far more, because of a huge feature index or compression, and a
// Go program that runs out of memory is killed.
const DefaultMaxBytes = 16 << 30

// MemoryLimit returns the bytes of memory that are meant by MaxBytes: these or, if they are not positive,
// three quarters of the memory that the machine or its control group has.
func MemoryLimit(maxBytes int64) int64 {
	if maxBytes > 0 {
		return maxBytes
	}
	if all := block.MachineMemory(); all > 0 {
		return all / 4 * 3
	}
	return DefaultMaxBytes
}

// DefaultMaxFeature is the largest feature index accepted unless Options say
// otherwise. The matrix is dense, so an index mistyped as 10⁹ would take all memory.
const DefaultMaxFeature = 100_000

// Options say how a file is read. The zero value reads data without missing values and with
// features up to DefaultMaxFeature, using all cores.
type Options struct {
	// Missing says what an explicit nan or NULL becomes.
	Missing Missing

	// AbsentMissing says that a feature that a line of LETOR text leaves out is missing, as
	// XGBoost takes it; otherwise it is 0, as in svmlight.
	AbsentMissing bool

	// MissingValues are numbers of features that stand for missing values in text and tables, such as
	// −999; infinities may be among them.
	MissingValues []float64

	// FromZero says that LETOR text counts features from 0, as scikit-learn writes it; otherwise from 1.
	FromZero bool

	// AnyOrder accepts LETOR text whose feature indices do not ascend within a line.
	AnyOrder bool

	// Negative says what a negative grade becomes.
	Negative Negative

	// Ascending says that a lower score is a better one in a run or a file of scores, as a
	// distance is. Readers negate such scores.
	Ascending bool

	// DropSelf leaves documents that have the id of their query out of a run.
	DropSelf bool

	// MaxFeature is the largest number of features accepted, DefaultMaxFeature if 0.
	MaxFeature int

	// Features, if positive, is the exact number of columns: missing ones are
	// added as zeros, an index above it is an error. It makes a file fit a model.
	Features int

	// MinFeatures is the least number of columns; missing ones are added as
	// zeros. Data whose features have names have no others.
	MinFeatures int

	// IgnoreOthers is what the data set's IgnoreOthers becomes.
	IgnoreOthers bool

	// FeatureNames, if not nil, are the features wanted of a table, such as a model's: they
	// decide which columns are read, in what order, and which values of text columns
	// become features (see [TableOptions]). Text without names is read as it is.
	FeatureNames []string

	// Categories are those of features of a table by their names, which a model keeps: columns may have
	// their texts, which become codes.
	Categories map[string]*Categories

	// Input names the format of the input, "" to recognise it; see
	// dataset/datafile.Formats.
	Input string

	// Keep, if not nil, says of the queries which are read, as [SampleQueries] does; the features of
	// others are not held in memory. It may be called from several goroutines.
	Keep func(id string) bool

	// Table says what the columns of a table are.
	Table TableOptions

	// Note, if not nil, is called with sentences about what was taken for what where the
	// options left it open. It may be called from several goroutines.
	Note func(sentence string)

	// MaxBytes bounds the memory allocated for the input, DefaultMaxBytes if 0: the
	// matrix of features, 4 bytes for every document and feature, absent features
	// included; grades, identifiers and the memory for ordering the documents; the
	// bytes of a stream, and long lines. Not counted are a few MB for each worker, and
	// the pages of a mapped cache, which the system can reclaim.
	MaxBytes int64

	// Stream lets data that take more than MaxBytes be opened as a streamed data set, whose features are
	// read query by query; see [RowReader]. A cache is then read as it is, and otherwise mapped as a whole;
	// other data are put in a temporary cache, of which Note tells, and are otherwise an error. A streamed
	// data set's identifiers of documents must not be used after it is closed.
	Stream bool

	// Unheld, with Stream, streams data that take less than MaxBytes, too: for who needs the memory beside them.
	Unheld bool

	// GradesOnly leaves features out where the format can, in LETOR text and caches, for results that
	// do not depend on them: they are not looked at, not even for mistakes. Text then has one feature,
	// which is 0 everywhere; a cache is streamed.
	GradesOnly bool

	// Workers is the number of goroutines that parse, GOMAXPROCS if 0. It has no
	// influence on the result, nor on errors and warnings.
	Workers int

	// Observe, if not nil, is called with the number of bytes of text read so far and
	// the total, which is twice the file's size because text is read twice. It is
	// called from several goroutines, and not for a cache, which is mapped.
	Observe func(done, total int64)

	// Opened, if not nil, is called with each file that a data set is a view of, for callers that close all files at
	// once. Close does nothing to a file that is closed. Opened may be called from several goroutines.
	Opened func(io.Closer)

	// Context, if not nil, ends the reading with its error when it is cancelled, even
	// while a read of a pipe blocks.
	Context context.Context
}
