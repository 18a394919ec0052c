// Package stream visits the documents of judged queries in batches. A file can then be converted without
// all its features in memory.
//
// Start reading at [Source], which a format implements, and at [Plan], which joins sources. The package must not
// know any format.
package stream

// Source is an input of judged documents that can be visited any number of times, in the order of the input. It
// is used by one goroutine at a time.
type Source interface {
	// Survey visits the runs of documents without their features. It returns a description of the whole
	// source. Errors in features, which it skips, are found by Each.
	Survey(visit func(runs []Run) error) (Shape, error)

	// Each visits the documents with their features. columns is the number of columns, at least that of the
	// Shape; added columns are 0. Each stops at the first error of visit and returns it.
	Each(columns int, visit func(b *Batch) error) error

	// Close releases the resources of the source.
	Close() error
}

// Shape describes all documents of a source after a survey.
type Shape struct {
	Features     int
	FeatureNames []string  // one per feature, or nil
	Fixed        bool      // no features can be added, as in a table, whose columns are known
	DocIDs       bool      // documents have identifiers, which may be empty
	DocWeights   bool      // some documents have weights other than 1, and every Batch has Weights
	QueryWeights []float64 // one for each query, in the order of first occurrence; nil if all are 1

	AttributeNames []string   // of the queries, or nil
	Attributes     [][]string // one list for each query, in the order of first occurrence, or nil
	Reordered      bool       // the order of the documents is not that of the original input; every Batch has InputRow
	Warnings       []string

	Later func() []string // if not nil, returns warnings that are known only after Each
}

// Run is a number of successive documents of one query.
type Run struct {
	ID    string
	Docs  int
	Bytes int // in a survey, the number of bytes of the documents' identifiers

	query int // index of the query in a Plan
}

// Batch is a sequence of documents, adjacent in the source. The visitor may change it. It is valid only
// during the call of visit.
type Batch struct {
	Runs   []Run     // the queries of the documents, in order
	Grades []float64 // finite and non-negative
	X      []float32 // row-major, documents × columns; finite, or NaN where missing

	Absent int // number of zeros in X for features that the input omits; 0 if not known

	Weights []float64 // of the documents; nil without DocWeights in the Shape, or in the Plan for a Part

	// DocText has the concatenated identifiers of the documents, and DocEnd the end of each one in it.
	// Both are nil if no document has an identifier.
	DocText []byte
	DocEnd  []uint32

	InputRow []int // see [dataset.Blocks]; nil unless the source is Reordered
}

// DocID returns the identifier of a document, "" if it has none.
func (b *Batch) DocID(i int) string {
	if b.DocEnd == nil {
		return ""
	}
	from := uint32(0)
	if i > 0 {
		from = b.DocEnd[i-1]
	}
	return string(b.DocText[from:b.DocEnd[i]])
}

// BatchBytes is the approximate limit of the size of a Batch's features. A single larger document is a
// Batch, too.
const BatchBytes = 4 << 20

// BatchDocs returns the number of documents with the given number of columns that fit in a Batch.
func BatchDocs(columns int) int { return max(1, BatchBytes/(4*columns+16)) }
