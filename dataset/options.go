package dataset

import (
	"context"
	"io"

	"github.com/listwise/listwise/internal/block"
)

// DefaultMaxBytes is the default memory limit of an input if the memory of the machine is not known. If it
// is known, the default is three quarters of the memory of the machine or its control group. A limit is
// needed because a short file with a huge feature index, or a compressed one, can need far more memory than
// its size. A Go program that runs out of memory is killed.
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

// Options say how a file is read. With the zero value, a missing value (nan or NULL) or a feature
// index above DefaultMaxFeature is an error, and reading uses all cores.
type Options struct {
	// Missing is the policy for an explicit nan or NULL.
	Missing Missing

	// AbsentMissing treats a feature that a line of LETOR text omits as a missing value, as XGBoost
	// does. Otherwise it is 0, as in svmlight.
	AbsentMissing bool

	// MissingValues are numbers that represent missing values in text and tables, such as −999 or an infinity.
	MissingValues []float64

	// FromZero says that LETOR text counts features from 0, as scikit-learn writes it; otherwise from 1.
	FromZero bool

	// AnyOrder accepts LETOR text whose feature indices do not ascend within a line.
	AnyOrder bool

	// Negative is the policy for negative grades.
	Negative Negative

	// Conflicts is the policy for documents that judgements give different grades for the same query.
	Conflicts Conflicts

	// Ascending says that lower scores are better in a run or a score file, as for distances. Readers
	// negate such scores.
	Ascending bool

	// DropSelf omits documents of a run whose id is that of their query.
	DropSelf bool

	// MaxFeature is the largest number of features accepted, DefaultMaxFeature if 0.
	MaxFeature int

	// Features, if positive, is the number of features of the data set, such as the number of a model's
	// features. If the file has fewer, columns of zeros are added. A larger index is an error.
	Features int

	// MinFeatures is the smallest number of features of the data set. If the file has fewer, columns of
	// zeros are added, unless its features have names.
	MinFeatures int

	// IgnoreOthers sets the field IgnoreOthers of the data set.
	IgnoreOthers bool

	// FeatureNames, if not nil, are the features to read from a table, such as those of a model. They select
	// and order the columns. They also select the values of text columns that become features, see
	// [TableOptions]. They have no effect on LETOR text.
	FeatureNames []string

	// Categories are the categories of a model's features, by the name of the feature. A column of a table may
	// contain the names of categories, which are replaced by their codes.
	Categories map[string]*Categories

	// Input names the format of the input, "" to recognise it; see
	// dataset/datafile.Formats.
	Input string

	// Keep, if not nil, selects the queries to read by id, see [SampleQueries]. The features of other queries
	// are discarded. Keep may be called from several goroutines.
	Keep func(id string) bool

	// Table describes the columns of a table.
	Table TableOptions

	// Note, if not nil, is called with a sentence about each choice that the reader made because the options
	// left it open. It may be called from several goroutines.
	Note func(sentence string)

	// MaxBytes bounds the memory allocated for the input; 0 means [MemoryLimit]. It counts the matrix of
	// features, 4 bytes for every document and feature, grades, identifiers, the memory for ordering the
	// documents, the bytes of a stream, and long lines. A few MB for each worker are not counted, nor are the
	// pages of a mapped cache, which the system can reclaim.
	MaxBytes int64

	// Stream lets data that take more than MaxBytes be opened as a streamed data set, whose features are read
	// query by query; see [RowReader]. A cache is then read directly. Other data are first converted to a
	// temporary cache, with a note. Without Stream, a cache is mapped as a whole, and other data that do not fit
	// are an error. Document ids of a streamed data set must not be used after it is closed.
	Stream bool

	// Unheld, with Stream, streams data of any size. This leaves the memory for other uses.
	Unheld bool

	// GradesOnly skips the features in LETOR text and caches, for results that do not depend on them. Syntax
	// errors in features are then not found. LETOR text gets one feature that is always 0. A cache is streamed.
	GradesOnly bool

	// Workers is the number of goroutines that parse; 0 means GOMAXPROCS. The result, errors and warnings do
	// not depend on it.
	Workers int

	// Observe, if not nil, is called with the number of bytes read so far and the total. The total is twice the
	// size of the file, because text is read twice. Observe is called from several goroutines. It is not called
	// for a cache.
	Observe func(done, total int64)

	// Opened, if not nil, is called with each open file that a data set refers to. A caller can then close all
	// files at once. Closing a file twice has no effect. Opened may be called from several goroutines.
	Opened func(io.Closer)

	// Context, if not nil, stops the reading when it is cancelled, even if a read from a pipe blocks. The error
	// is that of the context.
	Context context.Context
}

// TableOptions give the columns of a table (CSV, JSON lines, Parquet) their meaning. The zero value
// finds the columns of queries, grades and documents by their usual names. All other columns are
// features.
type TableOptions struct {
	// Query, Grade and Doc are the names of the columns with the query ids, the grades and the document ids. ""
	// selects the first column with a usual name, in upper or lower case. The column of document ids is optional.
	Query, Grade, Doc string

	// Weight and QueryWeight are the names of the columns with the weights of documents and of
	// queries. A query's weight must be the same in all its rows. "" selects the columns
	// document_weight and query_weight, if they exist.
	Weight, QueryWeight string

	// Features are the columns that are features, in the order of the data set. nil selects all
	// columns without another use, in the order of the table.
	Features []string

	// Except are columns that are not features if Features is nil.
	Except []string

	// OneHot are columns of text for one-hot encoding. Each value becomes a feature COLUMN=VALUE, which is 1 in
	// rows with the value and else 0. These features replace the column and are sorted by value.
	OneHot []string

	// OneHotAuto encodes all columns that contain text as OneHot does.
	OneHotAuto bool

	// Attributes are columns that describe queries, such as their country. The value must be the same in all
	// rows of a query; an empty cell means that there is none. A column may be both an attribute and a feature:
	// naming it here does not change whether it is a feature.
	Attributes []string

	// Ungraded allows a table without a column of grades, or with empty grades. These grades are 0.
	Ungraded bool

	// Delimiter separates the cells of a line; 0 means a comma in CSV and a tab in TSV.
	Delimiter byte
}

// MaxOneHot is the largest number of different values of a column that one-hot encoding accepts.
const MaxOneHot = 1000
