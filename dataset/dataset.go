// Package dataset represents judged queries in memory: the feature vectors, relevance grades and identifiers
// of their documents. It describes data ([Describe]), prepares them for training (cleaning, missing values,
// normalization) and divides them into folds.
//
// Start reading at [Dataset] and [Query]. Package dataset/datafile reads and writes files of all formats.
// [FromRows] makes a Dataset of documents in memory, and a [Builder] makes one query by query. The readers of
// the formats use [FromBlocks]. The package must not depend on file formats, measures, losses or models.
package dataset

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/block"
)

// Dataset is a list of judged queries over a common set of features.
//
// All feature vectors lie in one contiguous row-major float32 block, and each Query has a slice of it. The rows
// of query i follow the rows of query i−1. A Dataset that is no longer changed may be read by any number of
// goroutines.
type Dataset struct {
	// Features is the number of columns of every feature matrix. Column j is feature j+1 of LETOR text.
	Features int

	// FeatureNames has one name per column. It is nil if the source had no names.
	FeatureNames []string

	// AttributeNames are the names of the queries' Attributes, or nil.
	AttributeNames []string

	// IgnoreOthers makes a model with named features ignore features that it does not know. Otherwise such
	// features are an error.
	IgnoreOthers bool

	// AbsentMissing is the option of this name with which the data were read, see [Options]. A model stores
	// the value of its training data.
	AbsentMissing bool

	// Queries are in the order in which their ids first appeared.
	Queries []Query

	// Warnings are sentences for the user about what a reader merged, changed or omitted.
	Warnings []string

	x       []float32 // the block, len = documents × Features
	grades  []float64 // the block of grades, len = documents
	weights []float64 // the block of document weights, nil if all are 1

	// inputRow[r] is the input position of row r. It is nil if rows keep the input's order.
	inputRow []int

	missing int // number of NaN in x
	filled  int // number of missing values that FillMissing replaced
	absent  int // number of features that lines omit; they are 0

	// file is the mapped file behind x and grades. It is nil if both are in ordinary memory.
	file File

	matrix   Matrix // features of a file that is read query by query, or nil
	streamed bool   // features are read on request, and x is nil

	sources []*Dataset // data sets from which a streamed data set reads

	fingerprint remembered // guarded by fingerprints
}

// Query is a query with its documents.
type Query struct {
	// ID is the query's identifier as written in the input.
	ID string

	// Start is the row of the first document within the Dataset. So scores[q.Start:q.Start+q.Len()] are the
	// scores of the query's documents.
	Start int

	// Grades are the relevance grades: finite, non-negative, higher is better.
	Grades []float64

	// X is the Len() × Features row-major matrix of feature vectors. It is nil if the data set is streamed,
	// see [RowReader].
	X []float32

	// Attributes are the values of the data set's AttributeNames for the query, "" for none; see
	// [TableOptions].
	Attributes []string

	docs DocIDs
	from *origin // source of the features of a streamed data set; nil if they are in X

	weighted bool      // the query has a weight
	weight   float64   // weight of the query, if weighted
	weights  []float64 // weights of the documents; nil if all documents of the data set have weight 1
}

// Len returns the number of documents.
func (q *Query) Len() int { return len(q.Grades) }

// Row returns the feature vector of document i. It is a view of X.
func (q *Query) Row(i int) []float32 {
	d := len(q.X) / max(len(q.Grades), 1)
	return q.X[i*d : (i+1)*d : (i+1)*d]
}

// DocID returns the identifier of document i, or "" if the input had none.
func (q *Query) DocID(i int) string { return q.docs.At(i) }

// Docs returns the total number of documents.
func (d *Dataset) Docs() int { return len(d.grades) }

// X returns the Docs() × Features row-major block of all feature vectors, or nil if the data set is streamed.
// A caller that changes it must call Modified afterwards.
func (d *Dataset) X() []float32 { return d.x }

// Grades returns the grades of all documents, in the order of the rows of X. A caller that changes them must
// call Modified afterwards.
func (d *Dataset) Grades() []float64 { return d.grades }

