package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/stream"
)

// Written tables begin with the columns query, grade and doc. If there are weights, query_weight and
// document_weight follow. The other columns are the features. Features without names are numbered from 1.
// Numbers are the shortest decimals that give the same bits. A missing value is an empty cell, or null in
// JSON.

// written are the names of the columns before the features. The last two are used only if there are weights.
var written = []string{"query", "grade", "doc", "query_weight", "document_weight"}

// notFeatures returns the names of the columns before the features.
func notFeatures(c stream.Contents) []string {
	if c.Weighted {
		return written
	}
	return written[:3]
}

// ColumnNames returns the names of the columns of features. It returns an error if a name is invalid, occurs
// twice or belongs to another column.
func ColumnNames(c stream.Contents) ([]string, error) {
	if c.FeatureNames == nil {
		names := make([]string, c.Features)
		for j := range names {
			names[j] = strconv.Itoa(j + 1)
		}
		return names, nil
	}
	known := make(map[string]bool)
	for _, name := range c.FeatureNames {
		if fault := ingest.Identifier([]byte(name)); fault != "" || name == "" || known[name] || slices.Contains(written, name) {
			return nil, &dataset.FormatError{Found: fmt.Sprintf("a feature called %q", name), Expected: "different names in UTF-8 without control characters, and not " + strings.Join(written, ", ") + ", to be names of columns"}
		}
		known[name] = true
	}
	return c.FeatureNames, nil
}

// CheckIDs returns an error if the identifier of a query or of a document is invalid.
func CheckIDs(query, id string) error {
	if fault := ingest.Identifier([]byte(query)); fault != "" || query == "" {
		return &dataset.FormatError{Found: fmt.Sprintf("the query id %q", query), Expected: "UTF-8 without control characters, to be written"}
	}
	if fault := ingest.Identifier([]byte(id)); fault != "" {
		return &dataset.FormatError{Found: fmt.Sprintf("the document id %q of query %q", id, query), Expected: "UTF-8 without control characters, to be written"}
	}
	return nil
}

// NewCSVWriter returns a function that makes writers of tables with the delimiter. [ReadCSV] reads these
// tables.
func NewCSVWriter(delimiter byte) func(w io.Writer, c stream.Contents) (stream.Writer, error) {
	return func(w io.Writer, c stream.Contents) (stream.Writer, error) {
		names, err := ColumnNames(c)
		if err != nil {
			return nil, err
		}
		row := cells{delimiter: delimiter, weighted: c.Weighted}
		var head []byte
		for _, name := range slices.Concat(notFeatures(c), names) {
			head = row.text(head, name)
		}
		if _, err := w.Write(row.end(head)); err != nil {
			return nil, err
		}
		return &lineWriter{lines: stream.NewLines(w, row.append)}, nil
	}
}

// lineWriter writes documents, one per line.
type lineWriter struct {
	lines           *stream.Lines
	query, document float64 // weights of the next document's query and of the document
}

// Weigh implements stream.WeightWriter.
func (z *lineWriter) Weigh(query, document float64) { z.query, z.document = query, document }

// Document implements stream.Writer.
func (z *lineWriter) Document(query, id string, grade float64, row []float32) error {
	if err := CheckIDs(query, id); err != nil {
		return err
	}
	return z.lines.Add(stream.Doc{Query: query, ID: id, Grade: grade, QueryWeight: z.query, Weight: z.document, Row: row})
}

// Close implements stream.Writer.
func (z *lineWriter) Close() error { return z.lines.End() }

// cells formats the rows of a CSV table.
type cells struct {
	delimiter byte
	weighted  bool
}

// append appends the row of a document to line.
func (z cells) append(line []byte, d *stream.Doc) []byte {
	line = z.text(line, d.Query)
	if !dataset.IsUnjudged(d.Grade) {
		line = strconv.AppendFloat(line, d.Grade, 'g', -1, 64)
	}
	line = append(line, z.delimiter)
	line = z.text(line, d.ID)
	if z.weighted {
		line = append(strconv.AppendFloat(line, d.QueryWeight, 'g', -1, 64), z.delimiter)
		line = append(strconv.AppendFloat(line, d.Weight, 'g', -1, 64), z.delimiter)
	}
	for _, v := range d.Row {
		if v == v {
			line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
		}
		line = append(line, z.delimiter)
	}
	return z.end(line)
}

// text appends a cell of text and a delimiter to line. It quotes the text if necessary.
func (z cells) text(line []byte, s string) []byte {
	if strings.IndexByte(s, z.delimiter) < 0 && !strings.Contains(s, `"`) && strings.Trim(s, " \t") == s {
		return append(append(line, s...), z.delimiter)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(s, `"`, `""`)...)
	return append(line, '"', z.delimiter)
}

// end replaces the delimiter after the last cell by a line feed.
func (z cells) end(line []byte) []byte {
	line[len(line)-1] = '\n'
	return line
}

// NewJSONWriter returns a writer of JSON lines, which [ReadJSON] reads. The objects have a member for each
// feature or, if features have no names, an array of all features.
func NewJSONWriter(w io.Writer, c stream.Contents) (stream.Writer, error) {
	names, err := ColumnNames(c)
	if err != nil {
		return nil, err
	}
	z := &members{array: c.FeatureNames == nil, weighted: c.Weighted, before: len(notFeatures(c))}
	for i, name := range slices.Concat(notFeatures(c), names) {
		z.names = append(z.names, append(marshal([]byte{','}, name), ':'))
		if i >= z.before && name == featuresKey {
			return nil, &dataset.FormatError{Found: fmt.Sprintf("a feature called %q", name), Expected: "another name, to be one of a member"}
		}
	}
	z.names[0][0] = '{'
	return &lineWriter{lines: stream.NewLines(w, z.append)}, nil
}

// members formats documents as JSON objects.
type members struct {
	array    bool
	weighted bool
	names    [][]byte // text before the value of each member
	before   int      // number of members before the features
}

// append appends the object of a document to line.
func (z *members) append(line []byte, d *stream.Doc) []byte {
	line = marshal(append(line, z.names[0]...), d.Query)
	if line = append(line, z.names[1]...); dataset.IsUnjudged(d.Grade) {
		line = append(line, "null"...)
	} else {
		line = strconv.AppendFloat(line, d.Grade, 'g', -1, 64)
	}
	line = marshal(append(line, z.names[2]...), d.ID)
	if z.weighted {
		line = strconv.AppendFloat(append(line, z.names[3]...), d.QueryWeight, 'g', -1, 64)
		line = strconv.AppendFloat(append(line, z.names[4]...), d.Weight, 'g', -1, 64)
	}
	if z.array {
		line = append(line, `,"`+featuresKey+`":[`...)
	}
	for j, v := range d.Row {
		if !z.array {
			line = append(line, z.names[z.before+j]...)
		} else if j > 0 {
			line = append(line, ',')
		}
		if math.IsNaN(float64(v)) {
			line = append(line, "null"...)
		} else {
			line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
		}
	}
	if z.array {
		line = append(line, ']')
	}
	return append(line, "}\n"...)
}

// marshal appends text as a JSON string. It does not escape <, > and &.
func marshal(line []byte, text string) []byte {
	b := bytes.NewBuffer(line)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // cannot fail for a string
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
