package trec

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/input"
)

// Run is the rankings of one system: scored documents of queries. It may be read by any
// number of goroutines.
type Run struct {
	Name string // of the file
	Tag  string // of the system, from the first line

	queries []string       // in the order of their first lines
	index   map[string]int // of queries
	first   []int          // document of each query, and the number of all documents
	docs    dataset.DocIDs
	scores  []float64 // finite
}

// ReadRun reads a run, lines of
//
//	QUERY Q0 DOCUMENT RANK SCORE TAG
//
// separated by blanks or tabs, as plain or compressed text. Documents are ranked by
// descending score; as for trec_eval, the ranks stated are not looked at, nor is the order
// of the lines or the second field.
//
// Errors in the content are of type [*dataset.SyntaxError]: another number of fields, a rank
// that is no whole number, a score that is no finite one, a document that a query has twice.
func ReadRun(in *input.Input, opts dataset.Options) (*Run, error) {
	t := newTable(in)
	r := &Run{Name: in.Name}
	err := each(in, opts, func(line int, fields [][]byte) error {
		if len(fields) != 6 {
			return &dataset.SyntaxError{Found: fieldCount(fields), Expected: "6: QUERY Q0 DOCUMENT RANK SCORE TAG"}
		}
		if !whole(fields[3]) {
			return &dataset.SyntaxError{Found: quote(fields[3]), Expected: "a rank, a whole number"}
		}
		score, ok := decimal(fields[4])
		if !ok {
			return &dataset.SyntaxError{Found: quote(fields[4]), Expected: "a score, a finite number"}
		}
		if r.Tag == "" {
			if err := checkID("a tag", fields[5]); err != nil {
				return err
			}
			r.Tag = string(fields[5])
		}
		return t.add(line, fields[0], fields[2], score)
	})
	if err != nil {
		return nil, err
	}
	if len(t.of) == 0 {
		return nil, &dataset.SyntaxError{File: in.Name, Found: "no documents", Expected: "lines of QUERY Q0 DOCUMENT RANK SCORE TAG"}
	}
	counts, docs, err := t.group()
	if err != nil {
		return nil, err
	}
	r.queries, r.docs, r.scores = t.ids, docs, t.values
	r.first = append(starts(counts), len(r.scores))
	r.index = make(map[string]int, len(r.queries))
	for q, id := range r.queries {
		r.index[id] = q
	}
	return r, nil
}

// OpenRun is ReadRun for a file; "-" is the standard input.
func OpenRun(path string, opts dataset.Options) (*Run, error) {
	var r *Run
	err := input.With(path, opts, nil, func(in *input.Input) (err error) {
		r, err = ReadRun(in, opts)
		return err
	})
	return r, err
}

// Queries returns the ids of the queries, in the order of the file. It must not be changed.
func (r *Run) Queries() []string { return r.queries }

// Docs returns the number of documents of all queries.
func (r *Run) Docs() int { return len(r.scores) }

// Each calls visit with every document of a query, in the order of the file, and its score.
func (r *Run) Each(query string, visit func(doc string, score float64)) {
	q, ok := r.index[query]
	if !ok {
		return
	}
	for i := r.first[q]; i < r.first[q+1]; i++ {
		visit(r.docs.At(i), r.scores[i])
	}
}
