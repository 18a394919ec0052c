package table

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset/internal/ingest"
)

// deepest is how deep values may be nested that are skipped.
const deepest = 100

// jsonScanner reads the values of JSON text: RFC 8259, and NaN and ±Infinity, which many
// programs write. The text is a chunk's, whose lines end in line feeds.
type jsonScanner struct {
	text []byte // strings whose escapes were resolved
}

// blanks returns the place of the first byte from p that is no blank within a line.
func blanks(b []byte, p int) int {
	for b[p] == ' ' || b[p] == '\t' || b[p] == '\r' {
		p++
	}
	return p
}

// string reads the string whose first quote stands at p.
func (s *jsonScanner) string(b []byte, p int) (text []byte, next int, err error) {
	if b[p] != '"' {
		return nil, p, bad(token(b, p), "a name in quotes")
	}
	escaped := false
	end := p + 1
	for ; b[end] != '"'; end++ {
		switch c := b[end]; {
		case c == '\n':
			return nil, p, bad("a string without its end", "another quote")
		case c < ' ':
			return nil, p, bad(fmt.Sprintf("the control character %#x in a string", c), "an escape")
		case c == '\\':
			escaped = true
			if end++; b[end] == '\n' {
				return nil, p, bad("a string without its end", "another quote")
			}
		}
	}
	if text = b[p+1 : end]; escaped {
		text, err = s.unescape(text)
	}
	return text, end + 1, err
}

// unescape resolves the escapes of a string.
func (s *jsonScanner) unescape(raw []byte) ([]byte, error) {
	at := len(s.text)
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			s.text = append(s.text, raw[i])
			continue
		}
		i++
		if k := bytes.IndexByte([]byte(`"\/bfnrt`), raw[i]); k >= 0 {
			s.text = append(s.text, "\"\\/\b\f\n\r\t"[k])
			continue
		}
		r, ok := hexRune(raw, i)
		if !ok {
			return nil, bad(ingest.Quote(raw[i-1:]), `one of the escapes \" \\ \/ \b \f \n \r \t \uXXXX`)
		}
		i += 4
		if utf16.IsSurrogate(r) {
			second, ok := rune(0), false
			if i+2 < len(raw) && raw[i+1] == '\\' {
				second, ok = hexRune(raw, i+2)
			}
			if r = utf16.DecodeRune(r, second); !ok || r == utf8.RuneError {
				return nil, bad(ingest.Quote(raw[i-5:i+1]), "a pair of surrogates: half of one is no character")
			}
			i += 6
		}
		s.text = utf8.AppendRune(s.text, r)
	}
	return s.text[at:], nil
}

// hexRune reads uXXXX at raw[i].
func hexRune(raw []byte, i int) (r rune, ok bool) {
	if raw[i] != 'u' || i+5 > len(raw) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
	return rune(v), err == nil
}

// scalar reads a string, a number, true, false or null at p; the text of null is empty.
func (s *jsonScanner) scalar(b []byte, p int) (text []byte, next int, err error) {
	if b[p] == '"' {
		return s.string(b, p)
	}
	end := p
	for !endsValue[b[end]] {
		end++
	}
	text = b[p:end]
	switch string(text) {
	case "null":
		return nil, end, nil
	case "true", "false", "NaN", "Infinity", "-Infinity":
		return text, end, nil
	}
	if !isNumber(text) {
		return nil, p, bad(token(b, p), "a value: a number, a string, true, false or null")
	}
	return text, end, nil
}

// endsValue marks the bytes behind a number or a word.
var endsValue = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true, ':': true, '"': true, '{': true, '[': true}

// isNumber reports whether a text is a number by the grammar of JSON.
func isNumber(text []byte) bool {
	t := bytes.TrimPrefix(text, []byte("-"))
	whole := digits(t)
	if whole == 0 || whole > 1 && t[0] == '0' {
		return false
	}
	if t = t[whole:]; len(t) > 0 && t[0] == '.' {
		n := digits(t[1:])
		if n == 0 {
			return false
		}
		t = t[1+n:]
	}
	if len(t) > 0 && t[0]|0x20 == 'e' {
		if t = t[1:]; len(t) > 0 && (t[0] == '+' || t[0] == '-') {
			t = t[1:]
		}
		n := digits(t)
		return n > 0 && n == len(t)
	}
	return len(t) == 0
}

// digits is the number of digits that a text begins with.
func digits(text []byte) int {
	if n := slices.IndexFunc(text, func(c byte) bool { return c-'0' > 9 }); n >= 0 {
		return n
	}
	return len(text)
}

// skip reads a value of any kind at p.
func (s *jsonScanner) skip(b []byte, p, depth int) (next int, err error) {
	if _, next = shortNumber(b, p); next > p {
		return next, nil
	}
	switch {
	case b[p] != '{' && b[p] != '[':
		_, next, err = s.scalar(b, p)
		return next, err
	case depth == deepest:
		return p, bad(fmt.Sprintf("values nested more than %d deep", deepest), "less")
	case b[p] == '{':
		return s.object(b, p, func(_ []byte, at int) (int, error) { return s.skip(b, at, depth+1) })
	}
	return s.array(b, p, func(_, at int) (int, error) { return s.skip(b, at, depth+1) })
}

// object reads the object that begins at p; value reads the value of a key and returns the
// place behind it.
func (s *jsonScanner) object(b []byte, p int, value func(key []byte, p int) (next int, err error)) (next int, err error) {
	if p = blanks(b, p+1); b[p] == '}' {
		return p + 1, nil
	}
	for {
		key, next, err := s.string(b, p)
		if err != nil {
			return p, err
		}
		if p = blanks(b, next); b[p] != ':' {
			return p, bad(token(b, p)+" behind the name "+ingest.Quote(key), "a colon and a value")
		}
		if p, err = value(key, blanks(b, p+1)); err != nil {
			return p, err
		}
		p = blanks(b, p)
		switch b[p] {
		case '}':
			return p + 1, nil
		case ',':
			p = blanks(b, p+1)
		default:
			return p, bad(token(b, p)+" behind the value of "+ingest.Quote(key), "a comma or the end of the object, }")
		}
	}
}

// array is object for an array, whose values are counted from 0.
func (s *jsonScanner) array(b []byte, p int, value func(i, p int) (next int, err error)) (next int, err error) {
	if p = blanks(b, p+1); b[p] == ']' {
		return p + 1, nil
	}
	for i := 0; ; i++ {
		if p, err = value(i, p); err != nil {
			return p, err
		}
		p = blanks(b, p)
		switch b[p] {
		case ']':
			return p + 1, nil
		case ',':
			p = blanks(b, p+1)
		default:
			return p, bad(token(b, p)+" behind a value of an array", "a comma or the end of the array, ]")
		}
	}
}

// token describes what stands at p.
func token(b []byte, p int) string {
	if b[p] == '\n' {
		return "the end of the line"
	}
	end := p + 1
	if b[p] != '"' {
		for b[end] != '\n' && !endsValue[b[p]] && !endsValue[b[end]] {
			end++
		}
	} else if n := bytes.IndexAny(b[end:], "\"\n"); n >= 0 {
		end += n + 1
	}
	return ingest.Quote(bytes.TrimSuffix(b[p:end], []byte("\n")))
}
