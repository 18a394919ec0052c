package dataset

import (
	"context"
	"io"

	"github.com/listwise/listwise/internal/block"
)

// DefaultMaxBytes is the memory limit of an input where the memory of the machine is not known. Elsewhere the
// default is three quarters of the memory of the machine or its control group. A short file can need far more,
// because of a huge feature index or compression, and a Go program that runs out of memory is killed.
const DefaultMaxBytes = 16 << 30

// MemoryLimit returns maxBytes if it is positive. Otherwise it returns three quarters of the memory of the
// machine or its control group.
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
	// Missing is the policy for an explicit nan or NULL.
	Missing Missing

	// AbsentMissing says that a feature that a line of LETOR text leaves out is missing, as
	// XGBoost takes it; otherwise it is 0, as in svmlight.
	AbsentMissing bool

	// MissingValues are numbers that represent missing values in text and tables, such as −999 or an infinity.
	MissingValues []float64

	// FromZero says that LETOR text counts features from 0, as scikit-learn writes it; otherwise from 1.
	FromZero bool

	// AnyOrder accepts LETOR text whose feature indices do not ascend within a line.
	AnyOrder bool

	// Negative is the policy for negative grades.
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

	// FeatureNames, if not nil, are the features wanted of a table, such as a model's. They select and order the
	// columns that are read, and the values of text columns that become features (see [TableOptions]). Text
	// without names is read as it is.
	FeatureNames []string

	// Categories are a model's categories of table features by name. Columns may contain their texts, which
	// become codes.
	Categories map[string]*Categories

	// Input names the format of the input, "" to recognise it; see
	// dataset/datafile.Formats.
	Input string

	// Keep, if not nil, selects the queries to read, as [SampleQueries] does. The features of others are not
	// held in memory. It may be called from several goroutines.
	Keep func(id string) bool

	// Table describes the columns of a table.
	Table TableOptions

	// Note, if not nil, is called with sentences about choices that the options left open. It may be called from
	// several goroutines.
	Note func(sentence string)

	// MaxBytes bounds the memory allocated for the input; 0 means [MemoryLimit]. It counts the matrix of
	// features, 4 bytes for every document and feature, grades, identifiers, the memory for ordering the
	// documents, the bytes of a stream, and long lines. A few MB for each worker are not counted, nor are the
	// pages of a mapped cache, which the system can reclaim.
	MaxBytes int64

	// Stream lets data that take more than MaxBytes be opened as a streamed data set, whose features are read
	// query by query; see [RowReader]. Without it a cache is mapped as a whole, and other data that do
	// not fit are an error. With it a cache is read as it is, and other data are put in a temporary cache, with
	// a note. Identifiers of documents of a
	// streamed data set must not be used after it is closed.
	Stream bool

	// Unheld, with Stream, streams data of any size, to leave the memory for other things.
	Unheld bool

	// GradesOnly skips features in LETOR text and caches, for results that do not depend on them. Even mistakes
	// in them are not found. Text then has one feature, which is 0 everywhere. A cache is streamed.
	GradesOnly bool

	// Workers is the number of goroutines that parse, GOMAXPROCS if 0. It has no
	// influence on the result, nor on errors and warnings.
	Workers int

	// Observe, if not nil, is called with the number of bytes of text read so far and the total, which is twice
	// the file's size. It is called from several goroutines, and not for a cache, which is mapped.
	Observe func(done, total int64)

	// Opened, if not nil, is called with each file that a data set is a view of, for callers that close all files at
	// once. Close does nothing to a file that is closed. Opened may be called from several goroutines.
	Opened func(io.Closer)

	// Context, if not nil, ends the reading with its error when it is cancelled, even while a read of a pipe
	// blocks.
	Context context.Context
}

// TableOptions say what the columns of a table are: CSV, JSON lines, Parquet. The zero value
// finds query, grade and document by the usual names, and takes all other columns for
// features.
type TableOptions struct {
	// Query, Grade and Doc are the names of the columns with the query ids, the grades and the document ids; ""
	// selects the first column with a usual name, in upper or lower case. There may be no column of document
	// ids.
	Query, Grade, Doc string

	// Weight and QueryWeight are the names of the columns with weights of documents and of
	// queries, in which all rows of a query say the same; "" for columns called document_weight
	// and query_weight, if there are any.
	Weight, QueryWeight string

	// Features are the columns of features in the order wanted; nil for all that are left,
	// in their order, without Except.
	Features []string
	Except   []string

	// OneHot are columns of text, each of whose values becomes a feature COLUMN=VALUE that is 1 where the value
	// stands and else 0. The features replace the column and are sorted by value. OneHotAuto makes them of all
	// columns with text in them.
	OneHot     []string
	OneHotAuto bool

	// Attributes are columns that describe queries, such as their country. All rows of a query have the same
	// value; an empty cell means none. An attribute may have another use as well: naming a column here does not
	// change whether it is a feature.
	Attributes []string

	// Ungraded allows a table without grades, or without some: they are 0.
	Ungraded bool

	// Delimiter stands between the cells of a line, 0 for a comma in CSV and a tab in TSV.
	Delimiter byte
}

// MaxOneHot is the largest number of values of a column that become features.
const MaxOneHot = 1000
