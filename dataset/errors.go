package dataset

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/internal/block"
)

// ErrChanged is the cause of the error about a file that was changed while it was
// read or, a cache, while it was in use.
var ErrChanged = block.ErrChanged

// ErrTooLarge is the cause of the error about an input that takes more than
// Options.MaxBytes.
var ErrTooLarge = errors.New("the input takes too much memory")

// TooLarge returns an error of the same text whose cause, too, is [ErrTooLarge]: that of a method about the memory that
// there is besides the data.
func TooLarge(err error) error { return tooLarge{err} }

type tooLarge struct{ error }

// Unwrap returns the causes.
func (e tooLarge) Unwrap() []error { return []error{e.error, ErrTooLarge} }

// FormatError says what of data a format has no way to write.
type FormatError struct {
	Found, Expected string
}

// Error returns "found X, expected Y".
func (e *FormatError) Error() string { return "found " + e.Found + ", expected " + e.Expected }

// SampleError says why a sample of the queries is nothing to learn from.
type SampleError struct {
	Found, Expected string
}

// Error returns "found X, expected Y".
func (e *SampleError) Error() string { return "found " + e.Found + ", expected " + e.Expected }

// SyntaxError says where the content of a file is wrong, what was found there and what
// was expected. Every error about the content of an input is one.
type SyntaxError struct {
	File     string // the name the file was opened by
	Line     int    // counted from 1; 0 if the error is not of one line
	Found    string // what was found: quoted text of at most about 40 bytes, or a description
	Expected string // what should be there

	// Err is the cause, or nil if the content itself is wrong.
	Err error
}

// Error returns "FILE:LINE: found X, expected Y".
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: found %s, expected %s", e.File, e.Found, e.Expected)
	}
	return fmt.Sprintf("%s:%d: found %s, expected %s", e.File, e.Line, e.Found, e.Expected)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }
