package atomicfile

import (
	"encoding/json"
	"io"
)

// JSON returns a function for [Write] that writes v as indented JSON, the form of
// all this project's JSON files. A value that has no JSON form is an error.
func JSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	}
}
