package rankjson

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/strictjson"
)

// MaxID is the largest length of an id of a document, query or user, in bytes of UTF-8.
const MaxID = 512

// decoder has the state of [Request.Decode] and memory that later requests reuse.
type decoder struct {
	strictjson.Scanner // of the body

	b      []byte // the body, followed by zeros
	schema *Schema
	limits Limits

	idAt   []int // offsets of the ids of the documents; 0 if a document has none
	nameAt []int // offsets of the ids of the queries
	set    idSet

	order []int    // the columns of the feature names in the order of the last document; −1 for a name with escapes
	seen  []uint32 // for each column, the last document that had it
	docs  uint32   // number of documents so far
	paid  int      // number of documents for which memory was taken

	engine *Engine // nil if the body is no engine's answer
	hits   []hit   // the engine's documents
	best   span    // the engine's highest score
	inside string  // JSON pointer to a part of the engine's answer, from the document or the answer

	query, doc int    // the current query and document; −1 outside
	feature    string // the current feature; "" outside
	lack       *Error // the first error that a lenient request would ignore
}

// Decode reads a request for a model from JSON text. lenient is the default for requests without
// the member "lenient". The ids in r may be slices of body, so the caller must not change body
// while it uses them. The error is an [*Error]; after an error, the content of r is undefined.
//
// A query has at least one document and may have an id. The features of a document are a list or an
// object. A list has the values of the model's features in their order. An object has all features
// by name. Either all documents of a query have ids or none. A value is a number, or null if it is
// missing. Numbers are parsed as by strconv.ParseFloat(value, 32), so that "listwise score" gives
// the same score.
func (r *Request) Decode(body []byte, s *Schema, l Limits, lenient bool) error {
	d := &r.decoder
	d.begin(body, s, l)
	d.engine, r.Engine = nil, nil
	r.Several, r.Top, r.Contributions, r.Lenient, r.User = false, 0, 0, lenient, nil
	r.Queries, r.IDs, r.X = r.Queries[:0], r.IDs[:0], r.X[:0]
	p := d.Blanks(0)
	p, err := d.request(r, p)
	if err != nil {
		return err
	}
	if p = d.Blanks(p); p < len(d.Text) {
		return d.fault(p, d.Token(p)+" behind the request", "the end")
	}
	if d.lack != nil && !r.Lenient {
		return d.lack
	}
	return nil
}

// begin prepares a decoder for a body.
func (d *decoder) begin(body []byte, s *Schema, l Limits) {
	if d.schema != s {
		d.schema, d.order, d.docs = s, d.order[:0], 0
		clear(d.seen[:cap(d.seen)])
	}
	if d.docs > 1<<31 {
		d.docs = 0
		clear(d.seen)
	}
	var zeros [Padding]byte
	d.b = append(body, zeros[:]...) //nolint:gocritic // kept, so that the next request has room for its padding
	d.Reset(d.b[:len(body)])
	d.limits, d.idAt, d.nameAt = l, d.idAt[:0], d.nameAt[:0]
	d.query, d.doc, d.feature, d.lack, d.paid, d.inside = -1, -1, "", nil, 0, ""
}

// Bits for the members of objects. Each member may occur once.
const (
	hasDocuments = 1 << iota
	hasQueries
	hasQuery
	hasTop
	hasContributions
	hasLenient
	hasUser
	hasID
	hasFeatures
)

// request reads the whole request.
func (d *decoder) request(r *Request, p int) (next int, err error) {
	had := 0
	var id []byte
	p, err = d.members(p, "the request", func(key []byte, at, p int) (next int, err error) {
		var member int
		switch string(key) {
		case "documents":
			member = hasDocuments
		case "queries":
			member = hasQueries
		case "query":
			member = hasQuery
		case "top":
			member = hasTop
		case "contributions":
			member = hasContributions
		case "lenient":
			member = hasLenient
		case "user":
			member = hasUser
		default:
			return p, d.unknown(key, at, `"documents" or "queries", "query", "top", "contributions", "lenient" or "user"`)
		}
		if had&member != 0 {
			return p, d.twice(key, at)
		}
		if had |= member; had&hasQueries != 0 && had&(hasDocuments|hasQuery) != 0 {
			return p, d.faultIn(string(key), at, `"queries" beside "documents" or "query"`, `"queries", or "documents" and "query" of one query`)
		}
		return d.option(r, member, p, &id)
	})
	if err != nil {
		return p, err
	}
	if had&(hasDocuments|hasQueries) == 0 {
		return p, d.fault(p-1, "no documents", `"documents" or "queries"`)
	}
	if r.Several {
		return p, d.uniqueQueries(r)
	}
	r.Queries[0].ID = id
	return p, nil
}

