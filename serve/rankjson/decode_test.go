package rankjson

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// plainSchema is that of a model whose three features have no names.
var plainSchema = &Schema{Features: 3}

// namedSchema has names that are hard to spell.
var namedSchema = &Schema{
	Features: 4,
	Names:    []string{"bm25", "a/b~c", `qu"ote\n`, "ähnlich"},
	Columns:  map[string]int{"bm25": 0, "a/b~c": 1, `qu"ote\n`: 2, "ähnlich": 3},
	Absent:   float32(math.NaN()),
}

var nan = float32(math.NaN())

// sameRequest compares requests, NaN being equal to NaN.
func sameRequest(a, b *Request) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Request{}), cmpopts.EquateEmpty(), cmp.Comparer(func(a, b float32) bool {
		return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
	}))
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		body   string
		schema *Schema
		want   Request
	}{
		{
			`{"documents":[{"id":"d1","features":[1,null,-0.5e-3]}]}`, plainSchema,
			Request{Queries: []Query{{Docs: 1}}, IDs: [][]byte{[]byte("d1")}, X: []float32{1, nan, -0.5e-3}},
		},
		{
			" {\n\t\"query\" : \"q\\u00e9\\ud83d\\ude00\" , \"top\" : 2 , \"documents\" : [ { \"features\" : [ 1 , 2 , 3 ] } , {\"features\":[ 0.1,16777217 ,1e-50]\r} ] , \"user\" : \"u\" } ", plainSchema,
			Request{Queries: []Query{{ID: []byte("qé😀"), Docs: 2}}, IDs: [][]byte{nil, nil}, X: []float32{1, 2, 3, 0.1, 16777216, 0}, Top: 2, User: []byte("u")},
		},
		{
			`{"queries":[{"query":"a","documents":[{"features":{"1":1,"2":2,"3":3},"id":"x"},{"id":"y","features":{"3":6,"1":4,"2":5}}]},{"documents":[{"features":[7,8,9]}]}],"contributions":true}`, plainSchema,
			Request{Several: true, Queries: []Query{{[]byte("a"), 0, 2}, {nil, 2, 1}}, IDs: [][]byte{[]byte("x"), []byte("y"), nil}, X: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, Contributions: All},
		},
		{
			`{"contributions":7,"documents":[{"features":{"bm25":1,"a/b~c":2,"qu\"ote\\n":3,"ähnlich":4}},{"features":{"bm25":5,"a/b~c":6,"qu\u0022ote\\n":7,"\u00e4hnlich":8}},{"features":{"\u00e4hnlich":0,"bm25":9,"a/b~c":10,"qu\"ote\\n":11}}]}`, namedSchema,
			Request{Queries: []Query{{Docs: 3}}, IDs: [][]byte{nil, nil, nil}, X: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0}, Contributions: 7},
		},
		{
			`{"documents":[{"features":{"other":1,"bm25":2,"a/b":null}},{"features":{}},{"features":[1]},{"features":[]}],"lenient":true,"contributions":false}`, namedSchema,
			Request{Queries: []Query{{Docs: 4}}, IDs: [][]byte{nil, nil, nil, nil}, X: []float32{2, nan, nan, nan, nan, nan, nan, nan, 1, nan, nan, nan, nan, nan, nan, nan}, Lenient: true},
		},
	} {
		var r Request
		for range 2 { // the second time with memory of the first
			if err := r.Decode([]byte(c.body), c.schema, Limits{}, false); err != nil {
				t.Fatalf("%s: %v", c.body, err)
			}
			if diff := sameRequest(&c.want, &r); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.body, diff)
			}
		}
	}
}

// doc is a request of one document with features.
func doc(features string) string { return `{"documents":[{"features":` + features + `}]}` }

