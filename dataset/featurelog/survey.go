package featurelog

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/suggest"
)

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
	return stream.Shape{Features: len(l.names), FeatureNames: l.names, Fixed: true, DocIDs: true, Later: l.doubts}, nil
}

// check returns an error about the whole log.
func (s *surveyor) check() error {
	judged := 0
	for i := range s.queries {
		q := &s.queries[i]
		judged += q.Judged
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
		s.unlogged = d.unlogged()
		s.unlogged.File, s.unlogged.Line = s.file, d.line
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
func (s *surveyor) answer(query []byte, partial string) error {
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
	if partial != "" {
		if s.partial++; s.partial == 1 {
			s.first.query, s.first.reason = s.queries[k].ID, partial
		}
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
