package atomicfile

import (
	"encoding/json"
	"io"
)

// JSON returns a function for [Write] that writes v as indented JSON. All JSON files of this
// project have this form. The function returns an error if v has no JSON form.
func JSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	}
}
