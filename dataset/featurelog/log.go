// Package featurelog makes judged queries of the answers of search engines that log features: Solr's [features],
// as JSON or CSV; _ltrlog of the learning-to-rank plugins of Elasticsearch and OpenSearch, also in _msearch; and
// matched_queries with scores. Grades come from judgements, by query and document.
//
// [ReadDocuments] returns the documents of answers with the engine's scores.
//
// Start reading at [Open]. A [Log] is a [stream.Source], so dataset/datafile writes it in any format. It reads the
// answers twice and never holds them.
package featurelog

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/trec"
)

// Absent is what a feature is that a document of a log lacks.
type Absent int

const (
	// AbsentSparse makes it 0 if documents of one answer have different features, as in sparse logs. If only answers
	// differ, the log is dense, and this is an error.
	AbsentSparse Absent = iota

	// AbsentZero makes it 0.
	AbsentZero

	// AbsentMissing makes it missing.
	AbsentMissing
)

// Options say how answers are read.
type Options struct {
	Files    []string         // "-" is Stdin
	Stdin    io.Reader        // standard input
	Queries  []string         // one for each answer, in order; nil if the answers have them
	Doc      string           // key of document ids; "" is id in Solr's answers and _id in others
	Judged   *dataset.Dataset // judgements
	Unjudged trec.Unjudged    // what becomes of documents without one
	Absent   Absent           // what absent features are

	// Context, MaxBytes, MaxFeature and Observe are as in [dataset.Options]. Observe is called in the first pass.
	Context    context.Context
	MaxBytes   int64
	MaxFeature int
	Observe    func(done, total int64)
}

// Query counts the documents of a query.
type Query struct {
	ID          string
	Documents   int // written
	Judged      int // returned and judged
	NotReturned int // judged, but in no answer
	NotJudged   int // in an answer, but not judged
	Duplicates  int // in an answer again; the first counts
}

// Log is the answers of a search engine as judged queries.
type Log struct {
	o      Options
	read   dataset.Options
	name   string // of the log in errors
	mem    *memory.Account
	scores bool // documents need scores
	files  []func(use func(in *input.Input) error) error

	// What a survey finds:
	names   []string // of features
	index   map[string]int
	queries []Query
	number  map[string]int                 // of queries
	grades  []float64                      // of every document in order, NaN for one that is left out
	answers []int                          // the query of every answer
	absent  int                            // features that documents lack
	partial int                            // answers of incomplete searches
	first   struct{ query, reason string } // of the first of them
	ranges  []span                         // of the features' values
}

// span is the smallest and the largest value of a feature.
type span struct{ low, high float32 }

// Open opens answers for use.
func Open(o Options, use func(*Log) error) error {
	l := &Log{o: o, name: "the answers", read: dataset.Options{Context: o.Context, MaxBytes: o.MaxBytes, Observe: o.Observe}}
	if len(o.Files) == 1 {
		l.name = nameOf(o.Files[0])
	}
	return l.open(o.Files, use)
}

// open opens files. Streams are copied, because answers are read twice.
func (l *Log) open(paths []string, use func(*Log) error) error {
	if len(paths) == 0 {
		return use(l)
	}
	path, r := paths[0], l.o.Stdin
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() || info.IsDir() {
			l.files = append(l.files, func(use func(in *input.Input) error) error { return input.With(path, l.read, nil, use) })
			return l.open(paths[1:], use)
		}
		f, err := input.Await(input.Context(l.read), func() (*os.File, error) { return os.Open(path) })
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // only read
		r = f
	}
	const held = 1 << 18
	return input.Spool(r, nameOf(path), l.read, nil, held, "", func(in *input.Input) error {
		l.files = append(l.files, func(use func(in *input.Input) error) error { return use(in) })
		return l.open(paths[1:], use)
	})
}

// nameOf returns the name of a file in errors.
func nameOf(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// ReadQueries reads the queries of answers, one a line. Blank lines are skipped.
func ReadQueries(path string, opts dataset.Options) (queries []string, err error) {
	err = input.With(path, opts, nil, func(in *input.Input) error {
		return pairs.EachLine(in, opts, func(_ int, text []byte) error {
			id := bytes.TrimSpace(text)
			if len(id) == 0 {
				return nil
			}
			queries = append(queries, string(id))
			return in.Mem.Take(int64(2*len(id)+32), "queries")
		})
	})
	if err == nil && queries == nil {
		err = &dataset.SyntaxError{File: path, Found: "no queries", Expected: "one a line, in the order of the answers"}
	}
	return queries, err
}

// pass visits all documents.
func (l *Log) pass(v visitor, begin func(file string)) error {
	for _, file := range l.files {
		err := file(func(in *input.Input) error {
			begin(in.Name)
			return l.each(in, v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Queries returns what the survey counted, in the order of the answers.
func (l *Log) Queries() []Query { return l.queries }

// Absent returns the number of features that documents lack, after Each.
func (l *Log) Absent() int { return l.absent }

// Close implements stream.Source.
func (l *Log) Close() error { return nil }
