// Package strictjson reads and writes JSON files that may be large and may come
// from anywhere: a key that stands twice in an object is an error instead of one
// of its values, names differ by case, nesting is bounded, and lists of
// ten million numbers take a second.
//
// Start reading at [Check], which sees a text once, and [Object.Decode], which then
// takes it apart; [Indent] and [AppendNumbers] write. The package knows nothing of what
// the files mean.
package strictjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// MaxDepth is how deep objects and lists may be nested.
	MaxDepth = 100
	// MaxKeys is how many keys an object may have.
	MaxKeys = 1 << 16
)

// Error is a text that is JSON but not such as this package accepts.
type Error struct {
	At  int // offset in the text
	Err error
}

// Error returns what is wrong, without the place.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Check reads the whole text, which must be one JSON value. What is no JSON is a
// *json.SyntaxError. A repeated key, more than MaxDepth levels or MaxKeys keys, and a string that
// is not UTF-8 or has half a surrogate pair, of which encoding/json makes U+FFFD, are an *Error.
// Check takes memory for keys only.
func Check(text []byte) error {
	c := checker{text: text}
	err := c.value()
	if err == nil {
		c.space()
		if c.at < len(text) {
			err = errSyntax
		}
	}
	if !errors.Is(err, errSyntax) {
		return err
	}
	// The words for bad syntax, and its place, are encoding/json's.
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return err
	}
	return &Error{c.at, errSyntax} // not reached
}

var errSyntax = errors.New("found what is not JSON")

type checker struct {
	text  []byte
	at    int
	depth int
	keys  []string // of the objects that are open, the innermost last
}

func (c *checker) space() { c.at = behindSpace(c.text, c.at) }

// behindSpace returns the offset of the first byte from an offset on that is no
// white space.
func behindSpace(text []byte, at int) int {
	if at < len(text) && text[at] > ' ' {
		return at
	}
	return behindSpaces(text, at)
}

// behindSpaces takes eight, four and two blanks at a time: much of an indented text are such,
// and as many each time. Branches that are foreseen wait for nothing; to count the blanks of
// a word would.
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