// Claim: what is wrong is refused at its place.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		body, pointer string
		offset        int
		kind          Kind
		detail        string
	}{
		{``, "", 0, Malformed, "found the end of the text, expected the request as an object, {…}"},
		{`[]`, "", 0, Malformed, `found "[", expected the request as an object, {…}`},
		{`{}`, "", 1, Malformed, "found no documents"},
		{doc(`[1,2,3]`) + ` x`, "", 37, Malformed, `found "x" behind the request, expected the end`},
		{doc(`[1,2,3]`) + "\x00", "", 36, Malformed, `behind the request`},
		{`{"documents":[]}`, "/documents", 13, Malformed, "found no documents, expected at least one"},
		{`{"documents":{}}`, "/documents", 13, Malformed, "expected a list of documents"},
		{`{"documents":[{"id":"d1"}]}`, "/documents/0", 14, Malformed, `a document without "features"`},
		{`{"documents":[{"features":null}]}`, "/documents/0/features", 26, Malformed, `found "null", expected a list`},
		{`{"documents":[[1,2,3]]}`, "/documents/0", 14, Malformed, `expected a document`},
		{`{"docs":[]}`, "/docs", 1, Malformed, `found the key "docs"`},
		{`{"documents":[{"features":[1,2,3],"Id":"x"}]}`, "/documents/0/Id", 34, Malformed, `expected "id" or "features"`},
		{`{"top":1,"top":1}`, "/top", 9, Malformed, "twice"},
		{`{"top":1,"t\u006fp":1}`, "/top", 9, Malformed, "twice"},
		{`{"top":0}`, "/top", 7, Malformed, "whole number"},
		{`{"top":-1}`, "/top", 7, Malformed, "whole number"},
		{`{"top":1.0}`, "/top", 7, Malformed, "whole number"},
		{`{"top":01}`, "/top", 7, Malformed, "whole number"},
		{`{"top":10000000000000000000000}`, "/top", 7, Malformed, "whole number"},
		{`{"top":null}`, "/top", 7, Malformed, `found "null", expected a whole number`},
		{`{"lenient":1}`, "/lenient", 11, Malformed, "true or false"},
		{`{"contributions":"all"}`, "/contributions", 17, Malformed, `found "\"all\""`},
		{`{"user":""}`, "/user", 8, Malformed, "an empty string"},
		{`{"user":"` + strings.Repeat("x", 513) + `"}`, "/user", 8, Malformed, "an id of 513 bytes, expected at most 512"},
		{`{"query":7}`, "/query", 9, Malformed, "expected a string"},
		{`{"query":null}`, "/query", 9, Malformed, "expected a string"},
		{`{"query":"a`, "/query", 11, Malformed, "a string without its end"},
		{`{"query":"a\`, "/query", 12, Malformed, "a string without its end"},
		{"{\"query\":\"a\nb\"}", "/query", 11, Malformed, `the control character '\n'`},
		{"{\"query\":\"a\xffb\"}", "/query", 11, Malformed, `the byte "\xff", which is not UTF-8`},
		{"{\"query\":\"a\xed\xa0\x80b\"}", "/query", 11, Malformed, `not UTF-8`}, // half a pair of surrogates in three bytes
		{`{"query":"a\x"}`, "/query", 11, Malformed, `one of the escapes`},
		{`{"query":"a\u12"}`, "/query", 11, Malformed, `one of the escapes`},
		{`{"query":"\ud800"}`, "/query", 10, Malformed, `half of a surrogate pair`},
		{`{"query":"\udc00\ud800"}`, "/query", 10, Malformed, `half of a surrogate pair`},
		{doc(`[1,2,3`), "/documents/0/features", 32, Malformed, `found "}", expected a comma`},
		{doc(`[1,2,3}`), "/documents/0/features", 32, Malformed, `expected a comma`},
		{doc(`[1,,3]`), "/documents/0/features/1", 29, Malformed, `found ",", expected a number`},
		{doc(`[1,2,3,]`), "/documents/0/features/3", 33, Malformed, `found "]", expected a number`},
		{doc(`[1 2,3]`), "/documents/0/features", 29, Malformed, `found "2", expected a comma`},
		{doc(`[1,2,3,4]`), "/documents/0/features", 33, Unprocessable, `found more than 3 features, expected the model's 3`},
		{doc(`[1,2]`), "/documents/0/features", 26, Unprocessable, `found 2 features, expected the model's 3`},
		{doc(`[]`), "/documents/0/features", 26, Unprocessable, `found 0 features`},
		{doc(`[[1,2,3]]`), "/documents/0/features/0", 27, Malformed, `found "["`},
		{doc(`{"1":1,"2":2}`), "/documents/0/features", 26, Unprocessable, `found no feature "3"`},
		{doc(`{"1":1,"2":2,"3":3,"4":4}`), "/documents/0/features/4", 45, Unprocessable, `found the feature "4", expected 1 to 3`},
		{doc(`{"1":1,"1":2,"3":3}`), "/documents/0/features/1", 33, Malformed, `twice`},
		{doc(`{"01":1}`), "/documents/0/features/01", 27, Unprocessable, `"01"`},
		{doc(`{"1":"2"}`), "/documents/0/features/1", 31, Malformed, `found "\"2\"", expected a number`},
		{doc(`{"a/b":1e99}`), "/documents/0/features/a~1b", 33, Malformed, `range of float32`},
		{`{"documents":[{"id":"a","features":[1,2,3]},{"features":[1,2,3]}]}`, "/documents/1", 20, Malformed, `without "id"`},
		{`{"documents":[{"features":[1,2,3]},{"id":"a","features":[1,2,3]}]}`, "/documents/0", 0, Malformed, `without "id"`},
		{`{"documents":[{"id":"a","features":[1,2,3]},{"id":"\u0061","features":[1,2,3]}]}`, "/documents/1/id", 50, Malformed, `the id "a" a second time`},
		{`{"queries":[{"documents":[{"features":[1,2,3]},{"features":[1,2,NaN]}]}]}`, "/queries/0/documents/1/features/2", 64, Malformed, `found "NaN", expected a number`},
		{`{"queries":[{"query":"a"}]}`, "/queries/0", 12, Malformed, `without "documents"`},
		{`{"queries":[]}`, "/queries", 11, Malformed, `no queries`},
		{`{"queries":[{"query":"a","documents":[{"features":[1,2,3]}]},{"query":"a","documents":[{"features":[1,2,3]}]}]}`, "/queries/1/query", 70, Malformed, `second time`},
		{`{"query":"a","queries":[]}`, "/queries", 13, Malformed, `beside "documents" or "query"`},
		{`{"queries":[{"documents":[{"features":[1,2,3]}]}],"documents":[]}`, "/documents", 50, Malformed, `beside "documents" or "query"`},
	} {
		var e *Error
		err := new(Request).Decode([]byte(c.body), plainSchema, Limits{}, false)
		if !errors.As(err, &e) || e.Pointer != c.pointer || e.Offset != c.offset || e.Kind != c.kind || !strings.Contains(e.Detail, c.detail) {
			t.Errorf("%s: got %+v, want %q at %d, kind %d: …%s…", c.body, e, c.pointer, c.offset, c.kind, c.detail)
		}
	}
}

// Claim: numbers beyond float32 and words for them are refused, and the smallest become 0 as
// they do for strconv.
func TestDecodeNumbers(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "1", "-1", "0.5", "1e5", "1E+5", "1e-5", "123456789", "0.1234567890123456789", "12345678.12345678", "16777217", "3.4028235e38", "1e-45", "7e-46", "1e-999999999", "0e999999999", "0.00000000000000000000000000000000000000000000000001e50",
		"1e39", "-3.5e38", "1e999999999999", "", "-", "+1", ".5", "1.", "01", "-01", "1e", "1e+", "1.e5", "0x1", "1_0", "NaN", "nan", "Infinity", "-Infinity", "inf", "true", "false", "nul", "nullx", "1a", "--1", `"1"`, "{}", "[]", "1:2",
	} {
		var r Request
		err := r.Decode([]byte(doc("[0,0,"+text+"]")), plainSchema, Limits{}, false)
		want, parseErr := strconv.ParseFloat(text, 32)
		if valid := parseErr == nil && isJSONNumber(text); valid != (err == nil) {
			t.Errorf("%q: error %v, want valid %v", text, err, valid)
		} else if valid && math.Float32bits(r.X[2]) != math.Float32bits(float32(want)) {
			t.Errorf("%q is %v, want %v", text, r.X[2], want)
		}
	}
}

