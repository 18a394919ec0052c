// Package rankjson decodes requests to rank documents and encodes the answers: the one
// JSON text of the service that must be fast.
//
// Start reading at [Request.Decode]: features.go reads the values of a document, number.go numbers;
// answer.go has [AppendAnswer]. Decoding is strict. Malformed JSON, an unknown or repeated key, a
// number out of the range of float32, text that is not UTF-8 and anything behind the request are
// errors. They name the place. The package knows no models and nothing of HTTP.
package rankjson

import "strconv"

// Schema is what decoding needs to know of a model. It is immutable and may be shared.
type Schema struct {
	Features int            // of a document: the columns of [Request].X
	Columns  map[string]int // of the names, from 0; nil: names are "1", "2", …
	Names    []string       // one a feature, or nil
	Absent   float32        // what a feature becomes that is not there, where that is allowed: 0, or NaN for a missing value
	Unnamed  string         // why features cannot be given by name; empty if they can

	// Text returns the value of a text as feature j. If it has none, ok is false and expected names
	// valid texts; expected is empty for a numeric feature. A nil Text means that all features are
	// numeric.
	Text func(column int, text []byte) (v float32, expected string, ok bool)
}

// Limits bound a request; 0 means no limit.
type Limits struct {
	Documents int // of all queries
	Cells     int // documents × features of the model
	Queries   int

	Memory Memory // for the documents; nil: no limit
}

// Memory is a limited amount of memory.
type Memory interface {
	Take(bytes int64) bool // false if there is less
}

// documentBytes is the memory of a document without its features: its id, its scores, its place in the
// rankings and its part of the answer.
const documentBytes = 192

// Memory returns about how many bytes a number of documents take until they are answered. A feature
// takes four bytes, and as much again while the matrix grows.
func (s *Schema) Memory(docs int) int64 { return int64(docs) * int64(8*s.Features+documentBytes) }

// Column returns the column of the feature of a name.
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

// Name returns the name of the feature of a column: its number from 1 if features have none.
func (s *Schema) Name(column int) string {
	if s.Names == nil {
		return strconv.Itoa(column + 1)
	}
	return s.Names[column]
}

// Query is a query of a request. Its documents are those from First on, counted over all queries.
type Query struct {
	ID          []byte // nil if it has none
	First, Docs int
}

// All as [Request].Contributions asks for the contributions of all features.
const All = -1

// Request is a decoded request. The zero value is ready to use. A reused Request allocates only for
// a larger request. It is not safe for concurrent use.
type Request struct {
	Several       bool // it has "queries", and so has the answer
	Queries       []Query
	IDs           [][]byte  // one a document; nil where the documents of a query have none
	X             []float32 // row-major, documents × Schema.Features; NaN is a missing value
	Top           int       // documents of every ranking that are asked for; 0: all
	Contributions int       // of largest magnitude that are asked for; 0: none; or All
	Lenient       bool      // features that are not there are Schema.Absent, others are passed over
	User          []byte    // nil if there is none

	decoder decoder
}

// Docs returns the number of documents of all queries.
func (r *Request) Docs() int { return len(r.IDs) }

// Size returns about how many bytes of memory a request holds.
func (r *Request) Size() int {
	d := &r.decoder
	return 4*cap(r.X) + 24*cap(r.IDs) + 40*cap(r.Queries) + d.Size() + 8*(cap(d.idAt)+cap(d.nameAt)) + 4*cap(d.set.table) + 12*cap(d.seen)
}

// Padding is the number of bytes of capacity behind a body that let it be decoded where it
// lies; a body without them is copied.
const Padding = 16

// Kind is the kind of an error in a request.
type Kind int

// The kinds of errors.
const (
	Malformed     Kind = iota // it is no JSON, or not such a request
	TooLarge                  // it is beyond the Limits
	Unprocessable             // its features are not the model's
	NoMemory                  // Limits.Memory has too little for it
)

// Error is a request that cannot be decoded.
type Error struct {
	Pointer string // to the value, as in RFC 6901; empty for the whole
	Offset  int    // bytes before what was found
	Detail  string // what was found, and what was expected
	Kind    Kind
}

// Error returns the place and the detail.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Detail
	}
	return e.Pointer + ": " + e.Detail
}
