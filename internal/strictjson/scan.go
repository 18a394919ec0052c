package strictjson

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/suggest"
)

// Scanner reads values of a JSON text (RFC 8259). Its methods take the offset of a value and return
// the offset after the value. An offset may be at or after the end of the text, where there is no
// value. Every error is a [*Fault] or an error of a function that the caller passed.
type Scanner struct {
	Text []byte
	Line bool // the text is one line of a file, which messages mention

	// Loose also accepts the numbers NaN, Infinity and -Infinity, and strings that are not UTF-8.
	// Many programs write them.
	Loose bool

	memory []byte   // strings with resolved escapes
	unique bool     // a repeated key in an object is an error
	keys   []string // keys of the open objects, the innermost last
}

// Fault reports text that is not JSON, or is not the expected JSON.
type Fault struct {
	At              int // offset in the text
	Found, Expected string
}

// Error states what was found and what was expected.
func (f *Fault) Error() string { return "found " + f.Found + ", expected " + f.Expected }

// Reset makes the scanner read text. Strings that the scanner has returned become invalid.
func (s *Scanner) Reset(text []byte) { s.Text, s.memory = text, s.memory[:0] }

// Size returns the number of bytes of memory that the scanner owns.
func (s *Scanner) Size() int { return cap(s.memory) }

func (s *Scanner) fault(at int, found, expected string) error {
	return &Fault{min(at, len(s.Text)), found, expected}
}

// byte returns the byte at p, or 0 at the end of the text.
func (s *Scanner) byte(p int) byte {
	if p < len(s.Text) {
		return s.Text[p]
	}
	return 0
}

// Blanks returns the offset of the first byte at or after p that is not white space.
func (s *Scanner) Blanks(p int) int { return behindSpace(s.Text, p) }

// behindSpace returns the offset of the first byte at or after at that is not white space.
func behindSpace(text []byte, at int) int {
	if at < len(text) && text[at] > ' ' {
		return at
	}
	return behindSpaces(text, at)
}

// behindSpaces skips eight, four and two blanks at a time. Much of an indented text is blanks, and
// their number repeats from line to line. So its branches are predicted well, which is faster than
// counting the blanks in a word.
func behindSpaces(text []byte, at int) int {
	const blanks = 0x2020202020202020
	for at < len(text) && isSpace(text[at]) {
		at++
		for len(text)-at >= 8 && binary.LittleEndian.Uint64(text[at:]) == blanks {
			at += 8
		}
		if len(text)-at >= 4 && binary.LittleEndian.Uint32(text[at:]) == blanks>>32 {
			at += 4
		}
		if len(text)-at >= 2 && binary.LittleEndian.Uint16(text[at:]) == blanks>>48 {
			at += 2
		}
	}
	return at
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// ordinary marks the ASCII bytes that a string may contain without an escape: all except control
// characters, quotes and backslashes.
var ordinary = func() (t [256]bool) {
	for c := ' '; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// String reads the string whose opening quote is at p. If the string has no escapes, the result is
// a slice of the text.
func (s *Scanner) String(p int) (text []byte, next int, err error) {
	end := p + 1
	for end < len(s.Text) && ordinary[s.Text[end]] {
		end++
	}
	if s.byte(end) == '"' {
		return s.Text[p+1 : end : end], end + 1, nil
	}
	return s.longString(p+1, end)
}

// longString reads a string that begins at start and has only ordinary bytes before p.
func (s *Scanner) longString(start, p int) (text []byte, next int, err error) {
	escaped := false
	for ; s.byte(p) != '"'; p++ {
		switch c := s.byte(p); {
		case p >= len(s.Text):
			return nil, start, s.fault(p, "a string without its end", "another quote")
		case c < ' ':
			return nil, start, s.fault(p, "the control character "+strconv.QuoteRune(rune(c))+" in a string", "an escape")
		case c == '\\':
			escaped = true
			p++
		}
	}
	text = s.Text[start:p:p]
	if !s.Loose && !utf8.Valid(text) {
		at := start + invalid(text)
		return nil, start, s.fault(at, "the byte "+strconv.Quote(string(s.Text[at:at+1]))+", which is not UTF-8", "text in UTF-8")
	}
	if escaped {
		text, err = s.unescape(start, text)
	}
	return text, p + 1, err
}

// invalid returns the offset of the first byte that is not UTF-8.
func invalid(text []byte) int {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return len(text)
}

// unescape resolves the escapes of the string raw, which begins at offset at.
func (s *Scanner) unescape(at int, raw []byte) ([]byte, error) {
	start := len(s.memory)
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			s.memory = append(s.memory, raw[i])
			continue
		}
		i++
		if k := bytes.IndexByte([]byte(`"\/bfnrt`), raw[i]); k >= 0 {
			s.memory = append(s.memory, "\"\\/\b\f\n\r\t"[k])
			continue
		}
		r, ok := hexRune(raw, i)
		if !ok {
			return nil, s.fault(at+i-1, suggest.Quote(raw[i-1:min(i+5, len(raw))]), `one of the escapes \" \\ \/ \b \f \n \r \t \uXXXX`)
		}
		i += 4
		if utf16.IsSurrogate(r) {
			second, ok := rune(0), false
			if i+2 < len(raw) && raw[i+1] == '\\' {
				second, ok = hexRune(raw, i+2)
			}
			if r = utf16.DecodeRune(r, second); !ok || r == utf8.RuneError {
				return nil, s.fault(at+i-5, suggest.Quote(raw[i-5:i+1])+", half of a surrogate pair", "both halves")
			}
			i += 6
		}
		s.memory = utf8.AppendRune(s.memory, r)
	}
	return s.memory[start:len(s.memory):len(s.memory)], nil
}

