package rankjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/listwise/listwise/internal/strictjson"
)

// decodeNaively is Decode by encoding/json, without regard for speed or memory. It is less
// strict in one thing: half a pair of surrogates becomes U+FFFD.
func decodeNaively(body []byte, s *Schema, l Limits, lenient bool) (*Request, error) {
	if !utf8.Valid(body) {
		return nil, &Error{Kind: Malformed, Detail: "found bytes that are not UTF-8, expected JSON"}
	}
	if err := strictjson.Check(body); err != nil {
		return nil, &Error{Kind: Malformed, Detail: "found what is no JSON object: " + err.Error()}
	}
	d := naive{Request: &Request{Lenient: lenient}, schema: s, limits: l}
	if err := d.request(body); err != nil {
		return nil, err
	}
	return d.Request, nil
}

// naive decodes one request.
type naive struct {
	*Request
	schema *Schema
	limits Limits
}

type fields map[string]json.RawMessage

// object reads an object of known keys.
func object(text []byte, at string, keys ...string) (fields, *Error) {
	var f fields
	if err := json.Unmarshal(text, &f); err != nil || f == nil {
		return nil, &Error{Kind: Malformed, Pointer: at, Detail: "found " + kindOf(text) + ", expected an object"}
	}
	known := strings.Join(keys, " ")
	for k := range f {
		if k == "" || !strings.Contains(" "+known+" ", " "+k+" ") {
			return nil, &Error{Kind: Malformed, Pointer: at + "/" + Escape(k), Detail: fmt.Sprintf("found the key %s, expected %s", strconv.Quote(k), strings.Join(keys, ", "))}
		}
	}
	return f, nil
}

func list(text []byte, at, of string) ([]json.RawMessage, *Error) {
	var l []json.RawMessage
	if err := json.Unmarshal(text, &l); err != nil || l == nil {
		return nil, &Error{Kind: Malformed, Pointer: at, Detail: "found " + kindOf(text) + ", expected a list of " + of}
	}
	if len(l) == 0 {
		return nil, &Error{Kind: Malformed, Pointer: at, Detail: "found an empty list, expected at least one"}
	}
	return l, nil
}

// kindOf names the kind of a JSON value.
func kindOf(text []byte) string {
	switch text = bytes.TrimSpace(text); {
	case len(text) == 0:
		return "nothing"
	case text[0] == '{':
		return "an object"
	case text[0] == '[':
		return "a list"
	case text[0] == '"':
		return "a string"
	case text[0] == 'n':
		return "null"
	case text[0] == 't' || text[0] == 'f':
		return string(text)
	}
	return "a number"
}

func (d *naive) request(body []byte) error {
	f, err := object(body, "", "documents", "queries", "query", "top", "contributions", "lenient", "user")
	if err != nil {
		return err
	}
	if err := d.options(f); err != nil {
		return err
	}
	switch {
	case (f["documents"] == nil) == (f["queries"] == nil):
		return &Error{Kind: Malformed, Pointer: "", Detail: `expected one of "documents" and "queries"`}
	case f["queries"] != nil && f["query"] != nil:
		return &Error{Kind: Malformed, Pointer: "/query", Detail: `found "query" beside "queries", expected it in each of them`}
	case f["documents"] != nil:
		if err := d.query(f, ""); err != nil {
			return err
		}
		return nil
	}
	d.Several = true
	queries, err := list(f["queries"], "/queries", "queries")
	if err != nil {
		return err
	}
	if d.limits.Queries > 0 && len(queries) > d.limits.Queries {
		return &Error{Kind: TooLarge, Pointer: "/queries", Detail: fmt.Sprintf("found %d queries, expected at most %d", len(queries), d.limits.Queries)}
	}
	seen := make(map[string]bool)
	for i, text := range queries {
		at := "/queries/" + strconv.Itoa(i)
		q, err := object(text, at, "documents", "query")
		if err != nil {
			return err
		}
		if q["documents"] == nil {
			return &Error{Kind: Malformed, Pointer: at, Detail: `found no "documents", expected a list`}
		}
		if err := d.query(q, at); err != nil {
			return err
		}
		if id := d.Queries[i].ID; id != nil {
			if seen[string(id)] {
				return &Error{Kind: Malformed, Pointer: at + "/query", Detail: "found the id of an earlier query, expected another"}
			}
			seen[string(id)] = true
		}
	}
	return nil
}

func (d *naive) options(f fields) *Error {
	var err *Error
	if text := f["lenient"]; text != nil {
		if kindOf(text) != "true" && kindOf(text) != "false" {
			return &Error{Kind: Malformed, Pointer: "/lenient", Detail: "found " + kindOf(text) + ", expected true or false"}
		}
		d.Lenient = kindOf(text) == "true"
	}
	if text := f["top"]; text != nil {
		if d.Top, err = whole(text, "/top", ""); err != nil {
			return err
		}
	}
	if text := f["user"]; text != nil {
		if d.User, err = identifier(text, "/user"); err != nil {
			return err
		}
	}
	switch text := f["contributions"]; {
	case text == nil || kindOf(text) == "false":
	case kindOf(text) == "true":
		d.Contributions = All
	default:
		d.Contributions, err = whole(text, "/contributions", "true, false or ")
	}
	return err
}

// whole reads a whole number from 1 on.
func whole(text []byte, at, or string) (int, *Error) {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > 999999999 {
		return 0, &Error{Kind: Malformed, Pointer: at, Detail: "expected " + or + "a whole number from 1 on"}
	}
	return n, nil
}

