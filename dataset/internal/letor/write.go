package letor

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/stream"
)

// WriteOptions are the options of Write.
type WriteOptions struct {
	// Sparse omits features that are 0. The last feature of the first document is always written, because it
	// tells a reader the number of features.
	Sparse bool

	// Observe, if not nil, is called after every query with the number of queries written and the total.
	Observe func(done, total int)

	// MaxBytes is the memory limit of a writer of another format, or 0 for none. The writer uses a part of it
	// for pending output, and a temporary file for further output.
	MaxBytes int64
}

// Write writes the data set as LETOR text, one document per line, query by query. The documents of a query are
// adjacent, even if they were not in the input. Numbers are the shortest decimals from which [Read] returns
// the same bits. A comment before the documents has the names of features.
//
// The format has no warnings and no weights. Warnings are omitted, and weights are an error. An identifier is
// an error if it contains blanks or control characters or is not UTF-8.
func Write(w io.Writer, d *dataset.Dataset, opts WriteOptions) error {
	l, err := NewWriter(w, stream.ContentsOf(d), opts)
	if err != nil {
		return err
	}
	return stream.Write(l, d, opts.Observe)
}

// NewWriter returns a writer of documents in the format of [Write].
func NewWriter(w io.Writer, c stream.Contents, opts WriteOptions) (stream.Writer, error) {
	if c.Weighted {
		return nil, &dataset.FormatError{Found: "weights of queries or documents", Expected: "none: LETOR text has no place for them; a cache (.lwd) and tables (.csv, .tsv, .jsonl) keep them"}
	}
	names, err := namesLine(c.FeatureNames)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(names)
	return &lineWriter{lines: stream.NewLines(w, func(text []byte, d *stream.Doc) []byte { return appendLine(text, d, opts.Sparse) })}, err
}

// lineWriter writes documents, one per line.
type lineWriter struct {
	lines *stream.Lines
	query string // query id of the document before
}

// Close implements stream.Writer.
func (l *lineWriter) Close() error { return l.lines.End() }

// Document implements stream.Writer.
func (l *lineWriter) Document(query, id string, grade float64, row []float32) error {
	if query != l.query && (!plainID(query) || strings.Contains(query, "#")) || query == "" {
		return &dataset.FormatError{Found: fmt.Sprintf("the query id %q", query), Expected: "UTF-8 without blanks, control characters or #, to be written as LETOR text; tables and caches take blanks"}
	}
	if !plainID(id) {
		return &dataset.FormatError{Found: fmt.Sprintf("the document id %q of query %q", id, query), Expected: "UTF-8 without blanks or control characters, to be written as LETOR text; tables and caches take blanks"}
	}
	l.query = query
	return l.lines.Add(stream.Doc{Query: query, ID: id, Grade: grade, Row: row})
}

// appendLine appends the line of a document.
func appendLine(line []byte, d *stream.Doc, sparse bool) []byte {
	line = strconv.AppendFloat(line, d.Grade, 'g', -1, 64)
	line = append(append(line, " qid:"...), d.Query...)
	line = appendFeatures(line, d.Row, sparse, d.First)
	if d.ID != "" {
		line = append(append(line, " #docid = "...), d.ID...)
	}
	return append(line, '\n')
}

func plainID(id string) bool {
	return utf8.ValidString(id) && !strings.Contains(id, " ") && !strings.ContainsFunc(id, unicode.IsControl)
}

func appendFeatures(line []byte, row []float32, sparse, last bool) []byte {
	for k, v := range row {
		if sparse && math.Float32bits(v) == 0 && (!last || k < len(row)-1) {
			continue
		}
		line = append(line, ' ')
		line = strconv.AppendInt(line, int64(k+1), 10)
		line = append(line, ':')
		line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
	}
	return line
}
