// Package scored writes the scores of documents, and their ranks within the query, in formats that other
// programs read.
//
// Start reading at [Write]. formats.go has the list of formats, which is also the help text. The package must
// not know where scores come from.
package scored

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/internal/parquet"
	"github.com/listwise/listwise/dataset/trec"
)

// Options select the format, and the documents to write. The zero value writes only the scores, one per line,
// in the order of the input.
type Options struct {
	// Format is one of [Formats]. "" selects the first of them.
	Format string

	// BestFirst orders a query's documents by descending score; otherwise documents keep the order of the input.
	BestFirst bool

	// Top, if positive, is the largest rank to write.
	Top int

	// Tag is the name of the system, the last field of a run. "" means [DefaultTag].
	Tag string

	// Observe, if not nil, is called after every query. It gets the number of queries written, or ranked if
	// the input's order is kept, and the total.
	Observe func(done, total int)
}

// DefaultTag is the default name of a system.
const DefaultTag = "listwise"

// document is a document to write.
type document struct {
	query, id string
	rank      int // from 1
	score     float64
	blanks    bool // some id in the file has blanks
}

// Check returns an error if the options contradict each other.
func (o *Options) Check() error {
	f, err := formatOf(o.Format)
	switch {
	case err != nil:
		return err
	case o.Top < 0:
		return fmt.Errorf("found the rank %d, expected a positive number, or 0 for all", o.Top)
	case f.alone() && (o.BestFirst || o.Top > 0):
		return fmt.Errorf("found the format %s, which has scores alone, expected another to choose or order documents", f.name)
	case o.Tag != "" && !f.tagged:
		return fmt.Errorf("found the tag %q, expected the format run, which alone has a place for it", o.Tag)
	case o.Tag != "":
		return trec.CheckField("the tag", o.Tag)
	}
	return nil
}

// Write writes the scores of d's documents; scores has one element per row. A document without an identifier
// is named by its number within the query, from 1. Documents of equal score have different ranks, in the order
// of the input. In a run they are in descending byte order of their ids, because trec_eval ignores the ranks
// and sorts in this way. Scores are the shortest decimals that read back to the same bits.
//
// Documents that were not retrieved ([dataset.NotRetrieved]) are omitted. Any other score that is not finite
// is an error. An identifier that the format cannot represent is an error. In a run, a document that a query
// has twice is an error.
func Write(w io.Writer, d *dataset.Dataset, scores []float64, o Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	if len(scores) != d.Docs() {
		panic(fmt.Sprintf("scored: %d scores for %d documents", len(scores), d.Docs()))
	}
	f, _ := formatOf(o.Format) // Check has found it
	if f.alone() {
		input := make([]float64, len(scores))
		d.ToInputOrder(input, scores)
		return letor.WriteScores(w, input)
	}
	out := &writer{w: w, format: f, tag: cmp.Or(o.Tag, DefaultTag)}
	out.blanks = f.tagged && hasBlanks(d)
	out.buf = append(out.buf, f.head...)
	if f.columns {
		out.columns = parquet.NewScores(w)
	}
	if err := out.all(d, scores, o); err != nil {
		return err
	}
	if f.columns {
		return out.columns.Close()
	}
	out.buf = append(out.buf, f.foot...)
	return out.flush(0)
}

// hasBlanks reports whether an identifier has blanks.
func hasBlanks(d *dataset.Dataset) bool {
	for i := range d.Queries {
		q := &d.Queries[i]
		if strings.Contains(q.ID, " ") {
			return true
		}
		for j := range q.Len() {
			if strings.Contains(q.DocID(j), " ") {
				return true
			}
		}
	}
	return false
}

// writer collects lines or columns.
type writer struct {
	w       io.Writer
	format  *format
	tag     string
	buf     []byte
	lines   int
	blanks  bool            // some id in the file has blanks
	columns *parquet.Scores // nil unless the format has columns
}