// hexRune reads an escape uXXXX at raw[i].
func hexRune(raw []byte, i int) (r rune, ok bool) {
	if raw[i] != 'u' || i+5 > len(raw) {
		return 0, false
	}
	for _, c := range raw[i+1 : i+5] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case c|0x20-'a' < 6:
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// Key reads a key, its colon and the white space after the colon.
func (s *Scanner) Key(p int) (key []byte, next int, err error) {
	if s.byte(p) != '"' {
		return nil, p, s.fault(p, s.Token(p), "a key in quotes")
	}
	if key, next, err = s.String(p); err != nil {
		return nil, p, err
	}
	if next = s.Blanks(next); s.byte(next) != ':' {
		return nil, p, s.fault(next, s.Token(next)+" behind the key "+suggest.Quote(key), "a colon and a value")
	}
	return key, s.Blanks(next + 1), nil
}

// Object reads an object. For each member it calls value with the key, the offset at of the key and
// the offset p of the value. what names the object in messages.
func (s *Scanner) Object(p int, what string, value func(key []byte, at, p int) (next int, err error)) (next int, err error) {
	if s.byte(p) != '{' {
		return p, s.fault(p, s.Token(p), what+" as an object, {…}")
	}
	if p = s.Blanks(p + 1); s.byte(p) == '}' {
		return p + 1, nil
	}
	for {
		key, next, err := s.Key(p)
		if err != nil {
			return p, err
		}
		if p, err = value(key, p, next); err != nil {
			return p, err
		}
		if p = s.Blanks(p); s.byte(p) != ',' {
			return s.End(p, '}', what)
		}
		p = s.Blanks(p + 1)
	}
}

// List reads a list. For each element it calls value with the index i, from 0, and the offset p of
// the element.
func (s *Scanner) List(p int, what string, value func(i, p int) (next int, err error)) (next int, err error) {
	if s.byte(p) != '[' {
		return p, s.fault(p, s.Token(p), what+" as a list, […]")
	}
	if p = s.Blanks(p + 1); s.byte(p) == ']' {
		return p + 1, nil
	}
	for i := 0; ; i++ {
		if p, err = value(i, p); err != nil {
			return p, err
		}
		if p = s.Blanks(p); s.byte(p) != ',' {
			return s.End(p, ']', what)
		}
		p = s.Blanks(p + 1)
	}
}

// End reads the bracket that ends an object or a list. Its errors mention that a comma could
// follow, too.
func (s *Scanner) End(p int, bracket byte, what string) (next int, err error) {
	if s.byte(p) != bracket {
		return p, s.fault(p, s.Token(p)+" behind a value", "a comma or the end of "+what+", "+string(bracket))
	}
	return p + 1, nil
}

// Scalar reads a string, a number, true, false or null. The text of null is nil.
func (s *Scanner) Scalar(p int) (text []byte, next int, err error) {
	if s.byte(p) == '"' {
		return s.String(p)
	}
	end := p
	for end < len(s.Text) && !endsToken[s.Text[end]] {
		end++
	}
	text = s.Text[p:end]
	switch string(text) {
	case "null":
		return nil, end, nil
	case "true", "false":
		return text, end, nil
	case "NaN", "Infinity", "-Infinity":
		if s.Loose {
			return text, end, nil
		}
	}
	if NumberEnd(text, 0) != len(text) {
		return nil, p, s.fault(p, s.Token(p), "a value: a number, a string, true, false or null")
	}
	return text, end, nil
}

// Skip reads a value of any kind.
func (s *Scanner) Skip(p int) (next int, err error) { return s.skip(p, 0) }

// skip is Skip for a value inside depth objects and lists.
func (s *Scanner) skip(p, depth int) (next int, err error) {
	switch b := s.byte(p); {
	case b != '{' && b != '[':
		used := len(s.memory)
		_, next, err = s.Scalar(p)
		s.memory = s.memory[:used]
		return next, err
	case depth == MaxDepth:
		return p, s.fault(p, fmt.Sprintf("more than %d levels of objects and lists", MaxDepth), "fewer")
	case b == '[':
		return s.List(p, "the list", func(_, at int) (int, error) { return s.skip(s.numbers(at), depth+1) })
	case s.unique:
		return s.skipUnique(p, depth)
	}
	return s.Object(p, "the object", func(_ []byte, _, at int) (int, error) { return s.skip(at, depth+1) })
}

// numbers skips consecutive numbers of a list, which begin at p, and returns the offset of the last
// one. Model files consist mostly of long lists of numbers.
func (s *Scanner) numbers(p int) int {
	for at := p; ; {
		end := NumberEnd(s.Text, at)
		if end < 0 {
			return p
		}
		p = at
		if at = behindSpace(s.Text, end); s.byte(at) != ',' {
			return p
		}
		at = behindSpace(s.Text, at+1)
	}
}

// Token returns the token at p in quotes, for messages.
func (s *Scanner) Token(p int) string {
	b := s.Text
	if p >= len(b) {
		if s.Line {
			return "the end of the line"
		}
		return "the end of the text"
	}
	const most = 100
	end := p + 1
	if b[p] == '"' {
		for end < len(b) && end < p+most && b[end] != '"' {
			if b[end] == '\\' {
				end++
			}
			end++
		}
		return suggest.Quote(b[p:min(end+1, len(b))])
	}
	for end < len(b) && !endsToken[b[p]] && !endsToken[b[end]] {
		end++
	}
	return suggest.Quote(b[p:end])
}

// endsToken marks the bytes that end a number or a word. endsValue marks the bytes that may follow
// a value in a valid text, and 0, which follows a padded text.
var (
	endsToken = [256]bool{0: true, ' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true, ':': true, '"': true, '{': true, '[': true}
	endsValue = [256]bool{0: true, ' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true}
)

// EndsValue reports whether b may follow a number or a word. 0 may, because zeros follow a padded
// text.
func EndsValue(b byte) bool { return endsValue[b] }

// ShortNumber reads a short number in JSON's grammar at b[p] by [decimal.Short]. It returns the
// offset after the number, or p if there is no such number or no byte that may follow a value. At
// least decimal.Padding bytes must be readable after p.
func ShortNumber(b []byte, p int) (v float32, next int) {
	v, next = decimal.Short(b, p)
	if next == p || !endsValue[b[next]] || b[next-1] == '.' {
		return 0, p
	}
	first := p
	if b[p] == '-' {
		first++
	}
	if b[first] == '0' && isDigit(b[first+1]) {
		return 0, p
	}
	return v, next
}

func isDigit(b byte) bool { return b-'0' <= 9 }

// NumberEnd returns the offset after the JSON number that begins at at, or -1 if there is none. The
// grammar is -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func NumberEnd(text []byte, at int) int {
	if at < len(text) && text[at] == '-' {
		at++
	}
	whole := at
	if at = digits(text, at); at < 0 || text[whole] == '0' && at > whole+1 {
		return -1
	}
	if at < len(text) && text[at] == '.' {
		if at = digits(text, at+1); at < 0 {
			return -1
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		at = digits(text, at)
	}
	return at
}

// digits returns the offset after one or more digits, or -1 if there is none.
func digits(text []byte, at int) int {
	start := at
	for at < len(text) && isDigit(text[at]) {
		at++
	}
	if at == start {
		return -1
	}
	return at
}
