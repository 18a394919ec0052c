package rankjson

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset/featurelog"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/internal/suggest"
)

// Engine is a kind of search engine. Its JSON answers with logged features may be requests.
type Engine struct {
	name     string   // of the program
	outer    string   // name of the member that contains the list of documents
	list     string   // name of the list
	best     string   // name of the member next to the list that has the highest score
	id       string   // names of members of a document
	score    string   //
	features []string // names of the member of a document, and of members in it, that contain the features
	pointer  string   // JSON pointer to the list
	inside   string   // JSON pointer from a document to its features
}

func newEngine(name, outer, list, best, id, score string, features ...string) *Engine {
	return &Engine{name, outer, list, best, id, score, features, "/" + outer + "/" + list, "/" + strings.Join(features, "/")}
}

// The engines, by the names that requests use.
var engines = map[string]*Engine{
	"solr":          newEngine("Solr", "response", "docs", "maxScore", "id", "score", "[features]"),
	"elasticsearch": newEngine("Elasticsearch", "hits", "hits", "max_score", "_id", "_score", "fields", "_ltrlog"),
	"opensearch":    newEngine("OpenSearch", "hits", "hits", "max_score", "_id", "_score", "fields", "_ltrlog"),
}

// EngineNames are the names that [EngineNamed] knows.
var EngineNames = []string{"elasticsearch", "opensearch", "solr"}

// EngineNamed returns the engine with a name, or nil if there is none.
func EngineNamed(name string) *Engine { return engines[name] }

// span is a part of a text. The zero span is no part.
type span struct{ start, end int }

// hit has the places of a document in an engine's answer.
type hit struct {
	span
	score span // the value; an empty span is the place of a new member
}

// DecodeEngine is [Request.Decode] for an engine's answer, which has one query and may have no
// documents. Other members are ignored, and so are logged features that the model does not have. A
// document must have all features of the model. If lenient is set, a missing feature is 0, because
// engines omit features of this value from sparse logs.
//
// An id that is no string of 1 to [MaxID] bytes is ignored. The rest of r is as after Decode.
func (r *Request) DecodeEngine(body []byte, e *Engine, s *Schema, l Limits, lenient bool) error {
	d := &r.decoder
	d.begin(body, s, l)
	d.engine, d.hits, d.best = e, d.hits[:0], span{}
	r.Several, r.Top, r.Contributions, r.Lenient, r.User = false, 0, 0, lenient, nil
	r.Engine = e
	r.Queries, r.IDs, r.X = append(r.Queries[:0], Query{}), r.IDs[:0], r.X[:0]
	found := false
	p, err := d.once(d.Blanks(0), "the answer of "+e.name, []string{e.outer}, func(_ string, p int) (next int, err error) {
		d.inside = e.pointer[:len(e.outer)+1]
		next, err = d.once(p, strconv.Quote(e.outer), []string{e.list, e.best}, func(key string, p int) (next int, err error) {
			if key == e.list {
				found = true
				return d.hitList(r, p)
			}
			next, err = d.Skip(p)
			d.best = span{p, next}
			return next, d.located(err)
		})
		d.inside = ""
		return next, err
	})
	if err != nil {
		return err
	}
	if p = d.Blanks(p); p < len(d.Text) {
		return d.fault(p, d.Token(p)+" behind the answer", "the end")
	}
	if !found {
		return d.fault(p, "no documents", fmt.Sprintf("an answer of %s, with documents in %q in %q", e.name, e.list, e.outer))
	}
	r.Queries[0].Docs = len(r.IDs)
	if d.lack != nil && !lenient {
		return d.lack
	}
	return nil
}

// once reads the object at p. It calls value for each member with one of the names, which may occur
// once, and skips the others.
func (d *decoder) once(p int, what string, names []string, value func(key string, p int) (next int, err error)) (next int, err error) {
	had := 0
	return d.members(p, what, func(key []byte, at, p int) (next int, err error) {
		i := slices.IndexFunc(names, func(name string) bool { return name == string(key) })
		if i < 0 {
			next, err = d.Skip(p)
			return next, d.located(err)
		}
		if had&(1<<i) != 0 {
			return p, d.twice(key, at)
		}
		had |= 1 << i
		return value(names[i], p)
	})
}

