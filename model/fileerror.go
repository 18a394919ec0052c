package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/strictjson"
)

// FileError describes an error in a model file: what was found, what was expected and, if known, the
// line.
type FileError struct {
	File string // path of the file
	Line int    // counted from 1; 0 if unknown
	Err  error  // what was found and what was expected
}

// Error returns "FILE:LINE: …". It shortens very long messages, since a damaged file may contain a name
// of any length.
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

// Locate adds the path and the line to an error about text. It rephrases errors of encoding/json for
// readers who do not know Go. Importers of other systems' models also use it.
func Locate(path string, text []byte, err error) *FileError {
	var strict *strictjson.Error
	var part *partError
	offset, plain := strictjson.Plain(err)
	switch _, syntax := errors.AsType[*json.SyntaxError](err); {
	case syntax:
		err = fmt.Errorf("%w, expected a model file", plain)
	case offset >= 0:
		err = plain
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
