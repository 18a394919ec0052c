package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Blocks are the parts of a Dataset, as readers of files fill them. [FromBlocks] neither checks nor copies
// them. The rows of a query must be contiguous, and ids of queries distinct. Grades must be finite and
// non-negative, and features finite or NaN. For generated data there is a [Builder], which checks its
// arguments.
type Blocks struct {
	Features     int      // number of columns of X
	FeatureNames []string // one per column, or nil
	Warnings     []string // see [Dataset]

	X      []float32 // row-major, documents × Features; readers of this module allocate it by internal/block
	Grades []float64 // one per document

	// Matrix, if not nil, replaces X. The data set is then streamed.
	Matrix Matrix

	Docs DocIDs // identifiers of all documents, in the order of the rows

	// Weights has one weight per document, and QueryWeights one per query. Both may be nil. Weights must be
	// finite, not negative and not all 0. See [Dataset.Weigh].
	Weights, QueryWeights []float64

	AttributeNames []string   // names of the attributes of queries; nil if there are none
	Attributes     [][]string // by query, its value of each attribute; nil if there are none

	IDs    []string // ids of the queries
	Counts []int    // number of documents of each query, at least 1

	// InputRow[r] is the input position of row r. It is nil if rows keep the input's order.
	InputRow []int

	Missing int // number of NaN in X
	Filled  int // number of missing values that were replaced
	Absent  int // number of zeros in X for features that the input omits

	// Fingerprint is the result of [Dataset.Fingerprint] if the file has it, otherwise "".
	Fingerprint string

	// File is the mapped file behind X and Grades. It is nil if both are in ordinary memory. [Dataset.Close]
	// closes it.
	File File
}

// File is a mapped file.
type File interface {
	Changed() error // returns an error, which wraps [ErrChanged], if the file was changed or replaced after mapping
	Close() error   // unmaps the file
}

// FromBlocks returns a Dataset made of b. The caller must not use b afterwards.
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

// cut makes the queries, as views of the blocks, from their ids and numbers of documents.
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

// InputRows returns the input position of every row, or nil if rows keep the input's order. A file format that
// stores the rows stores it, too. The caller must not change it. See [Dataset.ToInputOrder] for its use.
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

// DocIDs are the identifiers of a query's documents. The identifier of document i is Text[End[i-1]:End[i]];
// that of document 0 begins at an offset that is not exported. In this form an identifier takes four bytes
// and its text, and no pointer. The zero value has no identifiers.
type DocIDs struct {
	Text string   // all identifiers, one after the other
	End  []uint32 // the end of each in Text; nil if there are no identifiers
	base uint32
}

// At returns the identifier of document i, or "" if there are none.
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

// ScatteredWarning returns the warning that the documents of n queries of a file were not adjacent and were
// reordered. first is the first such query.
func ScatteredWarning(name string, n int, first string) string {
	if n == 1 {
		return fmt.Sprintf("%s: the documents of query %q were scattered and have been put together", name, first)
	}
	return fmt.Sprintf("%s: the documents of %d queries (the first is %q) were scattered and have been put together", name, n, first)
}
