package letor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/internal/suggest"
)

// LETOR text has no place for the names of features. This program writes and reads them as a
// comment before the first document:
//
//	# features: ["bm25","title length"]

// namesMark is what such a line begins with.
var namesMark = []byte("# features: [")

// parseNames returns the names of a line that begins with namesMark, nil if it is some other
// comment: unless what follows is an array of different names in JSON. Names that are not UTF-8 are an
// error.
func parseNames(line []byte) (names []string, err error) {
	if json.Unmarshal(bytes.TrimSpace(line[len(namesMark)-1:]), &names) != nil || len(names) == 0 {
		return nil, nil //nolint:nilerr // some other comment
	}
	if !wholeText(line, names) {
		return nil, &dataset.SyntaxError{Found: "names of features that are not UTF-8, " + suggest.Quote(line), Expected: "text in UTF-8, without half a surrogate pair"}
	}
	known := make(map[string]bool)
	for _, name := range names {
		if name == "" || known[name] || ingest.Identifier([]byte(name)) != "" {
			return nil, nil
		}
		known[name] = true
	}
	return names, nil
}

// wholeText reports whether names are exactly the text of a line. encoding/json puts U+FFFD in place of invalid
// UTF-8 and of half a surrogate pair.
func wholeText(line []byte, names []string) bool {
	if !utf8.Valid(line) {
		return false
	}
	replaced := func(name string) bool { return strings.ContainsRune(name, utf8.RuneError) }
	return !slices.ContainsFunc(names, replaced) || bytes.Contains(bytes.ToLower(line), []byte(`\ufffd`)) || bytes.ContainsRune(line, utf8.RuneError)
}

// named returns the number of names that are known so far, 0 if there are none.
func (f *format) named() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.names)
}

// found notes the names in a chunk. The first chunk with names wins.
func (f *format) found(chunk int, names []string) {
	if names == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names == nil || chunk < f.at {
		f.names, f.at = names, chunk
	}
}

// checkNames checks a comment line. Names may occur several times, as in concatenated files, but must be the
// same.
func (f *format) checkNames(line []byte) error {
	if !bytes.HasPrefix(line, namesMark) {
		return nil
	}
	names, err := parseNames(line)
	if err != nil {
		return err
	}
	f.mu.Lock() // a survey counts other chunks at the same time
	first := f.names
	f.mu.Unlock()
	if names == nil || slices.Equal(names, first) {
		return nil
	}
	return &dataset.SyntaxError{Found: fmt.Sprintf("other names of features, %s", suggest.Quote(line)), Expected: "the same names as in the line before them"}
}

// checkBase checks a comment line: scikit-learn writes from which index features are counted.
func checkBase(line []byte, first int) error {
	for base, mark := range []string{"# Column indices are zero-based", "# Column indices are one-based"} {
		if base != first && bytes.HasPrefix(line, []byte(mark)) {
			return &dataset.SyntaxError{Found: suggest.Quote(line), Expected: fmt.Sprintf("features counted from %d (or --first-feature %d)", first, base)}
		}
	}
	return nil
}

// namesLine returns the comment with the names of features that [Read] reads, with its line
// feed; nothing for none.
func namesLine(names []string) ([]byte, error) {
	if names == nil {
		return nil, nil
	}
	text, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	return slices.Concat(namesMark[:len(namesMark)-1], text, []byte("\n")), nil
}
