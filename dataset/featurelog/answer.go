package featurelog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/internal/suggest"
)

// visitor is called with the documents of answers in order, and at the end of every answer.
type visitor interface {
	// document is called with a document, which is valid during the call. Errors that are of type
	// [*dataset.SyntaxError] get the place.
	document(d *document) error

	// answer is called at the end of an answer. query is nil if the answer does not have it. partial says why the
	// engine did not search all documents, "" if it did.
	answer(query []byte, partial string) error
}

// document is a logged document.
type document struct {
	id       []byte
	score    []byte // only if the visitor needs it
	features []feature
	line     int // in the file
	logged   bool
	sparse   bool // the form leaves out features that do not match
}

// feature is the name and the number of a logged feature, as text. The number is nil if the feature did not match.
type feature struct{ name, value []byte }

// Keys of features.
const (
	solrKey    = "[features]"
	fieldsKey  = "fields"
	elasticKey = "_ltrlog"
	namedKey   = "matched_queries"
)

// largestDocument is the number of bytes that a document of an answer may have, and any other part that is read as
// a whole.
const largestDocument = 64 << 20

// mostNested is how deep answers may be within answers.
const mostNested = 8

// each visits the documents of a file.
func (l *Log) each(in *input.Input, v visitor) error {
	text, err := pairs.Text(in, l.read)
	if err != nil {
		return pairs.Located(err, in.Name, 1)
	}
	defer text.Close() //nolint:errcheck // only read
	s := strictjson.NewStream(text, largestDocument)
	first, err := s.Start()
	if err != nil {
		return pairs.Located(err, in.Name, 1)
	}
	if first != '{' && first != '[' {
		return l.eachRow(in, v)
	}
	a := &answers{Stream: s, in: in, log: l, visitor: v}
	err = a.all()
	if fault, ok := errors.AsType[*strictjson.Fault](err); ok {
		err = &dataset.SyntaxError{File: in.Name, Line: s.Line(fault.At), Found: fault.Found, Expected: fault.Expected}
	}
	return pairs.Located(err, in.Name, s.Line(0))
}

// eachRow is each for an answer of Solr as CSV.
func (l *Log) eachRow(in *input.Input, v visitor) error {
	id, score, features := -1, -1, -1
	var d document
	err := pairs.EachRow(in, l.read, ',', func(line int, cells []string) error {
		if features < 0 {
			features, score = slices.Index(cells, solrKey), slices.Index(cells, "score")
			if id = slices.Index(cells, l.idKey()); id < 0 || features < 0 {
				return &dataset.SyntaxError{
					Found:    "the line " + suggest.Quote([]byte(strings.Join(cells, ","))),
					Expected: fmt.Sprintf("an answer of a search engine: JSON, or CSV with the columns %s and %s", l.idKey(), solrKey),
				}
			}
			return nil
		}
		d = document{line: line, features: d.features[:0], logged: true}
		if id < len(cells) {
			d.id = []byte(cells[id])
		}
		if l.scores && score >= 0 && score < len(cells) {
			d.score = []byte(cells[score])
		}
		if features < len(cells) {
			if err := d.cut([]byte(cells[features])); err != nil {
				return err
			}
		}
		return v.document(&d)
	})
	if err == nil && features < 0 {
		err = &dataset.SyntaxError{Found: "an empty file", Expected: "an answer of a search engine"}
	}
	if err == nil {
		err = v.answer(nil, "")
	}
	return pairs.Located(err, in.Name, 1)
}

// idKey returns the key of document ids in Solr's answers.
func (l *Log) idKey() string { return cmp.Or(l.o.Doc, "id") }

// answers reads the answers of a JSON text.
type answers struct {
	*strictjson.Stream
	in      *input.Input
	log     *Log
	visitor visitor
	scanner strictjson.Scanner
	d       document
	depth   int // of the objects that are open
}

// all reads answers to the end of the text.
func (a *answers) all() error {
	ctx := input.Context(a.log.read)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done, err := a.Done(); err != nil || done {
			return err
		}
		b, err := a.Peek()
		if err == nil && b == '[' {
			err = a.List("answers", a.one)
		} else if err == nil {
			err = a.one()
		}
		if err != nil {
			return err
		}
	}
}

