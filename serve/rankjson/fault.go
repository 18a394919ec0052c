package rankjson

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// fault returns an error about the value at byte p of the request. Its pointer selects the current
// query or document.
func (d *decoder) fault(p int, found, expected string) *Error {
	return &Error{Pointer: d.place(), Offset: min(p, len(d.Text)), Kind: Malformed, Detail: "found " + found + ", expected " + expected}
}

// faultIn returns an error about a malformed member of the current JSON object.
func (d *decoder) faultIn(member string, p int, found, expected string) *Error {
	e := d.fault(p, found, expected)
	e.Pointer += pointerTo(member)
	return e
}

// tooLarge returns an error about a member of the current JSON object that exceeds a limit.
func (d *decoder) tooLarge(member string, p int, found, expected string) *Error {
	e := d.faultIn(member, p, found, expected)
	e.Kind = TooLarge
	return e
}

// within appends the names of nested members to the JSON pointer of an error.
func within(err error, names ...string) error {
	var e *Error
	if errors.As(err, &e) {
		for _, name := range names {
			e.Pointer += pointerTo(name)
		}
	}
	return err
}

// place returns the JSON pointer (RFC 6901) of the object that is being decoded: a document or a part
// of it, a query, or "" for the request.
func (d *decoder) place() string {
	place, documents := "", "/documents"
	if d.engine != nil {
		documents = d.engine.pointer
	}
	if d.query >= 0 {
		place = "/queries/" + strconv.Itoa(d.query)
	}
	if d.doc >= 0 {
		place += documents + "/" + strconv.Itoa(d.doc)
	}
	return place + d.inside
}

// pointerTo returns the part of a JSON pointer that selects the member called name.
func pointerTo(name string) string { return "/" + Escape(name) }

// Escape returns a key as JSON pointers write it, with ~0 for ~ and ~1 for /.
func Escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

func (d *decoder) unknown(key []byte, p int, expected string) error {
	return d.faultIn(string(key), p, "the key "+suggest.Quote(key), expected)
}

func (d *decoder) twice(key []byte, p int) error {
	return d.faultIn(string(key), p, "the key "+suggest.Quote(key)+" twice", "every key once in its object")
}

var _ error = (*Error)(nil)

// sameID returns the error for an id that occurs twice.
func (d *decoder) sameID(key string, id []byte, p int, expected string) error {
	return d.faultIn(key, p, fmt.Sprintf("the id %s a second time", suggest.Quote(id)), expected)
}
