package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// repeats reports whether an object of a valid text has a key twice, by the tokens of
// encoding/json; depth is how deep the text is nested.
func repeats(t *testing.T, text []byte) (twice bool, depth int) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var walk func(level int)
	walk = func(level int) {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		open, ok := token.(json.Delim)
		if !ok {
			return
		}
		depth = max(depth, level)
		keys := map[string]bool{}
		for d.More() {
			if open == '{' {
				key, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				twice = twice || keys[key.(string)]
				keys[key.(string)] = true
			}
			walk(level + 1)
		}
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
	}
	walk(1)
	return twice, depth
}

// Check accepts what encoding/json does, less repeated keys, deep nesting and strings that are not
// Unicode, and tells bad syntax in the same words. What it accepts is written in the same bytes
// as encoding/json does it, with white space and without.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{``, ` `, `{}`, `[]`, `{"a":1,"b":[1,-0,1e400,0.5E+3,true,false,null,"x\n\u00e9\ud83d\ude00\ufffd\""]}`, `["\ud800"]`, `["\udbff\udfff\udc00"]`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":{"a":1}}`,
		`[{"a":1},{"a":1}]`, `01`, `1.`, `-`, `1e`, `nul`, `"`, "\"\x01\"", `"\x"`, `"\u12g4"`, `{"a"}`, `{"a":}`, `{,}`, `[1,]`, `[1 2]`, `{"a":1,}`, "\ufeff{}", "\x00", `1 2`,
		"{\"\xff\":1,\"\xfe\":2}", `{1:2}`, strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat("[", 101) + strings.Repeat("]", 101), ` { "a" : [ ] , "b" : { } } `,
		`[[1,2],["]"],[1,"]",[2]],{"a":[null,true]}]`, "[\n          1,\n                    2,\t\n         \"a  b\"\n       ]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := Check(text)
		want := json.Unmarshal(text, new(json.RawMessage))
		if want != nil {
			var strict *Error
			if !errors.As(err, &strict) && (err == nil || err.Error() != want.Error()) {
				t.Fatalf("%q: error is %v, want %v", text, err, want)
			}
			return
		}
		twice, depth := repeats(t, text)
		if (err != nil) != (twice || depth > MaxDepth || !unicodeText(text)) {
			t.Fatalf("%q: error is %v, of %d levels, with a repeated key: %v", text, err, depth, twice)
		}
		if err != nil {
			return
		}
		var got, indented, compact bytes.Buffer
		Compact(&got, Whole(text))
		if err := json.Compact(&compact, text); err != nil || !bytes.Equal(got.Bytes(), compact.Bytes()) {
			t.Fatalf("%q becomes %q, want %q, %v", text, got.Bytes(), compact.Bytes(), err)
		}
		got.Reset()
		if err := Indent(&got, compact.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := json.Indent(&indented, compact.Bytes(), "", "  "); err != nil || got.String() != indented.String()+"\n" {
			t.Fatalf("%q becomes %q, want %q, %v", text, got.Bytes(), indented.Bytes(), err)
		}
	})
}

// unicodeText reports whether the strings of a JSON text are UTF-8 without half a surrogate pair.
func unicodeText(text []byte) bool {
	// Half a pair is what decodes to U+FFFD though it is not written as such.
	escape := regexp.MustCompile(`(?i)\\(u[0-9a-f]{4}|.)`)
	marked := escape.ReplaceAllFunc(text, func(e []byte) []byte {
		if strings.EqualFold(string(e), `\ufffd`) {
			return []byte("x")
		}
		return e
	})
	d := json.NewDecoder(bytes.NewReader(bytes.ReplaceAll(marked, []byte("\ufffd"), []byte("x"))))
	for {
		token, err := d.Token()
		if err != nil {
			return true
		}
		if s, ok := token.(string); ok && strings.Contains(s, "\ufffd") {
			return false
		}
	}
}

// sample has a field of every kind that Decode knows.
type sample struct {
	Text   string         `json:"text,omitempty"`
	Flag   bool           `json:"flag"`
	Whole  int            `json:"whole"`
	Seed   uint64         `json:"seed"`
	Real   float64        `json:"real"`
	Small  float32        `json:"small"`
	Gap    *float64       `json:"gap"`
	Name   *string        `json:"name"`
	Names  []string       `json:"names"`
	Any    map[string]any `json:"any"`
	Nested struct {
		Count int `json:"count"`
	} `json:"nested"`
	List []struct {
		Feature int      `json:"feature"`
		Weight  *float64 `json:"weight"`
	} `json:"list"`

	Left   []int `json:"-"`
	hidden []int // as what a program notes beside
}

func decode(v Value, dst any) error { return decodeStruct(v, reflect.ValueOf(dst).Elem()) }

