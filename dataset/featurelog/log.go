// Package featurelog makes judged queries of the answers of search engines that log features: Solr's [features],
// as JSON or CSV; _ltrlog of the learning-to-rank plugins of Elasticsearch and OpenSearch, also in _msearch; and
// matched_queries with scores. Grades come from judgements, by query and document.
//
// Start reading at [Open]. A [Log] is a [stream.Source], so dataset/datafile writes it in any format. It reads the
// answers twice and never holds them.
package featurelog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/dataset/trec"
	"github.com/listwise/listwise/internal/suggest"
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
	Folder   string           // for temporary files of streams; "" is the system's
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
	o     Options
	read  dataset.Options
	name  string // of the log in errors
	mem   *memory.Account
	files []func(use func(in *input.Input) error) error

	// What a survey finds:
	names   []string // of features
	index   map[string]int
	queries []Query
	number  map[string]int // of queries
	grades  []float64      // of every document in order, NaN for one that is left out
	answers []int          // the query of every answer
	absent  int            // features that documents lack
	ranges  []span         // of the features' values
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
	return input.Spool(r, nameOf(path), l.read, nil, held, l.o.Folder, func(in *input.Input) error {
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

// surveyor finds the queries, the features and the grades of a log.
type surveyor struct {
	*Log
	visit func(runs []stream.Run) error
	file  string

	ids  []byte // of the documents of the answer
	ends []int
	docs int // of all answers

	last      []int // the features of the document before
	stamps    []int // of the features: the last document that has it
	sparse    bool
	named     bool
	unlogged  *dataset.SyntaxError // about the first document without a log
	differing *dataset.SyntaxError // about the first answer with other features

	seen   map[[16]byte]struct{} // documents of queries
	judged map[string]float64    // of the query of the last answer
	of     int                   // that query
	lists  map[string]*dataset.Query
}

// Survey implements stream.Source.
func (l *Log) Survey(visit func(runs []stream.Run) error) (stream.Shape, error) {
	l.mem = memory.New(l.name, l.read)
	l.index, l.number = make(map[string]int), make(map[string]int)
	s := &surveyor{Log: l, visit: visit, seen: make(map[[16]byte]struct{}), of: -1, lists: make(map[string]*dataset.Query)}
	for i := range l.o.Judged.Queries {
		q := &l.o.Judged.Queries[i]
		s.lists[q.ID] = q
	}
	if err := l.pass(s, func(file string) { s.file = file }); err != nil {
		return stream.Shape{}, err
	}
	if err := s.check(); err != nil {
		return stream.Shape{}, err
	}
	l.read.Observe = nil
	return stream.Shape{Features: len(l.names), FeatureNames: l.names, Fixed: true, DocIDs: true, Later: l.constants}, nil
}

// check returns an error about the whole log.
func (s *surveyor) check() error {
	kept, judged := 0, 0
	for i := range s.queries {
		q := &s.queries[i]
		kept, judged = kept+q.Documents, judged+q.Judged
		if list := s.lists[q.ID]; list != nil {
			q.NotReturned = list.Len() - q.Judged
		}
	}
	first := &s.o.Judged.Queries[0]
	switch {
	case s.o.Queries != nil && len(s.answers) != len(s.o.Queries):
		return &dataset.SyntaxError{File: s.name, Found: fmt.Sprintf("%d answers", len(s.answers)), Expected: fmt.Sprintf("%d, one for every query of --queries", len(s.o.Queries))}
	case s.unlogged != nil && !s.named:
		return s.unlogged
	case s.docs == 0:
		return &dataset.SyntaxError{File: s.name, Found: "answers without documents", Expected: "documents with logged features"}
	case s.differing != nil && !s.sparse && s.o.Absent == AbsentSparse:
		return s.differing
	case judged == 0:
		return &dataset.SyntaxError{
			File:     s.name,
			Found:    fmt.Sprintf("no judged document; the answers have queries such as %q", s.queries[0].ID),
			Expected: fmt.Sprintf("those of the judgements, such as %q with document %q", first.ID, first.DocID(0)),
		}
	}
	return nil
}

// document implements visitor.
func (s *surveyor) document(d *document) error {
	if len(d.id) == 0 {
		return &dataset.SyntaxError{Found: fmt.Sprintf("document %d of the answer without an id", len(s.ends)+1), Expected: "the key " + cmp.Or(s.o.Doc, "id or _id") + "; --doc names another"}
	}
	if err := pairs.CheckID("a document id", d.id); err != nil {
		return err
	}
	if !d.logged && s.unlogged == nil {
		s.unlogged = &dataset.SyntaxError{
			File: s.file, Line: d.line, Found: fmt.Sprintf("document %s without logged features", suggest.Quote(d.id)),
			Expected: "[features] (fl=id,[features] in Solr), fields._ltrlog, or matched_queries with scores",
		}
	}
	s.sparse, s.named = s.sparse || d.sparse, s.named || d.sparse
	s.docs++
	s.ids = append(s.ids, d.id...)
	s.ends = append(s.ends, len(s.ids))
	if s.same(d) {
		return nil
	}
	before := s.last
	s.last = make([]int, len(d.features))
	for i, f := range d.features {
		j, err := s.feature(d, f.name)
		if err != nil {
			return err
		}
		s.last[i] = j
	}
	other, lacks := s.differs(before)
	switch {
	case other < 0 || s.docs == 1:
	case len(s.ends) > 1:
		s.sparse = true
	case s.differing == nil:
		verb := "has"
		if lacks {
			verb = "lacks"
		}
		s.differing = &dataset.SyntaxError{
			File: s.file, Line: d.line,
			Found:    fmt.Sprintf("document %s, which %s the feature %q unlike those of the answer before", suggest.Quote(d.id), verb, s.names[other]),
			Expected: "the same features in all answers of a dense log; --absent zero or missing takes the log as sparse",
		}
	}
	return nil
}

// same reports whether a document has the features of the document before, in the same order.
func (s *surveyor) same(d *document) bool {
	if len(d.features) != len(s.last) || s.docs == 1 {
		return false
	}
	for i, f := range d.features {
		if s.names[s.last[i]] != string(f.name) {
			return false
		}
	}
	return true
}

// feature returns the number of a feature of a document, and marks that the document has it.
func (s *surveyor) feature(d *document, name []byte) (int, error) {
	j, known := s.index[string(name)]
	if !known {
		if len(name) == 0 {
			return 0, &dataset.SyntaxError{Found: fmt.Sprintf("a feature of document %s without a name", suggest.Quote(d.id)), Expected: "one for every feature"}
		}
		if err := pairs.CheckID("a feature's name", name); err != nil {
			return 0, err
		}
		if most := cmp.Or(s.o.MaxFeature, dataset.DefaultMaxFeature); len(s.names) == most {
			return 0, &dataset.SyntaxError{Found: fmt.Sprintf("more than %d features; one more is %s of document %s", most, suggest.Quote(name), suggest.Quote(d.id)), Expected: "fewer, or a larger --max-feature"}
		}
		if err := s.mem.Take(int64(2*len(name)+64), "names of features"); err != nil {
			return 0, err
		}
		j = len(s.names)
		s.names, s.stamps = append(s.names, string(name)), append(s.stamps, 0)
		s.index[s.names[j]] = j
	}
	if s.stamps[j] == s.docs {
		return 0, &dataset.SyntaxError{Found: fmt.Sprintf("the feature %s of document %s twice", suggest.Quote(name), suggest.Quote(d.id)), Expected: "every feature once"}
	}
	s.stamps[j] = s.docs
	return j, nil
}

// differs returns a feature that only one of two documents has, the last or the one before with the given features;
// it is -1 if there is none.
func (s *surveyor) differs(before []int) (feature int, lacks bool) {
	for _, j := range before {
		if s.stamps[j] != s.docs {
			return j, true
		}
	}
	if len(before) == len(s.last) {
		return -1, false
	}
	had := make(map[int]bool, len(before))
	for _, j := range before {
		had[j] = true
	}
	for _, j := range s.last {
		if !had[j] {
			return j, false
		}
	}
	return -1, false
}

// answer implements visitor.
func (s *surveyor) answer(query []byte) error {
	if s.o.Queries != nil {
		if len(s.answers) == len(s.o.Queries) {
			return &dataset.SyntaxError{Found: fmt.Sprintf("more than %d answers", len(s.answers)), Expected: "one for every query of --queries"}
		}
		query = []byte(s.o.Queries[len(s.answers)])
	}
	if len(query) == 0 {
		return &dataset.SyntaxError{Found: "an answer without its query", Expected: "responseHeader.params.q (echoParams=explicit in Solr), a member \"query\", or --queries FILE with the queries in order"}
	}
	k, err := s.query(query)
	if err != nil {
		return err
	}
	const need = 16*3 + 8*2 // bytes of a document: what is seen, and the grade
	if err := s.mem.Take(int64(len(s.ends))*need, "documents"); err != nil {
		return err
	}
	s.answers = append(s.answers, k)
	q, run, from := &s.queries[k], stream.Run{ID: s.queries[k].ID}, 0
	for _, end := range s.ends {
		id := s.ids[from:end]
		from = end
		grade, keep, err := s.grade(q, k, id)
		if err != nil {
			return err
		}
		if !keep {
			s.grades = append(s.grades, math.NaN())
			continue
		}
		s.grades = append(s.grades, grade)
		run.Docs++
		run.Bytes += len(id)
	}
	q.Documents += run.Docs
	s.ids, s.ends = s.ids[:0], s.ends[:0]
	if run.Docs == 0 {
		return nil
	}
	return s.visit([]stream.Run{run})
}

// query returns the number of a query and takes its judgements up.
func (s *surveyor) query(id []byte) (int, error) {
	k, known := s.number[string(id)]
	if !known {
		if err := pairs.CheckID("a query", id); err != nil {
			return 0, err
		}
		if err := s.mem.Take(memory.QueryBytes+int64(2*len(id)), "queries"); err != nil {
			return 0, err
		}
		k = len(s.queries)
		s.queries = append(s.queries, Query{ID: string(id)})
		s.number[s.queries[k].ID] = k
	}
	if k == s.of {
		return k, nil
	}
	s.of, s.judged = k, make(map[string]float64)
	if list := s.lists[string(id)]; list != nil {
		for j := range list.Len() {
			s.judged[list.DocID(j)] = list.Grades[j]
		}
	}
	return k, nil
}

// grade returns the grade of a document of a query; keep is false if it is left out.
func (s *surveyor) grade(q *Query, number int, id []byte) (grade float64, keep bool, err error) {
	key := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(number)), id...))
	if _, twice := s.seen[[16]byte(key[:])]; twice {
		q.Duplicates++
		return 0, false, nil
	}
	s.seen[[16]byte(key[:])] = struct{}{}
	if grade, ok := s.judged[string(id)]; ok {
		q.Judged++
		return grade, true, nil
	}
	q.NotJudged++
	grade, keep, err = s.o.Unjudged.Of(q.ID, string(id))
	if format, ok := errors.AsType[*dataset.FormatError](err); ok {
		err = &dataset.SyntaxError{Found: format.Found, Expected: format.Expected}
	}
	return grade, keep, err
}