// elements reads the list at p.
func (d *decoder) elements(p int, what string, value func(i, p int) (next int, err error)) (next int, err error) {
	next, err = d.List(p, what, value)
	return next, d.located(err)
}

// hitList reads the list of documents.
func (d *decoder) hitList(r *Request, p int) (next int, err error) {
	outer := d.inside
	d.inside = d.engine.pointer
	p, err = d.elements(p, "documents", func(i, p int) (next int, err error) {
		if e, ok := errors.AsType[*Error](d.room(i+1, p)); ok {
			e.Pointer = d.engine.pointer
			return p, e
		}
		d.doc, d.inside = i, ""
		next, err = d.hit(r, p)
		d.doc, d.inside = -1, d.engine.pointer
		return next, err
	})
	d.inside = outer
	return p, err
}

// hit reads a document.
func (d *decoder) hit(r *Request, p int) (next int, err error) {
	e, h := d.engine, hit{span: span{start: p}}
	var id []byte
	logged, features := 0, e.features[0]
	next, err = d.once(p, "a document", []string{e.id, e.score, features}, func(key string, p int) (next int, err error) {
		switch {
		case key == e.id && d.b[p] == '"':
			id, next, err = d.string(p)
			if len(id) == 0 || len(id) > MaxID {
				id = nil
			}
			return next, err
		case key == e.score:
			next, err = d.Skip(p)
			h.score = span{p, next}
			return next, d.located(err)
		case key == features:
			logged = p
		}
		next, err = d.Skip(p)
		return next, d.located(err)
	})
	if err != nil {
		return p, err
	}
	if logged == 0 {
		return p, d.fault(p, "a document without "+strconv.Quote(features), "the features that "+e.name+" logs")
	}
	if h.end = next; h.score.end == 0 {
		h.score = span{p + 1, p + 1}
	}
	d.hits, r.IDs = append(d.hits, h), append(r.IDs, id)
	d.inside = e.inside
	return next, d.logged(d.row(r), logged)
}

// logged reads a document's logged features, which begin at p, into a row.
func (d *decoder) logged(row []float32, p int) error {
	if err := d.beginNamed(row, p); err != nil {
		return err
	}
	n, start := 0, p
	if len(d.engine.features) == 1 {
		if d.b[p] != '"' {
			return d.fault(p, d.Token(p), "a text of features, NAME=VALUE,NAME=VALUE")
		}
		text, _, err := d.string(p)
		if err == nil {
			n, err = d.text(row, text, p)
		}
		if err != nil {
			return err
		}
	} else if err := d.entries(row, p, &n); err != nil {
		return err
	}
	d.unlogged(row, n, start)
	return nil
}

// unlogged makes 0 of the features that a document lacks. It records an error, too, which a lenient
// request ignores.
func (d *decoder) unlogged(row []float32, n, p int) {
	if n == len(row) {
		return
	}
	for i := range row {
		if d.seen[i] == d.docs {
			continue
		}
		if row[i] = 0; d.lack == nil {
			d.lack = d.fault(p, "no feature "+suggest.Quote([]byte(d.schema.Name(i))), fmt.Sprintf("all %d of the model (lenient=true makes 0 of the others)", len(row)))
			d.lack.Kind = Unprocessable
		}
	}
}

// text reads features as Solr logs them, NAME=VALUE,NAME=VALUE, from the string at p. It returns
// how many are the model's.
func (d *decoder) text(row []float32, text []byte, p int) (n int, err error) {
	for len(text) > 0 {
		name, value, rest, ok := featurelog.CutFeature(text)
		if !ok {
			return n, d.fault(p, suggest.Quote(name), "NAME=VALUE, separated by commas")
		}
		text = rest
		column, known := d.schema.Column(name)
		switch {
		case known:
		case d.engine == nil:
			d.stranger(name, p)
			continue
		default:
			continue
		}
		if d.seen[column] == d.docs {
			return n, d.repeated(column, p)
		}
		v, err := strconv.ParseFloat(string(value), 32)
		if err != nil || strictjson.NumberEnd(value, 0) != len(value) {
			return n, d.fault(p, suggest.Quote(value)+" as feature "+suggest.Quote(name), "a number within the range of float32")
		}
		d.seen[column], row[column] = d.docs, float32(v)
		n++
	}
	return n, nil
}