// next returns the byte after white space, 0 at the end of the text.
func (c *checker) next() byte {
	c.space()
	if c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

func (c *checker) value() error {
	switch b := c.next(); {
	case b == '{':
		return c.nested(c.object)
	case b == '[':
		return c.nested(c.list)
	case b == '"':
		return c.string()
	case b == '-' || isDigit(b):
		return c.number()
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == 'n':
		return c.word("null")
	}
	return errSyntax
}

func (c *checker) nested(read func() error) error {
	if c.depth == MaxDepth {
		return &Error{c.at, fmt.Errorf("found more than %d levels of objects and lists", MaxDepth)}
	}
	c.depth++
	c.at++
	err := read()
	c.depth--
	return err
}

func (c *checker) list() error {
	if c.next() == ']' {
		c.at++
		return nil
	}
	for {
		c.numbers()
		if err := c.value(); err != nil {
			return err
		}
		switch c.next() {
		case ',':
			c.at++
		case ']':
			c.at++
			return nil
		default:
			return errSyntax
		}
	}
}

// numbers moves to the last of the numbers that follow each other in a list, at once: long
// lists of them are what models consist of.
func (c *checker) numbers() {
	text, at := c.text, behindSpace(c.text, c.at)
	for {
		end := numberEnd(text, at)
		if end < 0 {
			return
		}
		c.at = at
		if at = behindSpace(text, end); at == len(text) || text[at] != ',' {
			return
		}
		at = behindSpace(text, at+1)
	}
}

func (c *checker) object() error {
	own := len(c.keys)
	defer func() { c.keys = c.keys[:own] }()
	if c.next() == '}' {
		c.at++
		return nil
	}
	var many map[string]bool // the keys, once they are more than a few
	for {
		if c.next() != '"' {
			return errSyntax
		}
		start := c.at
		if err := c.string(); err != nil {
			return err
		}
		key := unquote(c.text[start:c.at])
		if err := c.unique(key, c.keys[own:], &many); err != nil {
			return &Error{start, err}
		}
		c.keys = append(c.keys, key)
		if c.next() != ':' {
			return errSyntax
		}
		c.at++
		if err := c.value(); err != nil {
			return err
		}
		switch c.next() {
		case ',':
			c.at++
		case '}':
			c.at++
			return nil
		default:
			return errSyntax
		}
	}
}

// unique checks that an object does not have a key already. From a few keys on it
// remembers them in many.
func (c *checker) unique(key string, keys []string, many *map[string]bool) error {
	const few = 16
	var seen bool
	switch {
	case len(keys) < few:
		seen = slices.Contains(keys, key)
	case *many == nil:
		*many = make(map[string]bool)
		for _, k := range keys {
			(*many)[k] = true
		}
		fallthrough
	default:
		seen = (*many)[key]
		(*many)[key] = true
	}
	if seen {
		return fmt.Errorf("found the key %q a second time in its object, expected it once", key)
	}
	if len(keys) == MaxKeys {
		return fmt.Errorf("found an object of more than %d keys", MaxKeys)
	}
	return nil
}

func (c *checker) word(w string) error {
	if len(c.text)-c.at < len(w) || string(c.text[c.at:c.at+len(w)]) != w {
		return errSyntax
	}
	c.at += len(w)
	return nil
}

func isDigit(b byte) bool { return b-'0' <= 9 }

func (c *checker) number() error {
	end := numberEnd(c.text, c.at)
	if end < 0 {
		return errSyntax
	}
	c.at = end
	return nil
}

// numberEnd returns the offset behind the number that begins at an offset, -1 if
// there is none: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func numberEnd(text []byte, at int) int {
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

// digits returns the offset behind one or more digits, -1 if there is none.
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

func (c *checker) string() error {
	start, ascii := c.at, true
	for c.at++; c.at < len(c.text); c.at++ {
		switch b := c.text[c.at]; {
		case b == '"':
			c.at++
			if text := c.text[start:c.at]; !ascii && !utf8.Valid(text) {
				return &Error{start, fmt.Errorf("found the string %.100q, which is not UTF-8, expected text in UTF-8", text[1:len(text)-1])}
			}
			return nil
		case b >= utf8.RuneSelf:
			ascii = false
		case b < ' ':
			return errSyntax
		case b == '\\':
			if err := c.escape(); err != nil {
				return err
			}
		}
	}
	return errSyntax
}

// escape moves to the last byte of the escape sequence at hand.
func (c *checker) escape() error {
	c.at++
	if c.at == len(c.text) {
		return errSyntax
	}
	switch c.text[c.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		start := c.at - 1
		r, err := c.hex()
		if err != nil || !utf16.IsSurrogate(r) {
			return err
		}
		if bytes.HasPrefix(c.text[c.at+1:], []byte(`\u`)) {
			c.at += 2
			second, err := c.hex()
			if err != nil || utf16.DecodeRune(r, second) != unicode.ReplacementChar {
				return err
			}
		}
		return &Error{start, fmt.Errorf("found %s, half of a surrogate pair, expected both halves", c.text[start:start+6])}
	}
	return errSyntax
}

// hex reads the four digits behind the byte at hand, and moves to the last of them.
func (c *checker) hex() (r rune, err error) {
	for range 4 {
		c.at++
		if c.at == len(c.text) || !isHex(c.text[c.at]) {
			return 0, errSyntax
		}
		digit := c.text[c.at] - '0'
		if digit > 9 {
			digit = c.text[c.at] | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(digit)
	}
	return r, nil
}

func isHex(b byte) bool { return isDigit(b) || b|0x20-'a' < 6 }

// unquote returns what a string that was checked stands for.
func unquote(quoted []byte) string {
	for _, b := range quoted {
		if b == '\\' || b >= 0x80 {
			var s string
			if err := json.Unmarshal(quoted, &s); err != nil {
				panic(err) // the string was checked
			}
			return s
		}
	}
	return string(quoted[1 : len(quoted)-1])
}
