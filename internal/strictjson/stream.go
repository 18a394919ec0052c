package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Stream reads JSON values one after the other from a text of any length. It holds one value at a time. Objects
// and lists that are larger than memory are entered by [Stream.Object] and [Stream.List].
//
// Errors about the text are of type [*Fault]; [Stream.Line] returns their line.
type Stream struct {
	Most int // bytes that a value may have

	r       io.Reader
	buf     []byte
	p       int    // place of the next byte in buf
	line    int    // of the place at
	at      int    // a place in buf up to p
	value   []byte // that was read last, or its beginning
	ended   error
	scanner Scanner
}

// streamBytes are read at a time.
const streamBytes = 1 << 18

// NewStream returns a stream of the values in a text.
func NewStream(r io.Reader, most int) *Stream {
	return &Stream{Most: most, r: r, line: 1, buf: make([]byte, 0, 2*streamBytes)}
}

// Line returns the line, from 1, of an offset in the value that was read last.
func (s *Stream) Line(offset int) int {
	return s.line + bytes.Count(s.value[:min(offset, len(s.value))], []byte("\n"))
}

// Next returns the line of the next value, once Peek or Done has found it.
func (s *Stream) Next() int {
	s.pass(s.p)
	s.value = nil
	return s.line
}

// more reads further bytes. It moves the bytes from p on to the front of the buffer if there is no room.
func (s *Stream) more() error {
	if s.ended != nil {
		return s.ended
	}
	if cap(s.buf)-len(s.buf) < streamBytes {
		s.pass(s.p)
		n := copy(s.buf, s.buf[s.p:])
		s.buf, s.p, s.at = s.buf[:n], 0, 0
		s.buf = slices.Grow(s.buf, streamBytes)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf, s.ended = s.buf[:len(s.buf)+n], err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// pass counts the lines up to a place.
func (s *Stream) pass(p int) {
	s.line += bytes.Count(s.buf[s.at:p], []byte("\n"))
	s.at = p
}

// Peek returns the first byte of the next value.
func (s *Stream) Peek() (byte, error) {
	b, err := s.peek()
	if errors.Is(err, io.EOF) {
		err = s.token("a value")
	}
	return b, err
}

// Start passes a byte order mark and returns the first byte of the text, 0 if there is none.
func (s *Stream) Start() (byte, error) {
	for len(s.buf) < 3 {
		if err := s.more(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, err
		}
	}
	s.p = len(s.buf) - len(bytes.TrimPrefix(s.buf, []byte("\ufeff")))
	if done, err := s.Done(); err != nil || done {
		return 0, err
	}
	return s.Peek()
}

// Done reports whether the text has no more values.
func (s *Stream) Done() (bool, error) {
	_, err := s.peek()
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// peek returns the next byte that is not white space. The error is io.EOF at the end of the text.
func (s *Stream) peek() (byte, error) {
	for {
		if s.p = behindSpace(s.buf, s.p); s.p < len(s.buf) {
			return s.buf[s.p], nil
		}
		if err := s.more(); err != nil {
			return 0, err
		}
	}
}

// token returns the error about the next token.
func (s *Stream) token(expected string) error {
	s.pass(s.p)
	s.value = nil
	sc := Scanner{Text: s.buf[s.p:]}
	return sc.fault(0, sc.Token(0), expected)
}

// next returns the next byte and passes it. It must be one of two.
func (s *Stream) next(this, that byte, expected string) (byte, error) {
	b, err := s.peek()
	switch {
	case errors.Is(err, io.EOF), err == nil && b != this && b != that:
		return 0, s.token(expected)
	case err != nil:
		return 0, err
	}
	s.p++
	return b, nil
}

// empty passes the bracket of an object or list, and its end if it is empty.
func (s *Stream) empty(open byte, what, form string) (bool, error) {
	if _, err := s.next(open, open, what+" as "+form); err != nil {
		return false, err
	}
	b, err := s.peek()
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if b != open+2 { // the closing bracket
		return false, nil
	}
	s.p++
	return true, nil
}

// Object reads an object. member reads the value of a key; the key is valid until it reads. what names the
// object in messages.
func (s *Stream) Object(what string, member func(key []byte) error) error {
	if empty, err := s.empty('{', what, "an object, {…}"); err != nil || empty {
		return err
	}
	for {
		if b, err := s.peek(); err == nil && b != '"' {
			return s.token("a key in quotes")
		}
		text, err := s.Value()
		if err != nil {
			return err
		}
		key, _, err := s.scan(text).String(0)
		if err != nil {
			return err
		}
		key = bytes.Clone(key)
		if _, err := s.next(':', ':', "a colon and a value"); err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		if b, err := s.next(',', '}', "a comma or the end of "+what+", }"); err != nil || b == '}' {
			return err
		}
	}
}

// List reads a list. element reads an element.
func (s *Stream) List(what string, element func() error) error {
	if empty, err := s.empty('[', what, "a list, […]"); err != nil || empty {
		return err
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if b, err := s.next(',', ']', "a comma or the end of "+what+", ]"); err != nil || b == ']' {
			return err
		}
	}
}

// scan returns the scanner for a value.
func (s *Stream) scan(text []byte) *Scanner {
	s.scanner.Reset(text)
	return &s.scanner
}

// Skip reads a value of any kind.
func (s *Stream) Skip() error {
	text, err := s.Value()
	if err == nil {
		_, err = s.scan(text).Skip(0)
	}
	return err
}

// Value returns the text of the next value, which is valid until the next call. It finds the end of the value by its
// quotes and brackets only: what is between them is for a [Scanner] to check.
func (s *Stream) Value() ([]byte, error) {
	b, err := s.Peek()
	if err != nil {
		return nil, err
	}
	if endsToken[b] && b != '"' && b != '{' && b != '[' {
		return nil, s.token("a value")
	}
	s.pass(s.p)
	n, depth, quote := 0, 0, -1 // bytes seen, open brackets, place of the first quote of an open string
	for {
		text := s.buf[s.p:]
		for n < len(text) {
			if quote >= 0 {
				k := bytes.IndexByte(text[n:], '"')
				if k < 0 {
					n = len(text)
					break
				}
				n += k + 1
				if escaped(text[quote+1 : n-1]) {
					continue
				}
				quote = -1
				if depth == 0 {
					return s.take(n), nil
				}
				continue
			}
			for depth > 0 && n < len(text) && !isShape[text[n]] {
				n++
			}
			if n == len(text) {
				break
			}
			switch c := text[n]; {
			case c == '"':
				quote = n
			case c == '{' || c == '[':
				depth++
			case depth > 0:
				if depth--; depth == 0 {
					return s.take(n + 1), nil
				}
			case endsToken[c]:
				return s.take(n), nil
			}
			n++
		}
		if n > s.Most {
			s.value = nil
			return nil, &Fault{0, fmt.Sprintf("a value of more than %d bytes", s.Most), "a shorter one"}
		}
		switch err := s.more(); {
		case errors.Is(err, io.EOF) && depth == 0 && quote < 0 && n > 0:
			return s.take(n), nil
		case errors.Is(err, io.EOF):
			s.value = s.buf[s.p:]
			return nil, &Fault{n, "the end of the text in a value", "the end of the value"}
		case err != nil:
			return nil, err
		}
	}
}

// take passes the next n bytes and returns them.
func (s *Stream) take(n int) []byte {
	text := s.buf[s.p : s.p+n : s.p+n]
	s.p += n
	s.value = text
	return text
}

// escaped reports whether what follows the beginning of a string is escaped by an odd number of backslashes.
func escaped(begun []byte) bool {
	n := 0
	for n < len(begun) && begun[len(begun)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
