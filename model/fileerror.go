package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/listwise/listwise/internal/strictjson"
)

// FileError says what is wrong in a model file: what was found, what was expected, and on
// which line where that is known.
type FileError struct {
	File string
	Line int // counted from 1; 0 if the error is not of one line
	Err  error
}

// Error returns "FILE:LINE: …", without the middle of what is very long: a file may
// hold a text of any length where a name is expected.
func (e *FileError) Error() string {
	const most = 400
	what := []rune(e.Err.Error())
	if len(what) > most {
		what = slices.Concat(what[:most/2], []rune(" … "), what[len(what)-most/2:])
	}
	if e.Line == 0 {
		return e.File + ": " + string(what)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, string(what))
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Locate adds to an error about a text where it happened, and rephrases those about JSON for
// readers who do not know Go. Packages that read models of other systems use it, too.
func Locate(path string, text []byte, err error) *FileError {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var strict *strictjson.Error
	var part *partError
	var offset int
	switch {
	case errors.As(err, &syntax):
		offset = int(syntax.Offset)
		err = fmt.Errorf("found what is not JSON (%w), expected a model file", err)
	case errors.As(err, &kind):
		offset = int(kind.Offset)
		where := ""
		if kind.Field != "" {
			where = fmt.Sprintf(" as %q", kind.Field)
		}
		err = fmt.Errorf("found %s%s, expected %s", kind.Value, where, kindName(kind.Type))
	case errors.As(err, &strict):
		offset = strict.At
	case errors.As(err, &part):
		offset = part.at
	default:
		return &FileError{File: path, Err: err}
	}
	end := min(max(0, offset), len(text))
	return &FileError{File: path, Line: 1 + bytes.Count(text[:end], []byte("\n")), Err: err}
}

// kindName describes the values that a field takes.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.String:
		return "text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "a whole number within range"
	case reflect.Float32, reflect.Float64:
		return "a number within the range of " + t.Kind().String()
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}