// one reads an answer, or the answers of _msearch.
func (a *answers) one() error {
	var r response
	if _, err := a.Peek(); err != nil {
		return err
	}
	line := a.Next()
	if err := a.object(&r); err != nil || r.several {
		return err
	}
	var err error = &dataset.SyntaxError{Found: "an answer without documents", Expected: "response.docs of Solr, or hits.hits of Elasticsearch or OpenSearch"}
	if r.documents {
		err = a.visitor.answer(r.query, r.partial)
	}
	if syntax, ok := errors.AsType[*dataset.SyntaxError](err); ok {
		return pairs.Located(syntax, a.in.Name, line)
	}
	return err
}

// response is what an answer has besides documents.
type response struct {
	query     []byte
	from      int    // how deep the query is within answers; the outermost counts
	partial   string // why the engine did not search all documents
	documents bool   // it has a list of documents
	several   bool   // it has a list of answers
}

// object reads an object of an answer.
func (a *answers) object(r *response) error {
	a.depth++
	defer func() { a.depth-- }()
	if a.depth > mostNested {
		return &dataset.SyntaxError{Found: fmt.Sprintf("more than %d answers within each other", mostNested), Expected: "fewer"}
	}
	return a.Object("an answer", func(key []byte) error {
		b, err := a.Peek()
		if err != nil {
			return err
		}
		switch k := string(key); {
		case k == "responseHeader" && b == '{':
			return a.header(r)
		case k == "query" && b == '"':
			text, err := a.Value()
			if err != nil || r.from > 0 && r.from < a.depth {
				return err
			}
			r.from = a.depth
			return a.text(&r.query, text, 0)
		case k == "timed_out" && b == 't':
			r.partial = `"timed_out": true`
		case k == "_shards" && b == '{':
			return a.shards(r)
		case (k == "response" || k == "hits" || k == "answer") && b == '{':
			return a.object(r)
		case (k == "docs" || k == "hits") && b == '[':
			r.documents = true
			return a.List("documents", a.document)
		case k == "responses" && b == '[':
			r.several = true
			return a.List("answers", a.one)
		case k == "error" && b != 'n':
			text, err := a.Value()
			if err != nil {
				return err
			}
			return &dataset.SyntaxError{Found: "an error of the search engine: " + suggest.Quote(text), Expected: "documents"}
		}
		return a.Skip()
	})
}

// text stores the string at a place of a value.
func (a *answers) text(to *[]byte, value []byte, p int) error {
	a.scanner.Reset(value)
	text, _, err := a.scanner.String(p)
	*to = bytes.Clone(text)
	return err
}

// shards reads whether shards of Elasticsearch or OpenSearch failed.
func (a *answers) shards(r *response) error {
	value, err := a.Value()
	if err != nil {
		return err
	}
	s := &a.scanner
	s.Reset(value)
	_, err = s.Object(0, "_shards", func(key []byte, _, p int) (int, error) {
		if string(key) != "failed" {
			return s.Skip(p)
		}
		failed, next, err := s.Scalar(p)
		if text := string(failed); text != "0" && text != "" {
			r.partial = `"failed": ` + text + ` in "_shards"`
		}
		return next, err
	})
	return err
}

// header reads the query of Solr's responseHeader, and whether the search was ended early.
func (a *answers) header(r *response) error {
	value, err := a.Value()
	if err != nil {
		return err
	}
	s := &a.scanner
	s.Reset(value)
	_, err = s.Object(0, "responseHeader", func(key []byte, _, p int) (int, error) {
		if string(key) == "partialResults" { // true, or "omitted" from Solr 9 on
			if r.partial = ""; !bytes.HasPrefix(value[p:], []byte("false")) {
				r.partial = `"partialResults"`
			}
		}
		if string(key) != "params" || p >= len(value) || value[p] != '{' {
			return s.Skip(p)
		}
		return s.Object(p, "params", func(key []byte, _, p int) (int, error) {
			if string(key) != "q" || r.query != nil || p >= len(value) || value[p] != '"' {
				return s.Skip(p)
			}
			text, next, err := s.String(p)
			r.query = bytes.Clone(text)
			return next, err
		})
	})
	return err
}

