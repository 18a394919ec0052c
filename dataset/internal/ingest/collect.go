package ingest

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/block"
)

// Blocks are the arrays for the documents that a worker parses.
type Blocks struct {
	Width  int       // number of columns of X
	X      []float32 // documents × Width, row-major; elements not yet written are 0
	Grades []float64
	DocEnd []uint32 // end of each document's id in the text of all ids

	Weighted bool      // documents have Weights
	Weights  []float64 // weights of the documents
}

// Allocate allocates the arrays for the given number of documents.
func (b *Blocks) Allocate(docs int) {
	b.X, b.Grades, b.DocEnd = block.New(docs*b.Width), make([]float64, docs), make([]uint32, docs)
	if b.Weighted {
		b.Weights = make([]float64, docs)
	}
}

// Row returns the features of a row.
func (b *Blocks) Row(r int) []float32 { return b.X[r*b.Width : (r+1)*b.Width : (r+1)*b.Width] }

// runWeight is the weight of a run's query, read from the first document of the run, and the line of this
// document.
type runWeight struct {
	weight float64
	line   int
}

// A Collector collects the documents that a parser reads: features, grades, queries and identifiers. It is
// used for one chunk after the other. Each worker has its own.
type Collector struct {
	*Blocks

	negative dataset.Negative
	standIns []float64 // numbers that represent missing values
	mem      *memory.Account
	ids      map[string]uint32 // index in names of each query id
	names    []string          // query ids, in the order of first occurrence
	rounded  map[int]float64   // see Rounded
	limits   []uint32          // for each feature, the largest hash for which Watch must be called
	sketches [][]sketched      // see Watch
	known    map[string]string // texts of attributes, to store each text once

	// Of the current chunk:
	runs      []run
	weights   []runWeight
	texts     []runTexts
	last      string // query id of the last document, empty at the start
	docText   []byte // concatenated document ids
	missing   int    // number of missing values
	absent    int    // number of features that documents omit
	negatives int    // number of negative grades
	row       int    // row of the next document
	drop      bool   // the current document is left out
}

// NewCollector returns a collector that writes documents to b.
func NewCollector(b *Blocks, opts dataset.Options, mem *memory.Account) *Collector {
	limits := slices.Repeat([]uint32{math.MaxUint32}, min(b.Width, maxWatched))
	return &Collector{Blocks: b, limits: limits, sketches: make([][]sketched, len(limits)), negative: opts.Negative, standIns: opts.MissingValues, mem: mem, ids: make(map[string]uint32)}
}

// Begin begins a chunk. Its first document is written to the given row, and the others to the rows after it.
func (c *Collector) Begin(row int) {
	c.runs, c.docText, c.missing, c.negatives, c.last = c.runs[:0], c.docText[:0], 0, 0, ""
	c.row, c.drop, c.weights, c.texts, c.absent = row, false, c.weights[:0], c.texts[:0], 0
}

// Next returns the row of the next document.
func (c *Collector) Next() int { return c.row }

// Grade sets the grade of the next document. It returns false if the grade is not finite, or is negative and the
// options have no policy for that.
func (c *Collector) Grade(v float64) bool {
	switch {
	case v < 0 && v >= -math.MaxFloat64 && c.negative != dataset.NegativeError:
		c.negatives++
		c.drop = c.negative == dataset.NegativeDrop
		v = 0
	case !(v >= 0 && v <= math.MaxFloat64):
		return false
	}
	c.Grades[c.row] = v + 0 // −0 becomes 0
	return true
}

// NegativeHint is the end of an error about a negative grade.
const NegativeHint = " (or --negative-grades zero or drop)"

// StandIns reports whether the options name numbers that represent missing values.
func (c *Collector) StandIns() bool { return len(c.standIns) > 0 }

// StandsIn reports whether v is a number that represents a missing value.
func (c *Collector) StandsIn(v float64) bool { return slices.Contains(c.standIns, v) }

// Query sets the query of the next document. If the id is new, Query first calls check, and returns its
// error.
func (c *Collector) Query(id []byte, check func(id []byte) error) error {
	if c.drop {
		return nil
	}
	if string(id) == c.last && c.last != "" {
		c.runs[len(c.runs)-1].docs++
		return nil
	}
	number, known := c.ids[string(id)]
	if !known {
		if err := check(id); err != nil {
			return err
		}
		number = uint32(len(c.names))
		c.names = append(c.names, string(id))
		c.ids[c.names[number]] = number
	}
	c.last = c.names[number]
	c.runs = append(c.runs, run{number, 1})
	return nil
}

// Weight sets the weight of the next document. The blocks must be Weighted.
func (c *Collector) Weight(w float64) {
	if !c.drop {
		c.Weights[c.row] = w
	}
}

// QueryWeight sets the weight of the next document's query. It must be called after Query. line is the
// line of the document. It is an error if the weight differs from that of the document before in the same
// query.
func (c *Collector) QueryWeight(w float64, line int) error {
	if c.drop {
		return nil
	}
	if c.runs[len(c.runs)-1].docs == 1 {
		c.weights = append(c.weights, runWeight{w, line})
		return nil
	}
	if first := c.weights[len(c.weights)-1].weight; w != first {
		return unequalWeights(c.last, w, first)
	}
	return nil
}

// Doc sets the identifier of the next document.
func (c *Collector) Doc(id []byte) {
	if !c.drop {
		c.docText = append(c.docText, id...)
	}
}

// Absent records that the text omits the given number of features of the next document. These features are 0.
func (c *Collector) Absent(features int) {
	if !c.drop {
		c.absent += features
	}
}

// Done completes the current document, which has the given number of missing values.
func (c *Collector) Done(missing int) {
	if c.drop {
		c.drop = false
		clear(c.Row(c.row))
		return
	}
	c.missing += missing
	if len(c.docText) > 0 {
		c.DocEnd[c.row] = uint32(len(c.docText))
	}
	c.row++
}

// Identifier returns what an error about an invalid identifier expects, such as "in UTF-8". It returns ""
// if the identifier is valid.
func Identifier(id []byte) string {
	switch {
	case !utf8.Valid(id):
		return "in UTF-8"
	case hasControl(id):
		return "without control characters"
	}
	return ""
}

// hasControl reports whether an identifier in UTF-8 contains control characters.
func hasControl(id []byte) bool {
	for _, c := range id {
		if c < ' ' || c >= 0x7f {
			return slices.ContainsFunc([]rune(string(id)), unicode.IsControl)
		}
	}
	return false
}
