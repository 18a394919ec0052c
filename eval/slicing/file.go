package slicing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
)

// fileEnding is the ending of a file of values that is given without a name.
const fileEnding = ".tsv"

// nameOf returns the name of the key for a file of values.
func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), fileEnding) }

// values contains the values of queries in a file.
type values struct {
	path string
	of   map[string]string // by query id
}

// noQuery returns the error for a file without values of the data's queries.
func (v *values) noQuery() error {
	return &dataset.SyntaxError{File: v.path, Found: fmt.Sprintf("values of %d queries, none of which is in the data", len(v.of)), Expected: "lines of a query's id, a tab and its value"}
}

// readFile reads a file of values.
func readFile(path string) (*values, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return readValues(f, path)
}

// longestLine is the longest line of a file of values, in bytes. mostValues is the largest size of the
// file.
const (
	longestLine = 1 << 20
	mostValues  = 1 << 30
)

// readValues reads lines with a query's id, a tab and its value. An empty value means no value. Blank
// lines are skipped. Lines end in LF or CR LF. A query may be repeated with the same value. Queries
// that are not in the data are ignored. Queries that are not in the file have no value.
func readValues(r io.Reader, name string) (*values, error) {
	v := &values{path: name, of: make(map[string]string)}
	limited := &io.LimitedReader{R: r, N: mostValues + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, longestLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if fault := v.add(line); fault != nil {
			fault.File, fault.Line = name, n
			return nil, fault
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &dataset.SyntaxError{File: name, Found: "a line longer than a MiB", Expected: "a query's id, a tab and its value"}
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if limited.N == 0 {
		return nil, &dataset.SyntaxError{File: name, Found: "more than a GiB", Expected: "a line for each query"}
	}
	return v, nil
}

// add parses a line.
func (v *values) add(line []byte) *dataset.SyntaxError {
	if !utf8.Valid(line) {
		return &dataset.SyntaxError{Found: "a line that is not in UTF-8", Expected: "text in UTF-8"}
	}
	query, value, tab := strings.Cut(string(line), "\t")
	value = strings.TrimSpace(value)
	if !tab || query == "" || strings.ContainsFunc(value, isControl) {
		return &dataset.SyntaxError{Found: fmt.Sprintf("%.60q", line), Expected: "a query's id, a tab and its value"}
	}
	if first, known := v.of[query]; known && first != value {
		return &dataset.SyntaxError{Found: fmt.Sprintf("the value %q of query %q", value, query), Expected: fmt.Sprintf("%q, as in a line before", first)}
	}
	v.of[query] = value
	return nil
}

func isControl(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 }
