// Package rankjson decodes requests to rank documents and encodes the answers. It is the JSON code
// of the service that must be fast.
//
// Start reading at [Request.Decode]. features.go reads the features of a document, number.go reads
// numbers, and answer.go has [AppendAnswer]. Decoding is strict. It rejects malformed JSON, an
// unknown or repeated key, a number outside the range of float32, text that is not UTF-8, and text
// after the request. Its errors state the place. The package must not depend on models or HTTP.
package rankjson

import "strconv"

// Schema has the properties of a model that decoding needs. It is immutable and may be shared.
type Schema struct {
	Features int            // number of features of a document, the columns of [Request].X
	Columns  map[string]int // columns by feature name, from 0; nil means the names "1", "2", …
	Names    []string       // one per feature, or nil
	Absent   float32        // the value of a feature that a lenient request omits: 0, or NaN for a missing value
	Unnamed  string         // why features cannot be given by name; empty if they can

	// Text returns the value of feature column for a text. If the text has no value, ok is false
	// and expected lists valid texts; expected is empty for a numeric feature. A nil Text means
	// that all features are numeric.
	Text func(column int, text []byte) (v float32, expected string, ok bool)
}

// Limits bound a request; 0 means no limit.
type Limits struct {
	Documents int // of all queries together
	Cells     int // documents × features
	Queries   int

	Memory Memory // source of memory for the documents; nil means no limit
}

// Memory is a limited amount of memory.
type Memory interface {
	Take(bytes int64) bool // returns false if fewer bytes are left
}

// documentBytes is the memory of a document without its features: its id, its scores, its position
// in the rankings and its part of the answer.
const documentBytes = 192

// Memory returns about how many bytes the given number of documents take until they are answered. A
// feature takes four bytes, and four more while the matrix grows.
func (s *Schema) Memory(docs int) int64 { return int64(docs) * int64(8*s.Features+documentBytes) }

// Column returns the column of the feature called name.
func (s *Schema) Column(name []byte) (column int, known bool) {
	if s.Columns != nil {
		column, known = s.Columns[string(name)]
		return column, known
	}
	const mostDigits = 9
	if len(name) == 0 || len(name) > mostDigits || name[0] == '0' {
		return 0, false
	}
	for _, c := range name {
		if c-'0' > 9 {
			return 0, false
		}
		column = 10*column + int(c-'0')
	}
	return column - 1, column <= s.Features
}

// Name returns the name of the feature in a column. If features have no names, it is the number
// from 1.
func (s *Schema) Name(column int) string {
	if s.Names == nil {
		return strconv.Itoa(column + 1)
	}
	return s.Names[column]
}

// Query is a query of a request. Its documents are First to First+Docs−1, numbered over all queries
// of the request.
type Query struct {
	ID          []byte // nil if the query has no id
	First, Docs int
}

// All is the value of [Request].Contributions for the contributions of all features.
const All = -1

// Request is a decoded request. The zero value is ready to use. A reused Request allocates only for
// a larger request. It is not safe for concurrent use.
type Request struct {
	Several       bool // the request has "queries", and the answer has "rankings"
	Queries       []Query
	IDs           [][]byte  // one per document; nil if the documents of the query have none
	X             []float32 // row-major, documents × Schema.Features; NaN is a missing value
	Top           int       // documents to return per ranking; 0 means all
	Contributions int       // contributions to return per document, largest first; 0 means none; or All
	Lenient       bool      // omitted features become Schema.Absent, and unknown features are ignored
	User          []byte    // nil if there is none
	Engine        *Engine   // whose answer the request was; nil if it was none

	decoder decoder
}

// Docs returns the number of documents of all queries.
func (r *Request) Docs() int { return len(r.IDs) }

// Size returns about how many bytes of memory a request owns.
func (r *Request) Size() int {
	d := &r.decoder
	return 4*cap(r.X) + 24*cap(r.IDs) + 40*cap(r.Queries) + d.Size() + 8*(cap(d.idAt)+cap(d.nameAt)) + 4*cap(d.set.table) + 12*cap(d.seen) + 32*cap(d.hits)
}

// Padding is the capacity that a body needs after its end so that Decode reads the body in place.
// Decode copies a body with less capacity.
const Padding = 16

// Kind is the kind of an error in a request.
type Kind int

// The kinds of errors.
const (
	Malformed     Kind = iota // not JSON, or not a request
	TooLarge                  // exceeds the Limits
	Unprocessable             // the features do not fit the model
	NoMemory                  // Limits.Memory does not suffice
)

// Error describes why a request cannot be decoded.
type Error struct {
	Pointer string // JSON pointer (RFC 6901) to the value; empty for the whole request
	Offset  int    // bytes before the error
	Detail  string // what was found, and what was expected
	Kind    Kind
}

// Error returns the pointer and the detail.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Detail
	}
	return e.Pointer + ": " + e.Detail
}
