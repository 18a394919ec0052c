// Package stream visits judged queries some documents at a time. So a file is converted without having all its
// features in memory.
//
// Start reading at [Source], which a format implements, and at [Plan], which joins sources. The package must not
// know any format.
package stream

// Source is an input of judged documents that can be visited any number of times, in the order of the input. It
// is used by one goroutine at a time.
type Source interface {
	// Survey visits the runs of documents without their features, and returns what all of them have in common.
	// Each finds mistakes that Survey passes over.
	Survey(visit func(runs []Run) error) (Shape, error)

	// Each visits the documents with the given number of columns, at least the Shape's; added columns are 0. An
	// error of visit ends it and is returned.
	Each(columns int, visit func(b *Batch) error) error

	// Close releases what the source holds.
	Close() error
}

// Shape describes all documents of a source after a survey.
type Shape struct {
	Features     int
	FeatureNames []string  // one a feature, or nil
	Fixed        bool      // there are no features beyond these, as there are none beyond a table\'s columns
	DocIDs       bool      // documents have identifiers, be they empty
	DocWeights   bool      // some documents have weights other than 1: every Batch has Weights
	QueryWeights []float64 // one a query, in the order in which they were first met, or nil if all are 1

	AttributeNames []string   // of the queries, or nil
	Attributes     [][]string // of the queries, in the order in which they were first met, or nil
	Reordered      bool       // the documents are in another order than in an input of theirs: every Batch has InputRow
	Warnings       []string

	Later func() []string // unless nil, warnings that are known after Each
}

// Run is a number of successive documents of one query.
type Run struct {
	ID    string
	Docs  int
	Bytes int // in a survey: of the documents' identifiers, as many as Each tells

	query int // its number in a Plan
}

// Batch is some successive documents. It may be changed, but is valid only during the call of visit.
type Batch struct {
	Runs   []Run     // the queries of the documents, in order
	Grades []float64 // finite and non-negative
	X      []float32 // row-major, documents × columns; finite, or NaN where missing

	Absent int // number of zeros in X for features that the input left out, 0 if that is not known

	Weights []float64 // of the documents; nil unless the source has DocWeights, and in a Part unless its Plan has

	// The identifiers of the documents, one behind the other, and where each ends; both
	// nil where none has one.
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

// BatchBytes is about the largest size of the features of a Batch, unless one document takes more.
const BatchBytes = 4 << 20

// BatchDocs returns the largest number of documents that a Batch with the given number of columns should have.
func BatchDocs(columns int) int { return max(1, BatchBytes/(4*columns+16)) }