// Decode sets the fields as encoding/json does and fails where that fails, with the
// same found value and path; but names of another case are other names.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{}`, `null`, `[]`, `3`, `{"text":"a","flag":true,"whole":-3,"seed":18446744073709551615,"real":1e-3,"small":0.1,"gap":2,"name":"n","names":["a",null],"any":{"a":[1,{}]},"nested":{"count":4},"list":[{"feature":1,"weight":0},null,{}]}`,
		`{"text":1}`, `{"whole":1.5}`, `{"whole":9223372036854775808}`, `{"seed":-1}`, `{"real":1e400}`, `{"small":1e39}`, `{"gap":"x"}`, `{"gap":null,"list":null}`, `{"name":5}`, `{"names":{}}`, `{"any":{"a":1e400}}`,
		`{"nested":{"count":"2"}}`, `{"nested":7}`, `{"list":[{"feature":true}]}`, `{"list":[5]}`, `{"list":5}`, `{"flag":0}`, `{"real":-0}`, `{"":[]}`, `{"-":[1]}`, `{"hidden":[1],"Left":[2]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if Check(text) != nil || folded(text) {
			return
		}
		var got, want sample
		err, wantErr := decode(Whole(text), &got), json.Unmarshal(text, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error is %v, want %v", text, err, wantErr)
		}
		var a, b *json.UnmarshalTypeError
		switch {
		case err == nil:
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" || got.hidden != nil {
				t.Fatalf("%q (-encoding/json +got):\n%s", text, diff)
			}
		case !errors.As(err, &a) || !errors.As(wantErr, &b):
			t.Fatalf("%q: errors are a %T and a %T", text, err, wantErr)
		case a.Offset < 0 || a.Offset > int64(len(text)):
			t.Fatalf("%q: error at %d", text, a.Offset)
		}
	})
}

// folded reports whether encoding/json takes a name of the text for one of another
// case, or an explicit null within a list for what was there before.
func folded(text []byte) bool {
	low := bytes.ToLower(text)
	return !bytes.Equal(low, text) || bytes.ContainsAny(text, "\\") || bytes.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}

// The error of a value of the wrong type names its path, its place and what it is.
func TestDecodeErrors(t *testing.T) {
	for text, want := range map[string]json.UnmarshalTypeError{
		` {"nested": {"count": "2"}}`:           {Value: "string", Field: "nested.count", Offset: 25},
		`{"whole": 1.5}`:                        {Value: "number 1.5", Field: "whole", Offset: 10},
		`{"list": [{}, {"weight": 1e999}]}`:     {Value: "number 1e999", Field: "list.weight", Offset: 25},
		`{"any": {"a": 1e400}}`:                 {Value: "number 1e400", Field: "any"},
		` []`:                                   {Value: "array", Offset: 1},
		`{"list": {}}`:                          {Value: "object", Field: "list", Offset: 9},
		`{"real": 1` + strings.Repeat("0", 400): {Value: "number 1" + strings.Repeat("0", 39) + "…", Field: "real", Offset: 9},
	} {
		if strings.HasPrefix(text, `{"real"`) {
			text += "}"
		}
		var got *json.UnmarshalTypeError
		err := decode(Whole([]byte(text)), new(sample))
		if !errors.As(err, &got) || got.Value != want.Value || got.Field != want.Field || want.Offset > 0 && got.Offset != want.Offset {
			t.Errorf("%s: error is %+v, want %+v", text, err, want)
		}
	}
}

// Numbers come back with the same bits, and are written as encoding/json does it.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.OneOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), rapid.Float64Range(-2e-6, 2e-6), rapid.Float64Range(-2e21, 2e21),
			rapid.SampledFrom([]float64{math.Copysign(0, -1), 1e-6, 1e21, math.SmallestNonzeroFloat64, 1e-9, 1e-10, 1e-100}))).Draw(t, "numbers")
		text := AppendNumbers([]byte(`{}`), "n", want)
		plain, err := json.Marshal(map[string]any{"n": append([]float64{}, want...)})
		if err != nil || !bytes.Equal(text, plain) {
			t.Fatalf("%s, want %s, %v", text, plain, err)
		}
		var got struct {
			N Numbers `json:"n"`
		}
		if err := Check(text); err != nil {
			t.Fatal(err)
		}
		if err := decode(Whole(text), &got); err != nil || len(got.N) != len(want) {
			t.Fatalf("%s: %d numbers, %v", text, len(got.N), err)
		}
		for i, x := range want {
			if math.Float64bits(got.N[i]) != math.Float64bits(x) {
				t.Fatalf("number %d is %v, want %v", i, got.N[i], x)
			}
		}
	})
}

func TestNumbersErrors(t *testing.T) {
	var into struct {
		Weights Numbers `json:"weights"`
	}
	err := decode(Whole([]byte(`{"weights":[1, null]}`)), &into)
	if err == nil || err.Error() != "found null as weight 2, expected a number" {
		t.Errorf("error is %v", err)
	}
	for text, want := range map[string]json.UnmarshalTypeError{
		`{"weights": 3}`:           {Value: "number", Offset: 12, Type: reflect.TypeFor[[]float64]()},
		`{"weights": [ 1, "2" ]}`:  {Value: "string", Offset: 17, Type: reflect.TypeFor[float64]()},
		`{"weights": [[]]}`:        {Value: "array", Offset: 13, Type: reflect.TypeFor[float64]()},
		`{"weights": [0, -1e999]}`: {Value: "number -1e999", Offset: 16, Type: reflect.TypeFor[float64]()},
	} {
		var got *json.UnmarshalTypeError
		if err := decode(Whole([]byte(text)), &into); !errors.As(err, &got) || got.Value != want.Value || got.Offset != want.Offset || got.Type != want.Type || got.Field != "weights" {
			t.Errorf("%s: error is %#v, want %#v", text, err, want)
		}
	}
}

// Lists of integers and of float32 hold what encoding/json reads, refuse what it refuses, and
// tell null from 0.
func FuzzLists(f *testing.F) {
	for _, text := range []string{`[]`, `null`, `[1,-0,null,12345678901234567890]`, `[ 1.5e-3 ,null, 1e39]`, `[1,"2]",3]`, `[[1]]`, `{}`, `[true]`, `[-9223372036854775808, 0.1, 16777217]`, `3`, `["a,b"]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		text := append(append([]byte(`{"f": [0], "i":`), list...), `}`...)
		if Check(text) != nil {
			return
		}
		var i struct {
			I Integers `json:"i"`
		}
		var s struct {
			I Singles `json:"i"`
		}
		var integers struct{ I []*int }
		var singles struct{ I []*float32 }
		err, want := decode(Whole(text), &i), json.Unmarshal(text, &integers)
		if null := slices.Contains(integers.I, nil); want == nil && !null && err != nil || err == nil && (want != nil || null) {
			t.Fatalf("%s: error is %v, want %v", text, err, want)
		}
		for k, v := range i.I {
			if v != *integers.I[k] {
				t.Fatalf("%s: integer %d is %v", text, k, v)
			}
		}
		err, want = decode(Whole(text), &s), json.Unmarshal(text, &singles)
		if (err == nil) != (want == nil) || err == nil && len(s.I) != len(singles.I) {
			t.Fatalf("%s: %v, %v; want %v", text, s.I, err, want)
		}
		for k, v := range s.I {
			if p := singles.I[k]; p == nil && v == v || p != nil && math.Float32bits(*p) != math.Float32bits(v) {
				t.Fatalf("%s: number %d is %v", text, k, v)
			}
		}
	})
}

