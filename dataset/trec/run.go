package trec

import (
	"bytes"
	"fmt"
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/internal/suggest"
)

// Run is the rankings of one system: documents with scores for a list of queries. Any number of goroutines may
// use it.
type Run struct {
	Name string // name of the file
	Tag  string // name of the system, from the first line; "" if the run has none

	// Warnings are about ranks that contradict the scores, and about omitted documents.
	Warnings []string

	queries []string       // ids of the queries, in the order of their first lines
	index   map[string]int // index of each query
	first   []int          // index of each query's first document, and the number of all documents
	docs    dataset.DocIDs
	scores  []float64 // finite
}

// runWidths are the possible numbers of fields in a line of a run.
var runWidths = []int{6, 5, 3}

// runFields describes a line of a run for errors, by its number of fields.
var runFields = map[int]string{6: "QUERY Q0 DOCUMENT RANK SCORE TAG", 5: "QUERY Q0 DOCUMENT RANK SCORE", 3: "QUERY DOCUMENT RANK"}

// ReadRun reads a run, plain or compressed text, of lines
//
//	QUERY Q0 DOCUMENT RANK SCORE TAG
//
// The tag may be omitted from all lines. MS MARCO's lines have three fields:
//
//	QUERY DOCUMENT RANK
//
// Fields are separated by blanks or tabs. If tabs separate all fields, ids may contain blanks. Documents are
// ranked by descending score, or by ascending score with opts.Ascending. As in trec_eval, the stated ranks,
// the order of the lines and the second field do not matter. In lines of three fields, the score is the
// negated rank.
//
// [Run.Warnings] has a warning if ranks contradict the scores, and if opts.DropSelf omitted documents.
//
// Errors in the content are of type [*dataset.SyntaxError]. They are about a wrong number of fields, a rank
// that is not a whole number, a score that is not finite, or a document that a query has twice.
func ReadRun(r io.Reader, name string, opts dataset.Options) (*Run, error) {
	in, err := input.Hold(r, name, opts, nil)
	if err != nil {
		return nil, err
	}
	return runOf(in, opts)
}