// document reads a document of an answer.
func (a *answers) document() error {
	value, err := a.Value()
	if err != nil {
		return err
	}
	s, d := &a.scanner, &a.d
	s.Reset(value)
	*d = document{features: d.features[:0], line: a.Line(0)}
	at := map[string]int{} // of the forms of features
	_, err = s.Object(0, "a document", func(k []byte, _, p int) (next int, err error) {
		switch name := string(k); {
		case name == a.log.idKey() && d.id == nil, name == "_id" && a.log.o.Doc == "":
			d.id, next, err = s.Scalar(p)
			return next, err
		case a.log.scores && (name == "score" || name == "_score"):
			d.score, next, err = s.Scalar(p)
			return next, err
		case name == namedKey && (p >= len(value) || value[p] != '{'): // names without scores
		case name == solrKey, name == fieldsKey, name == namedKey:
			at[name] = p
		}
		return s.Skip(p)
	})
	for _, form := range forms {
		if p, ok := at[form.key]; ok && err == nil && !d.logged {
			err = form.read(a, p)
		}
	}
	if err == nil {
		err = a.visitor.document(d)
	}
	return err
}

// forms are the keys of a document that may have features, the most specific first.
var forms = []struct {
	key  string
	read func(a *answers, p int) error
}{{solrKey, (*answers).solr}, {fieldsKey, (*answers).fields}, {namedKey, (*answers).named}}

// solr reads the text of [features].
func (a *answers) solr(p int) error {
	text, _, err := a.scanner.Scalar(p)
	if err == nil {
		a.d.logged = true
		err = a.d.cut(text)
	}
	return err
}

// named reads the scores of matched_queries.
func (a *answers) named(p int) error {
	s, d := &a.scanner, &a.d
	d.logged, d.sparse = true, true
	_, err := s.Object(p, namedKey, func(name []byte, _, p int) (int, error) {
		value, next, err := s.Scalar(p)
		d.features = append(d.features, feature{name, value})
		return next, err
	})
	return err
}

// fields reads _ltrlog, if there is one.
func (a *answers) fields(p int) error {
	s := &a.scanner
	_, err := s.Object(p, fieldsKey, func(key []byte, _, p int) (int, error) {
		if string(key) != elasticKey {
			return s.Skip(p)
		}
		a.d.logged = true
		return s.List(p, elasticKey, func(_, p int) (int, error) {
			return s.Object(p, "an entry of "+elasticKey, func(log []byte, _, p int) (int, error) {
				return s.List(p, "the features of "+string(log), func(_, p int) (int, error) { return a.logged(p) })
			})
		})
	})
	return err
}

// logged reads a feature of an entry of _ltrlog.
func (a *answers) logged(p int) (int, error) {
	s, f := &a.scanner, feature{}
	next, err := s.Object(p, "a feature", func(key []byte, _, p int) (next int, err error) {
		switch string(key) {
		case "name":
			f.name, next, err = s.Scalar(p)
		case "value":
			f.value, next, err = s.Scalar(p)
		default:
			next, err = s.Skip(p)
		}
		return next, err
	})
	a.d.features = append(a.d.features, f)
	return next, err
}

// cut adds the features of Solr's text NAME=VALUE,NAME=VALUE.
func (d *document) cut(text []byte) error {
	for len(text) > 0 {
		name, value, rest, ok := CutFeature(text)
		if !ok {
			return &dataset.SyntaxError{
				Found:    fmt.Sprintf("%s in the features of document %s", suggest.Quote(name), suggest.Quote(d.id)),
				Expected: "NAME=VALUE, separated by commas",
			}
		}
		d.features, text = append(d.features, feature{name, value}), rest
	}
	return nil
}

// number returns the value of a feature.
func (d *document) number(f feature) (float32, error) {
	x, ok := number(f.value)
	if !ok {
		return 0, &dataset.SyntaxError{
			Found:    fmt.Sprintf("the value %s of the feature %s of document %s", suggest.Quote(f.value), suggest.Quote(f.name), suggest.Quote(d.id)),
			Expected: "a finite number that float32 can hold",
		}
	}
	return x, nil
}

// unlogged returns the error about a document without features.
func (d *document) unlogged() *dataset.SyntaxError {
	return &dataset.SyntaxError{
		Found:    fmt.Sprintf("document %s without logged features", suggest.Quote(d.id)),
		Expected: "[features] (fl=id,[features] in Solr), fields._ltrlog, or matched_queries with scores",
	}
}

// CutFeature cuts the first feature off Solr's text NAME=VALUE,NAME=VALUE. ok is false if the first part is no NAME=VALUE;
// name is then that part.
func CutFeature(text []byte) (name, value, rest []byte, ok bool) {
	part, rest, _ := bytes.Cut(text, []byte(","))
	k := bytes.LastIndexByte(part, '=')
	if k < 0 {
		return part, nil, rest, false
	}
	return part[:k], part[k+1:], rest, true
}