// Queries returns what the survey counted, in the order of the answers.
func (l *Log) Queries() []Query { return l.queries }

// Absent returns the number of features that documents lack, after Each.
func (l *Log) Absent() int { return l.absent }

// Close implements stream.Source.
func (l *Log) Close() error { return nil }

// collector collects the features of a log.
type collector struct {
	*Log
	columns int
	visit   func(b *stream.Batch) error
	b       stream.Batch
	docs    int // visited
	reached int // answers
	begun   bool
	last    []int
	stamps  []int
}

// Each implements stream.Source.
func (l *Log) Each(columns int, visit func(b *stream.Batch) error) error {
	c := &collector{Log: l, columns: columns, visit: visit, stamps: make([]int, len(l.names))}
	l.absent, l.ranges = 0, make([]span, len(l.names))
	for j := range l.ranges {
		l.ranges[j] = span{float32(math.Inf(1)), float32(math.Inf(-1))}
	}
	if err := l.pass(c, func(string) {}); err != nil {
		return err
	}
	if c.docs != len(l.grades) || c.reached != len(l.answers) {
		return c.changed()
	}
	return c.flush()
}

func (c *collector) changed() error { return fmt.Errorf("%s: %w", c.name, dataset.ErrChanged) }

func (c *collector) flush() error {
	if len(c.b.Grades) == 0 {
		return nil
	}
	err := c.visit(&c.b)
	b := &c.b
	b.Runs, b.Grades, b.X, b.DocText, b.DocEnd, b.Absent = b.Runs[:0], b.Grades[:0], b.X[:0], b.DocText[:0], b.DocEnd[:0], 0
	c.begun = false
	return err
}