// ToInputOrder copies one value per row, such as a score, to dst in the order of the input's documents. dst
// and rows must have Docs() elements and must not overlap.
func (d *Dataset) ToInputOrder(dst, rows []float64) {
	d.checkRows(dst, rows)
	if d.inputRow == nil {
		copy(dst, rows)
		return
	}
	for r, in := range d.inputRow {
		dst[in] = rows[r]
	}
}

// FromInputOrder is the inverse of ToInputOrder. It copies one value per input document to dst, in the order
// of the rows.
func (d *Dataset) FromInputOrder(dst, input []float64) {
	d.checkRows(dst, input)
	if d.inputRow == nil {
		copy(dst, input)
		return
	}
	for r, in := range d.inputRow {
		dst[r] = input[in]
	}
}

func (d *Dataset) checkRows(a, b []float64) {
	if len(a) != d.Docs() || len(b) != d.Docs() {
		panic(fmt.Sprintf("dataset: %d and %d values for %d documents", len(a), len(b), d.Docs()))
	}
}

// Builder assembles a Dataset query by query. The zero value is ready to use. It is meant for generated data
// and tests; readers of files use [FromBlocks].
type Builder struct {
	features int
	ids      []string
	counts   []int
	grades   []float64
	x        []float32
	docText  []byte
	docEnd   []uint32
	known    map[string]bool
}

// Add appends a query with len(grades) documents. x is the row-major matrix of their feature vectors, with the
// same number of columns in every call. docs is nil or has one identifier per document. Add copies the slices.
//
// Add returns an error for a query without documents, for an id that was added before, and for slices of other
// lengths. Grades must be finite and not negative, and features finite. [FromRows] accepts missing values.
func (b *Builder) Add(id string, grades []float64, x []float32, docs []string) error {
	n := len(grades)
	switch {
	case n == 0:
		return fmt.Errorf("query %q: no documents", id)
	case len(x)%n != 0 || len(x) == 0:
		return fmt.Errorf("query %q: %d feature values for %d documents", id, len(x), n)
	case b.features != 0 && len(x)/n != b.features:
		return fmt.Errorf("query %q: %d features, expected %d", id, len(x)/n, b.features)
	case docs != nil && len(docs) != n:
		return fmt.Errorf("query %q: %d document ids for %d documents", id, len(docs), n)
	case b.known[id]:
		return fmt.Errorf("query %q: added twice", id)
	}
	for i, g := range grades {
		if !(g >= 0) || math.IsInf(g, 1) {
			return fmt.Errorf("query %q: grade %v of document %d, expected a finite non-negative number", id, g, i+1)
		}
	}
	for i, v := range x {
		if v != v || math.IsInf(float64(v), 0) {
			width := len(x) / n
			return fmt.Errorf("query %q: feature %d of document %d is %v, expected a finite number", id, i%width+1, i/width+1, v)
		}
	}
	if b.known == nil {
		b.known = make(map[string]bool)
	}
	b.known[id] = true
	b.features = len(x) / n
	b.ids = append(b.ids, id)
	b.counts = append(b.counts, n)
	b.grades = append(b.grades, grades...)
	b.x = append(b.x, x...)
	for i := range n {
		if docs != nil {
			b.docText = append(b.docText, docs[i]...)
		}
		b.docEnd = append(b.docEnd, uint32(len(b.docText)))
	}
	return nil
}

// Dataset returns the queries added so far. The Builder must not be used
// afterwards.
func (b *Builder) Dataset() *Dataset {
	d := &Dataset{Features: b.features, x: b.x, grades: b.grades}
	if len(b.x) >= block.Huge {
		d.x = block.New(len(b.x))
		copy(d.x, b.x)
	}
	docs := DocIDs{Text: string(b.docText), End: b.docEnd}
	if len(b.docText) == 0 {
		docs = DocIDs{}
	}
	d.cut(b.ids, b.counts, docs)
	return d
}
