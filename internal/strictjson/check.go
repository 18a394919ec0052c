// Package strictjson reads and writes JSON text that may be large and of any origin. [Scanner]
// reads single values of tables, requests and model files. [Check] rejects repeated keys in an
// object and deep nesting. Names are case-sensitive. A list of ten million numbers takes a second.
//
// Start reading at [Check], which checks a text once, and [Object.Decode], which reads a checked
// text. [Indent] and [AppendNumbers] write JSON. The package must not depend on any format.
package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

const (
	// MaxDepth is the largest number of nested objects and lists.
	MaxDepth = 100
	// MaxKeys is the largest number of keys of an object.
	MaxKeys = 1 << 16
)

// Error is the error for text that is JSON but violates a rule of this package.
type Error struct {
	At  int // offset in the text
	Err error
}

// Error returns the message of Err, without the offset.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Check reads the whole text, which must be one JSON value. Invalid JSON gives a *json.SyntaxError.
// An *Error reports a repeated key, more than MaxDepth levels, more than MaxKeys keys, or an
// invalid string. A string is invalid if it is not UTF-8 or has half of a surrogate pair;
// encoding/json would replace both by U+FFFD. Check allocates memory only for keys and for strings
// with escapes.
func Check(text []byte) error {
	s := Scanner{Text: text, unique: true}
	p, err := s.Skip(s.Blanks(0))
	if err == nil {
		if p = s.Blanks(p); p == len(text) {
			return nil
		}
		err = s.fault(p, s.Token(p), "the end of the text")
	}
	fault, ok := errors.AsType[*Fault](err)
	if !ok {
		return err
	}
	// The message and the offset of a syntax error are those of encoding/json.
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return err
	}
	return &Error{fault.At, fault}
}

// skipUnique skips an object and checks that its keys differ.
func (s *Scanner) skipUnique(p, depth int) (next int, err error) {
	own := len(s.keys)
	defer func() { s.keys = s.keys[:own] }()
	var many map[string]bool // set when there are more than a few keys
	return s.Object(p, "the object", func(key []byte, at, p int) (int, error) {
		name := string(key)
		s.memory = s.memory[:0]
		if err := addKey(name, s.keys[own:], &many); err != nil {
			return at, &Error{at, err}
		}
		s.keys = append(s.keys, name)
		return s.skip(p, depth+1)
	})
}

// addKey returns an error if an object has the key already or has too many keys. If the object has
// more than a few keys, addKey stores them in many.
func addKey(key string, keys []string, many *map[string]bool) error {
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