// entries reads the features that the plugin logs in the member "fields", at p. It adds to n the number
// of the model's features.
func (d *decoder) entries(row []float32, p int, n *int) error {
	found := false
	_, err := d.once(p, `"fields"`, d.engine.features[1:], func(key string, p int) (int, error) {
		found = true
		return d.elements(p, strconv.Quote(key), func(_, p int) (int, error) {
			return d.members(p, "a log", func(_ []byte, _, p int) (int, error) {
				return d.elements(p, "the features of a log", func(_, p int) (int, error) { return d.entry(row, p, n) })
			})
		})
	})
	if err == nil && !found {
		err = d.fault(p, "fields without "+strconv.Quote(d.engine.features[1]), "the features that "+d.engine.name+" logs")
	}
	return err
}

// entry reads a feature, {"name": …, "value": …}. Without a value the feature did not match, and is
// 0.
func (d *decoder) entry(row []float32, p int, n *int) (next int, err error) {
	var name []byte
	value := 0
	next, err = d.once(p, "a feature", []string{"name", "value"}, func(key string, p int) (next int, err error) {
		if key == "name" {
			if d.b[p] != '"' {
				return p, d.fault(p, d.Token(p), "the name of a feature")
			}
			name, next, err = d.string(p)
			return next, err
		}
		value = p
		next, err = d.Skip(p)
		return next, d.located(err)
	})
	if err != nil {
		return next, err
	}
	if name == nil {
		return next, d.fault(p, `a feature without "name"`, `{"name": …, "value": …}`)
	}
	column, known := d.schema.Column(name)
	switch {
	case !known:
		return next, nil
	case d.seen[column] == d.docs:
		return next, d.repeated(column, p)
	}
	d.seen[column], row[column] = d.docs, 0
	if *n++; value > 0 {
		row[column], _, err = d.value(value, column)
	}
	return next, err
}

// AppendReranked appends the engine's answer that [Request.DecodeEngine] read, with the documents of
// the ranking in its order and with its scores. Everything else is as it was, byte for byte, except
// for a member with the highest score.
func AppendReranked(dst []byte, ranking []Ranked, r *Request) []byte {
	d := &r.decoder
	if len(d.hits) == 0 {
		return append(dst, d.Text...)
	}
	best := math.Inf(-1)
	for _, doc := range ranking {
		best = max(best, doc.Score)
	}
	rest := func(dst []byte, part span) []byte { // a part without documents
		if d.best.start < part.start || d.best.end > part.end || d.best.end == 0 {
			return append(dst, d.Text[part.start:part.end]...)
		}
		dst = AppendNumber(append(dst, d.Text[part.start:d.best.start]...), best)
		return append(dst, d.Text[d.best.end:part.end]...)
	}
	dst = rest(dst, span{0, d.hits[0].start})
	for i, doc := range ranking {
		if i > 0 {
			dst = append(dst, d.Text[d.hits[i-1].end:d.hits[i].start]...)
		}
		h := d.hits[doc.Doc]
		dst = append(dst, d.Text[h.start:h.score.start]...)
		if h.score.start == h.score.end {
			dst = append(append(append(dst, '"'), d.engine.score...), `":`...)
			dst = append(AppendNumber(dst, doc.Score), ',')
		} else {
			dst = AppendNumber(dst, doc.Score)
		}
		dst = append(dst, d.Text[h.score.end:h.end]...)
	}
	return rest(dst, span{d.hits[len(d.hits)-1].end, len(d.Text)})
}

// Documents returns the JSON pointer to the documents of a query.
func (r *Request) Documents(query int) string {
	switch {
	case r.Engine != nil:
		return r.Engine.pointer
	case r.Several:
		return "/queries/" + strconv.Itoa(query) + "/documents"
	}
	return "/documents"
}