// all writes the documents, best first for each query, or in the order of the input.
func (out *writer) all(d *dataset.Dataset, scores []float64, o Options) error {
	bestFirst := o.BestFirst || out.format.ordered
	var ranks []int // rank of each row; 0 if it is omitted
	if !bestFirst {
		ranks = make([]int, d.Docs())
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		own := scores[q.Start : q.Start+q.Len()]
		order, err := out.order(q, own, o.Top)
		if err != nil {
			return err
		}
		for k, doc := range order {
			if !bestFirst {
				ranks[q.Start+doc] = k + 1
			} else if err := out.add(document{query: q.ID, id: name(q, doc), rank: k + 1, score: own[doc]}); err != nil {
				return err
			}
		}
		if o.Observe != nil {
			o.Observe(i+1, len(d.Queries))
		}
	}
	if bestFirst {
		return nil
	}
	return out.inInputOrder(d, scores, ranks)
}

// inInputOrder writes the documents that have ranks, in the order of the input.
func (out *writer) inInputOrder(d *dataset.Dataset, scores []float64, ranks []int) error {
	rows := make([]int, d.Docs()) // row at each input position
	for row := range rows {
		rows[row] = row
	}
	if places := d.InputRows(); places != nil {
		for row, place := range places {
			rows[place] = row
		}
	}
	of := make([]*dataset.Query, d.Docs())
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			of[q.Start+j] = q
		}
	}
	for _, row := range rows {
		if ranks[row] == 0 {
			continue
		}
		q := of[row]
		if err := out.add(document{query: q.ID, id: name(q, row-q.Start), rank: ranks[row], score: scores[row]}); err != nil {
			return err
		}
	}
	return nil
}

// order returns the indices of a query's documents, best first. top is their largest number, or 0 for all.
func (out *writer) order(q *dataset.Query, scores []float64, top int) ([]int, error) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	if out.format.ordered {
		if err := byName(order, q); err != nil {
			return nil, err
		}
	}
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 1) {
			return nil, fmt.Errorf("score %v of document %s of query %s, expected a finite number", s, name(q, i), q.ID)
		}
	}
	order = slices.DeleteFunc(order, func(i int) bool { return scores[i] == dataset.NotRetrieved })
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	if top > 0 {
		order = order[:min(top, len(order))]
	}
	return order, nil
}

// byName sorts a query's documents by descending name. It is an error if two have the same name.
func byName(order []int, q *dataset.Query) error {
	names := make([]string, len(order))
	for i := range names {
		names[i] = name(q, i)
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(strings.Compare(names[j], names[i]), i-j) })
	for k := 1; k < len(order); k++ {
		if i, j := order[k-1], order[k]; names[i] == names[j] {
			return fmt.Errorf("found document %q twice in query %q, its documents %d and %d, expected it once", names[i], q.ID, i+1, j+1)
		}
	}
	return nil
}

// name returns the name of a document: its identifier, or its number from 1.
func name(q *dataset.Query, doc int) string {
	return cmp.Or(q.DocID(doc), strconv.Itoa(doc+1))
}

// add writes a document.
func (out *writer) add(doc document) error {
	if out.columns != nil {
		return out.columns.Document(doc.query, doc.id, doc.rank, doc.score)
	}
	if out.lines > 0 {
		out.buf = append(out.buf, out.format.between...)
	}
	out.lines++
	doc.blanks = out.blanks
	var err error
	if out.buf, err = out.format.line(out.buf, doc, out.tag); err != nil {
		return err
	}
	return out.flush(1 << 15)
}

// flush writes the buffer if it has more than n bytes.
func (out *writer) flush(n int) error {
	if len(out.buf) <= n {
		return nil
	}
	_, err := out.w.Write(out.buf)
	out.buf = out.buf[:0]
	return err
}

var errTab = errors.New("expected one without tabs and line ends, or the format csv or jsonl")