// identifier reads an id.
func identifier(text []byte, at string) ([]byte, *Error) {
	if kindOf(text) != "a string" {
		return nil, &Error{Kind: Malformed, Pointer: at, Detail: "found " + kindOf(text) + ", expected a string"}
	}
	var id string
	if err := json.Unmarshal(text, &id); err != nil {
		return nil, &Error{Kind: Malformed, Pointer: at, Detail: err.Error()}
	}
	if len(id) == 0 || len(id) > MaxID {
		return nil, &Error{Kind: Malformed, Pointer: at, Detail: fmt.Sprintf("found %d bytes, expected 1 to %d", len(id), MaxID)}
	}
	return []byte(id), nil
}

// query reads a query, whose object has the given fields.
func (d *naive) query(f fields, at string) *Error {
	q := Query{First: len(d.IDs)}
	var err *Error
	if text := f["query"]; text != nil {
		if q.ID, err = identifier(text, at+"/query"); err != nil {
			return err
		}
	}
	at += "/documents"
	documents, err := list(f["documents"], at, "documents")
	if err != nil {
		return err
	}
	q.Docs = len(documents)
	if n := len(d.IDs) + q.Docs; d.limits.Documents > 0 && n > d.limits.Documents {
		return &Error{Kind: TooLarge, Pointer: at, Detail: fmt.Sprintf("found %d documents or more, expected at most %d in a request", n, d.limits.Documents)}
	} else if d.limits.Cells > 0 && n > d.limits.Cells/d.schema.Features {
		return &Error{Kind: TooLarge, Pointer: at, Detail: fmt.Sprintf("found %d documents of %d features, expected at most %d values in a request", n, d.schema.Features, d.limits.Cells)}
	}
	seen := make(map[string]bool)
	for i, text := range documents {
		at := at + "/" + strconv.Itoa(i)
		id, err := d.document(text, at)
		switch {
		case err != nil:
			return err
		case i > 0 && (id == nil) != (d.IDs[q.First] == nil):
			return &Error{Kind: Malformed, Pointer: at, Detail: `found documents with "id" and without, expected it in all of a query or in none`}
		case id != nil && seen[string(id)]:
			return &Error{Kind: Malformed, Pointer: at + "/id", Detail: "found the id of an earlier document of the query, expected another"}
		}
		seen[string(id)] = true
		d.IDs = append(d.IDs, id)
	}
	d.Queries = append(d.Queries, q)
	return nil
}

// document reads a document and returns its id.
func (d *naive) document(text []byte, at string) (id []byte, err *Error) {
	f, err := object(text, at, "id", "features")
	if err != nil {
		return nil, err
	}
	if f["id"] != nil {
		if id, err = identifier(f["id"], at+"/id"); err != nil {
			return nil, err
		}
	}
	switch at, text := at+"/features", f["features"]; kindOf(text) {
	case "a list":
		return id, d.array(text, at)
	case "an object":
		return id, d.named(text, at)
	default:
		return nil, &Error{Kind: Malformed, Pointer: at, Detail: "found " + kindOf(text) + ", expected a list of numbers or an object of them by name"}
	}
}

// array reads the features of a document by position.
func (d *naive) array(text []byte, at string) *Error {
	var values []json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return &Error{Kind: Malformed, Pointer: at, Detail: err.Error()}
	}
	n := d.schema.Features
	if len(values) > n || len(values) < n && !d.Lenient {
		return &Error{Kind: Unprocessable, Pointer: at, Detail: fmt.Sprintf("found %d features, expected the model's %d", len(values), n)}
	}
	for j, v := range values {
		x, err := naiveNumber(v, at+"/"+strconv.Itoa(j))
		if err != nil {
			return err
		}
		d.X = append(d.X, x)
	}
	for range n - len(values) {
		d.X = append(d.X, d.schema.Absent)
	}
	return nil
}

// named reads the features of a document by name.
func (d *naive) named(text []byte, at string) *Error {
	if d.schema.Unnamed != "" {
		return &Error{Kind: Unprocessable, Pointer: at, Detail: d.schema.Unnamed}
	}
	var values fields
	if err := json.Unmarshal(text, &values); err != nil {
		return &Error{Kind: Malformed, Pointer: at, Detail: err.Error()}
	}
	n, first := d.schema.Features, len(d.X)
	for range n {
		d.X = append(d.X, d.schema.Absent)
	}
	found := make([]bool, n)
	for name, v := range values {
		x, err := naiveNumber(v, at+"/"+Escape(name))
		if err != nil {
			return err
		}
		j, ok := d.schema.Column([]byte(name))
		if !ok && !d.Lenient {
			return &Error{Kind: Unprocessable, Pointer: at + "/" + Escape(name), Detail: "found a feature that the model does not know"}
		}
		if ok {
			d.X[first+j], found[j] = x, true
		}
	}
	for j, ok := range found {
		if !ok && !d.Lenient {
			return &Error{Kind: Unprocessable, Pointer: at, Detail: "found no feature " + strconv.Quote(d.schema.Name(j)) + ", expected all of the model's"}
		}
	}
	return nil
}

// naiveNumber reads a value of a feature; null is missing.
func naiveNumber(text []byte, at string) (float32, *Error) {
	switch kind := kindOf(text); kind {
	case "null":
		return float32(math.NaN()), nil
	case "a number":
	default:
		return 0, &Error{Kind: Malformed, Pointer: at, Detail: "found " + kind + ", expected a number, or null for a missing value"}
	}
	v, err := strconv.ParseFloat(string(text), 32)
	if errors.Is(err, strconv.ErrRange) {
		return 0, &Error{Kind: Malformed, Pointer: at, Detail: "found a number beyond the range of float32"}
	}
	if err != nil {
		return 0, &Error{Kind: Malformed, Pointer: at, Detail: "found what is no number"}
	}
	return float32(v), nil
}