// runOf does the work of ReadRun for an input.
func runOf(in *input.Input, opts dataset.Options) (*Run, error) {
	t, r, own := pairs.New(in), &Run{Name: in.Name}, 0
	var width int
	var ranks rankOrder
	err := each(in, opts, runWidths, func(line int, fields [][]byte) error {
		if width == 0 {
			width = len(fields)
		}
		if len(fields) != width || runFields[width] == "" {
			return &dataset.SyntaxError{Found: fieldCount(fields), Expected: expectedFields(width)}
		}
		doc, rank, score, err := documentOf(fields, opts.Ascending)
		if err != nil {
			return err
		}
		if width == 6 && r.Tag == "" {
			if err := pairs.CheckID("a tag", fields[5]); err != nil {
				return err
			}
			r.Tag = string(fields[5])
		}
		if opts.DropSelf && bytes.Equal(fields[0], doc) {
			own++
			return nil
		}
		if err := t.Add(line, fields[0], doc, score); err != nil {
			return err
		}
		ranks.add(t.Last(), rank, score)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t.Len() == 0 {
		found := "no documents"
		if own > 0 {
			found = fmt.Sprintf("nothing but %s", ownDocuments(own))
		}
		return nil, &dataset.SyntaxError{File: in.Name, Found: found, Expected: "lines of " + runFields[6]}
	}
	g, err := t.Group()
	if err != nil {
		return nil, err
	}
	r.queries, r.docs, r.scores = g.IDs, g.Docs, g.Values
	r.first = append(pairs.Starts(g.Counts), len(r.scores))
	r.index = make(map[string]int, len(r.queries))
	for q, id := range r.queries {
		r.index[id] = q
	}
	if own > 0 {
		r.Warnings = append(r.Warnings, "left out "+ownDocuments(own))
	}
	if w := ranks.warning(in.Name, opts.Ascending); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	return r, nil
}

// ownDocuments describes n documents that have the id of their query.
func ownDocuments(n int) string {
	if n == 1 {
		return "1 document that has the id of its query"
	}
	return fmt.Sprintf("%d documents that have the id of their query", n)
}

// documentOf returns the document, the rank and the score of a line. With ascending, it negates the score.
func documentOf(fields [][]byte, ascending bool) (doc []byte, rank, score float64, err error) {
	doc, stated := fields[1], fields[2]
	if len(fields) > 3 {
		doc, stated = fields[2], fields[3]
	}
	rank, _ = pairs.Decimal(stated)
	switch {
	case !whole(stated):
		return nil, 0, 0, &dataset.SyntaxError{Found: suggest.Quote(stated), Expected: "a rank, a whole number, in a line of " + runFields[len(fields)]}
	case len(fields) == 3 && ascending:
		return nil, 0, 0, &dataset.SyntaxError{Found: "a run without scores", Expected: "lower scores to be better: " + runFields[6]}
	case len(fields) == 3:
		return doc, rank, -rank, nil
	}
	score, ok := pairs.Decimal(fields[4])
	if !ok {
		return nil, 0, 0, &dataset.SyntaxError{Found: suggest.Quote(fields[4]), Expected: "a score, a finite number"}
	}
	if ascending {
		score = -score
	}
	return doc, rank, score, nil
}

// expectedFields describes the lines of a run whose first line has width fields.
func expectedFields(width int) string {
	if text, known := runFields[width]; known {
		return fmt.Sprintf("%d as in the lines before: %s", width, text)
	}
	return "6: " + runFields[6]
}

// rankOrder compares the ranks that a run states with its scores. It compares each line with the previous line
// of the same query.
type rankOrder struct {
	last           []rankedScore // rank and score in each query's last line
	agree, against int
}

type rankedScore struct{ rank, score float64 }

// add adds a document of query q.
func (o *rankOrder) add(q uint32, rank, score float64) {
	if int(q) == len(o.last) {
		o.last = append(o.last, rankedScore{rank, score})
		return
	}
	before := o.last[q]
	o.last[q] = rankedScore{rank, score}
	switch lower := rank > before.rank; {
	case rank == before.rank || score == before.score:
	case lower == (score < before.score):
		o.agree++
	default:
		o.against++
	}
}

// warning returns a warning if most ranks contradict the scores, otherwise "".
func (o *rankOrder) warning(name string, ascending bool) string {
	if o.against <= o.agree {
		return ""
	}
	found := fmt.Sprintf("the ranks contradict the scores for %d of %d pairs of consecutive documents", o.against, o.against+o.agree)
	if ascending {
		return found + ": documents are ranked by ascending score, as --lower-is-better says"
	}
	return found + "; documents are ranked by descending score (--lower-is-better " + name + " ranks them by ascending score)"
}

// OpenRun reads a run from a file as ReadRun does. "-" is the standard input.
func OpenRun(path string, opts dataset.Options) (*Run, error) {
	var r *Run
	err := input.With(path, opts, nil, func(in *input.Input) (err error) {
		r, err = runOf(in, opts)
		return err
	})
	return r, err
}

// Queries returns the ids of the queries, in the order of the file. The caller must not change them.
func (r *Run) Queries() []string { return r.queries }

// Docs returns the number of documents of all queries.
func (r *Run) Docs() int { return len(r.scores) }

// sizeOf returns the number of a query's documents, and the number of bytes of their identifiers.
func (r *Run) sizeOf(query string) (docs int, text int64) {
	q, ok := r.index[query]
	if !ok {
		return 0, 0
	}
	from, to := r.first[q], r.first[q+1]
	text = int64(r.docs.End[to-1])
	if from > 0 {
		text -= int64(r.docs.End[from-1])
	}
	return to - from, text
}

// Each calls visit with every document of a query and its score, in the order of the file.
func (r *Run) Each(query string, visit func(doc string, score float64)) {
	q, ok := r.index[query]
	if !ok {
		return
	}
	for i := r.first[q]; i < r.first[q+1]; i++ {
		visit(r.docs.At(i), r.scores[i])
	}
}