// option reads the value of a member of the request.
func (d *decoder) option(r *Request, member, p int, id *[]byte) (next int, err error) {
	switch member {
	case hasDocuments:
		r.Queries = append(r.Queries, Query{})
		return d.documents(r, &r.Queries[0], p)
	case hasQueries:
		return d.queries(r, p)
	case hasQuery:
		*id, p, err = d.id(p, "query")
	case hasUser:
		r.User, p, err = d.id(p, "user")
	case hasTop:
		r.Top, p, err = d.count(p, "top", "a whole number from 1 to 999999999")
	case hasContributions:
		switch word := d.word(p); word {
		case "true":
			r.Contributions = All
			return p + len(word), nil
		case "false":
			r.Contributions = 0
			return p + len(word), nil
		}
		r.Contributions, p, err = d.count(p, "contributions", "true, false or a whole number from 1 to 999999999")
	case hasLenient:
		word := d.word(p)
		if word == "" {
			return p, d.faultIn("lenient", p, d.Token(p), "true or false")
		}
		r.Lenient = word == "true"
		p += len(word)
	}
	return p, err
}

// queries reads the list of queries.
func (d *decoder) queries(r *Request, p int) (next int, err error) {
	r.Several = true
	if d.b[p] != '[' {
		return p, d.faultIn("queries", p, d.Token(p), "a list of queries")
	}
	start := p
	if p = d.Blanks(p + 1); d.b[p] == ']' {
		return p, d.faultIn("queries", start, "no queries", "at least one")
	}
	for {
		if d.query++; d.limits.Queries > 0 && d.query == d.limits.Queries {
			d.query = -1
			return p, d.tooLarge("queries", p, fmt.Sprintf("more than %d queries", d.limits.Queries), "no more in a request")
		}
		if p, err = d.oneQuery(r, p); err != nil {
			return p, err
		}
		if p = d.Blanks(p); d.b[p] != ',' {
			break
		}
		p = d.Blanks(p + 1)
	}
	d.query = -1
	if d.b[p] != ']' {
		return p, d.faultIn("queries", p, d.Token(p), "a comma or the end of the list, ]")
	}
	return p + 1, nil
}

// oneQuery reads an element of the list of queries.
func (d *decoder) oneQuery(r *Request, p int) (next int, err error) {
	had, start := 0, p
	var q Query
	d.nameAt = append(d.nameAt, p)
	p, err = d.members(p, "a query", func(key []byte, at, p int) (next int, err error) {
		switch string(key) {
		case "documents":
			if had&hasDocuments != 0 {
				return p, d.twice(key, at)
			}
			had |= hasDocuments
			return d.documents(r, &q, p)
		case "query":
			if had&hasQuery != 0 {
				return p, d.twice(key, at)
			}
			had |= hasQuery
			d.nameAt[d.query] = p
			q.ID, p, err = d.id(p, "query")
			return p, err
		}
		return p, d.unknown(key, at, `"documents" or "query"`)
	})
	if err == nil && had&hasDocuments == 0 {
		err = d.fault(start, `a query without "documents"`, "a list of them")
	}
	r.Queries = append(r.Queries, q)
	return p, err
}

