package rankjson

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// fault is an error about the value at p, in the current query and document.
func (d *decoder) fault(p int, found, expected string) *Error {
	return &Error{Pointer: d.place(), Offset: min(p, len(d.Text)), Kind: Malformed, Detail: "found " + found + ", expected " + expected}
}

// faultIn is an error about a malformed member of the current object.
func (d *decoder) faultIn(member string, p int, found, expected string) *Error {
	e := d.fault(p, found, expected)
	e.Pointer += pointerTo(member)
	return e
}

// tooLarge is an error about a member of the current object that exceeds the limits.
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

// place points to the current query and document.
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

// Escape returns a key in the form of a JSON pointer.
func Escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

func (d *decoder) unknown(key []byte, p int, expected string) error {
	return d.faultIn(string(key), p, "the key "+suggest.Quote(key), expected)
}

func (d *decoder) twice(key []byte, p int) error {
	return d.faultIn(string(key), p, "the key "+suggest.Quote(key)+" twice", "every key once in its object")
}

var _ error = (*Error)(nil)

// sameID is the error of a repeated id.
func (d *decoder) sameID(key string, id []byte, p int, expected string) error {
	return d.faultIn(key, p, fmt.Sprintf("the id %s a second time", suggest.Quote(id)), expected)
}
