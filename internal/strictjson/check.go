// Package strictjson reads and writes JSON text that may be large and of any origin. [Scanner] reads
// values one by one, for tables, requests and model files. In files a repeated key in an object is an
// error, names are case-sensitive, and nesting is bounded. Lists of ten million numbers take a second.
//
// Start reading at [Check], which sees a text once, and [Object.Decode], which then takes it apart.
// [Indent] and [AppendNumbers] write. The package must not know what the texts mean.
package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// Check reads the whole text, which must be one JSON value. Invalid JSON is a *json.SyntaxError. A
// repeated key, more than MaxDepth levels or MaxKeys keys, and an invalid string are an *Error. A string
// is invalid if it is not UTF-8 or has half a surrogate pair, which encoding/json replaces by U+FFFD.
// Check allocates memory only for keys and for strings with escapes.
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
	// The words for bad syntax, and its place, are encoding/json's.
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return err
	}
	return &Error{fault.At, fault}
}

// skipUnique is skip of an object whose keys must differ.
func (s *Scanner) skipUnique(p, depth int) (next int, err error) {
	own := len(s.keys)
	defer func() { s.keys = s.keys[:own] }()
	var many map[string]bool // the keys, once they are more than a few
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

// addKey checks that an object does not have a key already. From a few keys on it
// remembers them in many.
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