// documents reads the documents of a query.
func (d *decoder) documents(r *Request, q *Query, p int) (next int, err error) {
	if d.b[p] != '[' {
		return p, d.faultIn("documents", p, d.Token(p), "a list of documents")
	}
	q.First = len(r.IDs)
	start, named := p, 0
	if p = d.Blanks(p + 1); d.b[p] == ']' {
		return p, d.faultIn("documents", start, "no documents", "at least one")
	}
	for {
		d.doc++
		if err := d.room(len(r.IDs)+1, p); err != nil {
			return p, err
		}
		if p, err = d.document(r, p); err != nil {
			return p, err
		}
		if r.IDs[len(r.IDs)-1] != nil {
			named++
		}
		if d.b[p] != ',' {
			if p = d.Blanks(p); d.b[p] != ',' {
				break
			}
		}
		if p++; d.b[p] != '{' {
			p = d.Blanks(p)
		}
	}
	d.doc = -1
	if d.b[p] != ']' {
		return p, d.faultIn("documents", p, d.Token(p), "a comma or the end of the list, ]")
	}
	q.Docs = len(r.IDs) - q.First
	if named > 0 {
		return p + 1, d.uniqueDocs(r, q, named)
	}
	return p + 1, nil
}

// room checks whether another document is within the limits, and takes memory for it.
func (d *decoder) room(docs, p int) error {
	switch l := d.limits; {
	case l.Documents > 0 && docs > l.Documents:
		d.doc = -1
		return d.tooLarge("documents", p, fmt.Sprintf("more than %d documents", l.Documents), "no more in a request")
	case l.Cells > 0 && docs > l.Cells/max(1, d.schema.Features):
		d.doc = -1
		return d.tooLarge("documents", p, fmt.Sprintf("more than %d documents of %d features", docs-1, d.schema.Features), fmt.Sprintf("at most %d values in a request", l.Cells))
	case l.Memory != nil && docs > d.paid:
		return d.pay(docs, p)
	}
	return nil
}

// pay takes memory for about twice the given number of documents.
func (d *decoder) pay(docs, p int) error {
	l, most := d.limits, 2*docs
	if l.Documents > 0 {
		most = min(most, l.Documents)
	}
	if l.Cells > 0 {
		most = min(most, l.Cells/max(1, d.schema.Features))
	}
	if !l.Memory.Take(d.schema.Memory(most - d.paid)) {
		e := d.faultIn("documents", p, "more documents than there is memory for at present", "fewer, or the request again")
		e.Kind = NoMemory
		return e
	}
	d.paid = most
	return nil
}

// document reads a document.
func (d *decoder) document(r *Request, p int) (next int, err error) {
	had, start := 0, p
	var id []byte
	if d.b[p] != '{' {
		return p, d.fault(p, d.Token(p), `a document, {"id": …, "features": …}`)
	}
	d.idAt = append(d.idAt, 0)
	if p = d.Blanks(p + 1); d.b[p] != '}' {
		for {
			at := p
			key, next, err := d.key(p)
			if err != nil {
				return p, err
			}
			switch p = next; string(key) {
			case "id":
				if had&hasID != 0 {
					return p, d.twice(key, at)
				}
				had |= hasID
				d.idAt[len(d.idAt)-1] = p
				id, p, err = d.id(p, "id")
			case "features":
				if had&hasFeatures != 0 {
					return p, d.twice(key, at)
				}
				had |= hasFeatures
				p, err = d.features(r, p)
			default:
				err = d.unknown(key, at, `"id" or "features"`)
			}
			if err != nil {
				return p, err
			}
			if p = d.Blanks(p); d.b[p] != ',' {
				break
			}
			p = d.Blanks(p + 1)
		}
		if d.b[p] != '}' {
			return p, d.fault(p, d.Token(p), "a comma or the end of the document, }")
		}
	}
	if had&hasFeatures == 0 {
		return p, d.fault(start, `a document without "features"`, "a list of numbers or an object")
	}
	r.IDs = append(r.IDs, id)
	return p + 1, nil
}

// row appends a row to X and returns it.
func (d *decoder) row(r *Request) []float32 {
	start, width := len(r.X), d.schema.Features
	if cap(r.X)-start < width {
		r.X = slices.Grow(r.X, max(width, d.paid*width-start))
	}
	r.X = r.X[:start+width]
	return r.X[start:]
}
