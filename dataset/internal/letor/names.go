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

// LETOR text has no standard form for names of features. This program writes and reads them as a comment
// before the first document:
//
//	# features: ["bm25","title length"]

// namesMark is the beginning of such a comment.
var namesMark = []byte("# features: [")

// parseNames returns the names in a line that begins with namesMark. It returns nil if the line is some other
// comment, because it has no JSON array of different names. Names that are not UTF-8 are an error.
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

// wholeText reports whether names are exactly the text of a line. encoding/json replaces invalid UTF-8 and
// unpaired surrogates by U+FFFD.
func wholeText(line []byte, names []string) bool {
	if !utf8.Valid(line) {
		return false
	}
	replaced := func(name string) bool { return strings.ContainsRune(name, utf8.RuneError) }
	return !slices.ContainsFunc(names, replaced) || bytes.Contains(bytes.ToLower(line), []byte(`\ufffd`)) || bytes.ContainsRune(line, utf8.RuneError)
}

// named returns the number of feature names found so far.
func (f *format) named() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.names)
}

// found stores the names in a chunk, unless an earlier chunk has names.
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

// checkNames returns an error if a comment line has other names than the text's first such line. Repeated
// names are valid, since they occur in concatenated files.
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

// checkBase returns an error if a comment line by scikit-learn contradicts first, the index of the first
// feature.
func checkBase(line []byte, first int) error {
	for base, mark := range []string{"# Column indices are zero-based", "# Column indices are one-based"} {
		if base != first && bytes.HasPrefix(line, []byte(mark)) {
			return &dataset.SyntaxError{Found: suggest.Quote(line), Expected: fmt.Sprintf("features counted from %d (or --first-feature %d)", first, base)}
		}
	}
	return nil
}

// namesLine returns the comment with the names of features, with its line feed. [Read] reads this comment.
// Without names, namesLine returns nil.
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
