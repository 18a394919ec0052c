package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// walk reads all values of a stream, entering objects and lists, and writes them without white space.
func walk(s *Stream, depth int, out *bytes.Buffer) error {
	b, err := s.Peek()
	switch {
	case err != nil:
		return err
	case b == '{' && depth > 0:
		out.WriteByte('{')
		n := 0
		err := s.Object("the object", func(key []byte) error {
			if n++; n > 1 {
				out.WriteByte(',')
			}
			text, _ := json.Marshal(string(key))
			fmt.Fprintf(out, "%s:", text)
			return walk(s, depth-1, out)
		})
		out.WriteByte('}')
		return err
	case b == '[' && depth > 0:
		out.WriteByte('[')
		n := 0
		err := s.List("the list", func() error {
			if n++; n > 1 {
				out.WriteByte(',')
			}
			return walk(s, depth-1, out)
		})
		out.WriteByte(']')
		return err
	}
	text, err := s.Value()
	if err == nil {
		if err = Check(text); err == nil {
			err = json.Compact(out, text)
		}
	}
	return err
}

func walked(text string, r io.Reader, depth int) (string, error) {
	var out bytes.Buffer
	s := NewStream(r, len(text)+1)
	for {
		if done, err := s.Done(); err != nil || done {
			return out.String(), err
		}
		if err := walk(s, depth, &out); err != nil {
			return "", err
		}
		out.WriteByte('\n')
	}
}

// Claim: values read by a stream are those of encoding/json, however deep they are entered and however the text arrives.
func TestStream(t *testing.T) {
	text := "  {\"a\\\"\\\\\":[1,-2.5e3 , {\"b\":[]} ,\"\\\\\\\"]\"],\n \"c\" : {} , \"d\":null}\n[true]\n\"x\" 7 {} [] false"
	want := "{\"a\\\"\\\\\":[1,-2.5e3,{\"b\":[]},\"\\\\\\\"]\"],\"c\":{},\"d\":null}\n[true]\n\"x\"\n7\n{}\n[]\nfalse\n"
	for depth := range 4 {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			if got, err := walked(text, r, depth); err != nil || got != want {
				t.Errorf("depth %d: %v, %q", depth, err, got)
			}
		}
	}
	long := `["` + strings.Repeat("x", 3*streamBytes) + `",` + strings.Repeat(" ", 2*streamBytes) + `{"k":"` + strings.Repeat(`\\`, streamBytes) + `"}]`
	for depth := range 3 {
		got, err := walked(long, strings.NewReader(long), depth)
		if want := strings.ReplaceAll(long, " ", "") + "\n"; err != nil || got != want {
			t.Errorf("depth %d: %v, %d bytes, want %d", depth, err, len(got), len(want))
		}
	}
}

// Claim: an error says what was found, what was expected, and has its line.
func TestStreamErrors(t *testing.T) {
	for text, want := range map[string]string{
		"\n\n]":               `3: found "]", expected a value`,
		"{\n\"a\":1\n\n\"b\"": `4: found "\"b\"", expected a comma or the end of the object, }`,
		"[\n1\n2]":            `3: found "2", expected a comma or the end of the list, ]`,
		"[1,\n":               "2: found the end of the text, expected a value",
		"{\n\n1":              `3: found "1", expected a key in quotes`,
		"{\"a\"\n1}":          `2: found "1", expected a colon and a value`,
		"{":                   "1: found the end of the text, expected a value",
		"[1,2\n\n,{\"a\n\n":   "5: found the end of the text in a value, expected the end of the value",
		"1 \x00 2":            `1: found "\x00", expected a value`,
		"[\n1 \x00 2]":        `2: found "\x00", expected a comma`,
	} {
		var out bytes.Buffer
		s := NewStream(strings.NewReader(text), 1<<20)
		var err error
		for err == nil {
			err = walk(s, 1, &out)
		}
		fault, ok := errors.AsType[*Fault](err)
		if !ok {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := fmt.Sprintf("%d: %v", s.Line(fault.At), err); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	s := NewStream(strings.NewReader("[1,\n\""+strings.Repeat("x", 3*streamBytes)+"\"]"), streamBytes)
	if err := s.Skip(); err == nil || !strings.Contains(err.Error(), "a value of more than 262144 bytes") {
		t.Error(err)
	}
}

// FuzzStream: a stream reads one value if and only if the checker accepts the text, at any depth.
func FuzzStream(f *testing.F) {
	for _, text := range []string{`{"a":[1,"\"",{}]}`, "[[],[[]]]", `"\\"`, "-1.5e7", "{", `{"a" 1}`, "[1 2]", "nul"} {
		f.Add(text, 2)
	}
	f.Fuzz(func(t *testing.T, text string, depth int) {
		var out bytes.Buffer
		s := NewStream(iotest.HalfReader(strings.NewReader(text)), 1<<20)
		err := walk(s, depth%5, &out)
		if err == nil {
			if done, _ := s.Done(); !done {
				err = errors.New("more than one value")
			}
		}
		want := Check([]byte(text))
		if depth %= 5; depth > 0 && err == nil && want != nil {
			if _, ok := errors.AsType[*Error](want); ok {
				return // a repeated key, which only the checker minds
			}
		}
		if (err == nil) != (want == nil) {
			t.Fatalf("%q at depth %d: %v, the checker says %v", text, depth, err, want)
		}
		var compact bytes.Buffer
		if err == nil && json.Compact(&compact, []byte(text)) == nil && !strings.Contains(text, `\`) && depth <= 0 && compact.String() != out.String() {
			t.Fatalf("%q is %q, want %q", text, out.String(), compact.String())
		}
	})
}