// A repeated key, too many keys and too many levels are told with the place.
func TestCheckErrors(t *testing.T) {
	var many, last strings.Builder
	for i := range 40 {
		many.WriteString(`"k` + strconv.Itoa(i) + `":0,`)
	}
	for i := range MaxKeys {
		last.WriteString(`"` + strconv.Itoa(i) + `":0,`)
	}
	for _, c := range []struct {
		text, want string
		at         int
	}{
		{`{"a": 1, "a": 2}`, `found the key "a" a second time in its object, expected it once`, 9},
		{`{"a": [{"é": 1, "\u00e9": 2}]}`, `found the key "é" a second time in its object, expected it once`, 17},
		{"{" + many.String() + `"k3":1}`, `found the key "k3" a second time in its object, expected it once`, 1 + many.Len()},
		{"{" + many.String() + `"k39":1}`, `found the key "k39" a second time in its object, expected it once`, 1 + many.Len()},
		{"{" + last.String() + `"x":1}`, "found an object of more than 65536 keys", 1 + last.Len()},
		{"[1, \"a\xffb\"]", `found the byte "\xff", which is not UTF-8, expected text in UTF-8`, 6},
		{`["\ud83d\ude00", "\ud83dx"]`, `found "\\ud83d", half of a surrogate pair, expected both halves`, 18},
		{`["\ud83d\u0041"]`, `found "\\ud83d", half of a surrogate pair, expected both halves`, 2},
		{`{"\uDE00": 1}`, `found "\\uDE00", half of a surrogate pair, expected both halves`, 2},
		{strings.Repeat(`[`, 1000) + strings.Repeat(`]`, 1000), "found more than 100 levels of objects and lists, expected fewer", 100},
	} {
		var strict *Error
		if err := Check([]byte(c.text)); !errors.As(err, &strict) || strict.Error() != c.want || strict.At != c.at {
			t.Errorf("%.50s: error is %#v, want %s at %d", c.text, err, c.want, c.at)
		}
	}
}
