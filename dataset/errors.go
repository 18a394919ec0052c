package dataset

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/internal/block"
)

// ErrChanged is the cause of errors about a file that changed while it was read or, for a cache, while it was
// in use.
var ErrChanged = block.ErrChanged

// ErrTooLarge is the cause of errors about an input that takes more than Options.MaxBytes.
var ErrTooLarge = errors.New("the input takes too much memory")

// TooLarge returns an error with the text of err and the additional cause [ErrTooLarge]. Training methods use
// it if the memory that remains after the data are loaded does not suffice.
func TooLarge(err error) error { return tooLarge{err} }

type tooLarge struct{ error }

// Unwrap returns the causes.
func (e tooLarge) Unwrap() []error { return []error{e.error, ErrTooLarge} }

// FormatError is the error about data that a format cannot represent.
type FormatError struct {
	Found    string // description of the data
	Expected string // what the format can represent
}

// Error returns "found X, expected Y".
func (e *FormatError) Error() string { return "found " + e.Found + ", expected " + e.Expected }

// SampleError is the error about a sample of the queries from which nothing can be learned.
type SampleError struct {
	Found    string // description of the sample
	Expected string // what training needs
}

// Error returns "found X, expected Y".
func (e *SampleError) Error() string { return "found " + e.Found + ", expected " + e.Expected }

// SyntaxError is an error about the content of an input. It says where the content is wrong, what was found
// there and what was expected.
type SyntaxError struct {
	File     string // name by which the file was opened
	Line     int    // counted from 1; 0 if the error is not about one line
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
