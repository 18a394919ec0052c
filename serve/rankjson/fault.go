package rankjson

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// fault is an error about what stands at p, in the query and the document at hand.
func (d *decoder) fault(p int, found, expected string) *Error {
	return &Error{Pointer: d.place(), Offset: min(p, d.end), Kind: Malformed, Detail: "found " + found + ", expected " + expected}
}

// faultIn is a malformed member of what is at hand.
func (d *decoder) faultIn(member string, p int, found, expected string) *Error {
	e := d.fault(p, found, expected)
	e.Pointer += pointerTo(member)
	return e
}

// tooLarge is a member of what is at hand that is beyond the limits.
func (d *decoder) tooLarge(member string, p int, found, expected string) *Error {
	e := d.faultIn(member, p, found, expected)
	e.Kind = TooLarge
	return e
}

// within adds names to the place of an error.
func within(err error, names ...string) error {
	var e *Error
	if errors.As(err, &e) {
		for _, name := range names {
			e.Pointer += pointerTo(name)
		}
	}
	return err
}

// place points to the query and the document at hand.
func (d *decoder) place() string {
	place := ""
	if d.query >= 0 {
		place = "/queries/" + strconv.Itoa(d.query)
	}
	if d.doc >= 0 {
		place += "/documents/" + strconv.Itoa(d.doc)
	}
	return place
}

// pointerTo is a step of a JSON pointer.
func pointerTo(name string) string { return "/" + Escape(name) }

// Escape returns a key as it stands in a JSON pointer.
func Escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

func (d *decoder) unknown(key []byte, p int, expected string) error {
	return d.faultIn(string(key), p, "the key "+quote(key), expected)
}

func (d *decoder) twice(key []byte, p int) error {
	return d.faultIn(string(key), p, "the key "+quote(key)+" twice", "every key once in its object")
}

// mostQuoted is how many bytes of a text an error repeats.
const mostQuoted = 40

// quote quotes the beginning of a text.
func quote(text []byte) string {
	if len(text) <= mostQuoted {
		return strconv.Quote(string(text))
	}
	n := mostQuoted
	for n > mostQuoted-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return strconv.Quote(string(text[:n])) + "…"
}

// token describes what stands at p.
func (d *decoder) token(p int) string {
	if p >= d.end {
		return "the end of the text"
	}
	b, end := d.b[:d.end], p+1
	if b[p] == '"' {
		for end < d.end && end < p+2*mostQuoted && b[end] != '"' {
			if b[end] == '\\' {
				end++
			}
			end++
		}
		return quote(b[p:min(end+1, d.end)])
	}
	for end < d.end && !endsToken(b[p]) && !endsToken(b[end]) {
		end++
	}
	return quote(b[p:end])
}

func endsToken(c byte) bool { return endsValue[c] || c == ':' || c == '"' || c == '{' || c == '[' }

var _ error = (*Error)(nil)

// sameID is the error of an id that stands twice.
func (d *decoder) sameID(key string, id []byte, p int, expected string) error {
	return d.faultIn(key, p, fmt.Sprintf("the id %s a second time", quote(id)), expected)
}
