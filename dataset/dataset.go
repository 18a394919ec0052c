// Package dataset holds judged queries in memory: their documents' feature vectors,
// relevance grades and identifiers. It describes them ([Describe]), changes them before
// training (cleaning, missing values, normalization) and divides them into folds.
//
// Start reading at [Dataset] and [Query]. The package must not know of file formats,
// measures, losses or models. Formats have packages of their own, which make a Dataset
// with [FromBlocks]; dataset/datafile reads and writes all of them.
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
	// Features is the number of columns of every feature matrix. Column j is
	// the feature that LETOR text calls j+1.
	Features int

	// FeatureNames has one name a column, or is nil when the source had none.
	FeatureNames []string

	// AttributeNames are the names of the queries' Attributes, nil if they have none.
	AttributeNames []string

	// IgnoreOthers makes a model with named features ignore features that it does not know. Otherwise such
	// features are an error.
	IgnoreOthers bool

	// AbsentMissing is how the data were read: see [Options]. A model learns it from its
	// training data.
	AbsentMissing bool

	// Queries are in the order in which their ids first appeared.
	Queries []Query

	// Warnings are sentences for the user about what a reader merged, mapped or left
	// out.
	Warnings []string

	x       []float32 // the block, len = documents × Features
	grades  []float64 // the block of grades, len = documents
	weights []float64 // the block of documents' weights, nil if all are 1

	// inputRow[r] is the place of row r among the input's documents; nil if rows keep the input's order.
	inputRow []int

	missing int // number of NaN in x
	filled  int // number of missing values that FillMissing replaced
	absent  int // number of features that lines left out, which are 0

	// file is the mapped file that x and grades are views of; nil if they are not.
	file File

	matrix   Matrix // the features of a file that is read query by query, nil if they are not
	streamed bool   // features are read as they are asked for, and x is nil

	sources []*Dataset // that a streamed data set was made of

	fingerprint remembered // guarded by fingerprints
}

// Query is one query's documents.
type Query struct {
	// ID is the query's identifier as written in the input.
	ID string

	// Start is the row of the first document within the Dataset, so that
	// scores[q.Start:q.Start+q.Len()] are this query's.
	Start int

	// Grades are the relevance grades: finite, non-negative, higher is better.
	Grades []float64

	// X is the Len() × Features row-major matrix of feature vectors; nil if the data set is
	// streamed, see [RowReader].
	X []float32

	// Attributes are what a table says of the query, one for each of the data set's
	// AttributeNames, "" where it says nothing; see [TableOptions].
	Attributes []string

	docs DocIDs
	from *origin // of the features of a streamed data set, nil if X has them

	weighted bool      // the query has a weight
	weight   float64   // it
	weights  []float64 // of the documents, nil if all of the data set are 1
}

// Len returns the number of documents.
func (q *Query) Len() int { return len(q.Grades) }

// Row returns the feature vector of document i, a view into the Dataset.
func (q *Query) Row(i int) []float32 {
	d := len(q.X) / max(len(q.Grades), 1)
	return q.X[i*d : (i+1)*d : (i+1)*d]
}

// DocID returns the identifier of document i, or "" if the input had none.
func (q *Query) DocID(i int) string { return q.docs.At(i) }

// Docs returns the number of documents of all queries.
func (d *Dataset) Docs() int { return len(d.grades) }

// X returns the Docs() × Features row-major block of all feature vectors, nil if the data set is
// streamed. Whoever writes to it calls Modified afterwards.
func (d *Dataset) X() []float32 { return d.x }

// Grades returns the grades of all documents, in the order of the rows of X.
// Whoever writes to them calls Modified afterwards.
func (d *Dataset) Grades() []float64 { return d.grades }

// ToInputOrder copies one value per row (scores, say) to dst in the order of
// the input's documents; both have Docs() elements and must not overlap.
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

// FromInputOrder is the inverse of ToInputOrder: it copies one value per input
// document to dst in the order of the rows.
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

// Builder assembles a Dataset query by query; the zero value is ready to use.
// It is meant for generated data and tests: readers of files fill the blocks
// directly, see [FromBlocks].
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

// Add appends a query with len(grades) documents, whose feature vectors are the
// rows of x (row-major, the same number of columns in every call). docs may be
// nil or have one identifier a document. The slices are copied.
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
