package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Blocks are the parts of a Dataset as a reader of files fills them. [FromBlocks] neither checks nor copies
// them. The rows of a query must be contiguous, and ids of queries distinct. Grades must be finite and
// non-negative, and features finite or NaN. A [Builder], for generated data, checks them.
type Blocks struct {
	Features     int      // columns of X
	FeatureNames []string // one a column, or nil
	Warnings     []string

	X      []float32 // row-major, documents × Features; best allocated by internal/block
	Grades []float64 // one a document

	// Matrix, if not nil, takes the place of X: the data set is streamed.
	Matrix Matrix

	Docs DocIDs // of all documents, in the order of the rows

	// Weights has a weight a document, and QueryWeights one a query, or they are nil: finite,
	// not negative and not all 0. See [Dataset.Weigh].
	Weights, QueryWeights []float64

	// Attributes has the attributes of every query, one for each of the AttributeNames; both are
	// nil if there are none.
	AttributeNames []string
	Attributes     [][]string

	IDs    []string // of the queries
	Counts []int    // their numbers of documents, each at least 1

	// InputRow[r] is the place of row r among the input's documents; nil if rows keep the input's order.
	InputRow []int

	Missing int // number of NaN in X
	Filled  int // number of missing values that were replaced
	Absent  int // number of zeros in X for features that the input left out

	// Fingerprint is what [Dataset.Fingerprint] returns if the file has it, else "".
	Fingerprint string

	// File is the mapped file that X and Grades are views of, nil if they are not.
	// [Dataset.Close] closes it.
	File File
}

// File is a mapped file.
type File interface {
	Changed() error // an error, which wraps [ErrChanged], if the file is another one than when it was mapped
	Close() error
}

// FromBlocks makes a Dataset of blocks, which the caller must not use afterwards.
func FromBlocks(b Blocks) *Dataset {
	d := &Dataset{
		Features:     b.Features,
		FeatureNames: b.FeatureNames,
		Warnings:     b.Warnings,
		x:            b.X,
		grades:       b.Grades,
		inputRow:     b.InputRow,
		missing:      b.Missing,
		filled:       b.Filled,
		absent:       b.Absent,
		file:         b.File,
		matrix:       b.Matrix,
		streamed:     b.Matrix != nil,
	}
	d.cut(b.IDs, b.Counts, b.Docs)
	d.weigh(b.QueryWeights, b.Weights)
	if d.AttributeNames = b.AttributeNames; d.AttributeNames != nil {
		for i := range d.Queries {
			d.Queries[i].Attributes = b.Attributes[i]
		}
	}
	if b.Fingerprint != "" {
		d.remember(b.Fingerprint)
	}
	return d
}

// cut makes the queries from their ids and numbers of documents, as views of
// the blocks.
func (d *Dataset) cut(ids []string, counts []int, docs DocIDs) {
	d.Queries = make([]Query, len(ids))
	var origins []origin
	if d.streamed {
		origins = make([]origin, len(ids))
	}
	row := 0
	for i, n := range counts {
		end, f := row+n, d.Features
		q := Query{
			ID:     ids[i],
			Start:  row,
			Grades: d.grades[row:end:end],
		}
		if d.streamed {
			from := &origins[i]
			from.matrix, from.place = d.matrix, i
			q.from = from
		} else {
			q.X = d.x[row*f : end*f : end*f]
		}
		if docs.End != nil {
			q.docs = DocIDs{Text: docs.Text, End: docs.End[row:end:end]}
			if row > 0 {
				q.docs.base = docs.End[row-1]
			}
		}
		d.Queries[i] = q
		row = end
	}
}

// InputRows returns the place of every row among the input's documents, or nil if rows keep the input's order. A
// file format that stores the rows stores it too. It must not be changed; see [Dataset.ToInputOrder] for its
// use.
func (d *Dataset) InputRows() []int { return d.inputRow }

// InputDocument returns the number from 1 of a row's document among the input's.
func (d *Dataset) InputDocument(row int) int {
	if d.inputRow != nil {
		row = d.inputRow[row]
	}
	return row + 1
}

// KeepsDocIDs reports whether the input had identifiers of documents, even if all that
// are left are empty. See [Dataset.HasDocIDs].
func (d *Dataset) KeepsDocIDs() bool {
	return slices.ContainsFunc(d.Queries, func(q Query) bool { return q.docs.End != nil })
}

// DocIDs are the identifiers of a query's documents. Document i has Text[End[i-1]:End[i]], the first from base
// on. So a million of them cost a few bytes each and no pointers. The zero value has none.
type DocIDs struct {
	Text string
	End  []uint32 // nil if there are no identifiers
	base uint32
}

// At returns the identifier of document i, "" if there are none.
func (d DocIDs) At(i int) string {
	if d.End == nil {
		return ""
	}
	from := d.base
	if i > 0 {
		from = d.End[i-1]
	}
	return d.Text[from:d.End[i]]
}

// Pick returns the identifiers of the given documents.
func (d DocIDs) Pick(docs []int) DocIDs {
	if d.End == nil {
		return DocIDs{}
	}
	var text strings.Builder
	end := make([]uint32, len(docs))
	for k, i := range docs {
		text.WriteString(d.At(i))
		end[k] = uint32(text.Len())
	}
	return DocIDs{Text: text.String(), End: end}
}

// ScatteredWarning says that the documents of n queries of a file, of which first is the
// first, stood in several places and were put together.
func ScatteredWarning(name string, n int, first string) string {
	if n == 1 {
		return fmt.Sprintf("%s: the documents of query %q stand in several places and were put together", name, first)
	}
	return fmt.Sprintf("%s: the documents of %d queries (%q is the first) stand in several places and were put together", name, n, first)
}