// answer implements visitor.
func (c *collector) answer([]byte) error {
	c.reached++
	c.begun = false
	return nil
}

// document implements visitor.
func (c *collector) document(d *document) error {
	if c.docs == len(c.grades) || c.reached == len(c.answers) {
		return c.changed()
	}
	grade := c.grades[c.docs]
	c.docs++
	if grade != grade {
		return nil
	}
	b := &c.b
	if !c.begun {
		b.Runs, c.begun = append(b.Runs, stream.Run{ID: c.queries[c.answers[c.reached]].ID}), true
	}
	b.Runs[len(b.Runs)-1].Docs++
	b.Grades = append(b.Grades, grade)
	b.DocText = append(b.DocText, d.id...)
	b.DocEnd = append(b.DocEnd, uint32(len(b.DocText)))
	if err := c.row(d); err != nil {
		return err
	}
	const mostText = 1 << 18
	if len(b.Grades) >= stream.BatchDocs(c.columns) || len(b.DocText) >= mostText {
		return c.flush()
	}
	return nil
}

// row adds the features of a document.
func (c *collector) row(d *document) error {
	from := len(c.b.X)
	absent := float32(0)
	if c.o.Absent == AbsentMissing {
		absent = float32(math.NaN())
	}
	for range c.columns {
		c.b.X = append(c.b.X, absent)
	}
	row, matched := c.b.X[from:], 0
	for i, f := range d.features {
		if i == len(c.last) {
			c.last = append(c.last, 0)
		}
		j := c.last[i]
		if c.names[j] != string(f.name) {
			known := false
			if j, known = c.index[string(f.name)]; !known {
				return c.changed()
			}
			c.last[i] = j
		}
		if f.value == nil {
			continue
		}
		x, ok := number(f.value)
		if !ok {
			return &dataset.SyntaxError{
				Found:    fmt.Sprintf("the value %s of the feature %q of document %s", suggest.Quote(f.value), c.names[j], suggest.Quote(d.id)),
				Expected: "a finite number that float32 can hold",
			}
		}
		row[j], c.stamps[j] = x, c.docs
		matched++
		r := &c.ranges[j]
		r.low, r.high = min(r.low, x), max(r.high, x)
	}
	if n := len(c.names) - matched; n > 0 {
		c.absent += n
		for j := range c.names {
			if c.stamps[j] != c.docs && c.o.Absent != AbsentMissing {
				c.ranges[j].low, c.ranges[j].high = min(c.ranges[j].low, 0), max(c.ranges[j].high, 0)
			}
		}
	}
	return nil
}

// number returns the finite number that text is, in decimal digits.
func number(text []byte) (float32, bool) {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false // strconv takes hexadecimals, inf, nan and underscores, too
		}
	}
	x, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 32)
	return float32(x), err == nil
}

// constants returns a warning about features with one value.
func (l *Log) constants() (warnings []string) {
	kept := 0
	for i := range l.queries {
		kept += l.queries[i].Documents
	}
	if kept < 2 {
		return nil
	}
	for j, r := range l.ranges {
		if r.low == r.high {
			warnings = append(warnings, fmt.Sprintf("%s: the feature %s is %v in all documents: it cannot rank them", l.name, l.names[j], r.low))
		}
	}
	return warnings
}