// Claim: what is beyond the limits is refused before there is memory for it.
func TestDecodeLimits(t *testing.T) {
	two := `{"queries":[{"documents":[{"features":[1,2,3]}]},{"documents":[{"features":[1,2,3]}]}]}`
	for l, pointer := range map[Limits]string{{Queries: 1}: "/queries", {Documents: 1}: "/queries/1/documents", {Cells: 5}: "/queries/1/documents"} {
		var e *Error
		var r Request
		if err := r.Decode([]byte(two), plainSchema, l, false); !errors.As(err, &e) || e.Kind != TooLarge || e.Pointer != pointer {
			t.Errorf("%+v: %v", l, err)
		}
		if cap(r.X) > 10 {
			t.Errorf("%+v: room for %d values", l, cap(r.X))
		}
	}
	if err := new(Request).Decode([]byte(two), plainSchema, Limits{Queries: 2, Documents: 2, Cells: 6}, false); err != nil {
		t.Error(err)
	}
	wide := &Schema{Features: 1 << 40}
	var e *Error
	if err := new(Request).Decode([]byte(doc(`[]`)), wide, Limits{Cells: 1 << 20}, true); !errors.As(err, &e) || e.Kind != TooLarge {
		t.Errorf("a terabyte of features: %v", err)
	}
}

// Claim: a model whose features have a name twice takes them as a list alone.
func TestDecodeUnnamed(t *testing.T) {
	s := &Schema{Features: 2, Names: []string{"a", "a"}, Columns: map[string]int{"a": 1}, Unnamed: `two features are named "a"`}
	var e *Error
	if err := new(Request).Decode([]byte(doc(`{"a":1}`)), s, Limits{}, true); !errors.As(err, &e) || e.Kind != Unprocessable || !strings.Contains(e.Detail, s.Unnamed) {
		t.Error(err)
	}
	if err := new(Request).Decode([]byte(doc(`[1,2]`)), s, Limits{}, false); err != nil {
		t.Error(err)
	}
}

// Claim: of many ids the second of two alike is found.
func TestSameIDs(t *testing.T) {
	for _, n := range []int{2, few, few + 1, 1000} {
		var b strings.Builder
		for i := range n {
			if b.WriteString(`{"id":"d` + strconv.Itoa(i%(n-1)) + `","features":[1,2,3]}`); i < n-1 {
				b.WriteByte(',')
			}
		}
		var e *Error
		if err := new(Request).Decode([]byte(`{"documents":[`+b.String()+`]}`), plainSchema, Limits{}, false); !errors.As(err, &e) || e.Pointer != "/documents/"+strconv.Itoa(n-1)+"/id" {
			t.Errorf("%d documents: %v", n, err)
		}
	}
}
