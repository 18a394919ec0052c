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
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/ingest"
)

// Tables are written with the columns query, grade and doc before those of the features, and of
// weights, if there are any, query_weight and document_weight. Features without names are numbered from 1 on. Numbers are the shortest decimals that give the same
// bits; a missing value is an empty cell, in JSON null.

// written are the names of the columns that are no features, the last two only where there are
// weights.
var written = []string{"query", "grade", "doc", "query_weight", "document_weight"}

// notFeatures returns the names of columns before those of features.
func notFeatures(c stream.Contents) []string {
	if c.Weighted {
		return written
	}
	return written[:3]
}

// weights are those of the next document, for writers.
type weights struct {
	any             bool
	query, document float64
}

// Weigh implements stream.WeightWriter.
func (w *weights) Weigh(query, document float64) { w.query, w.document = query, document }

// ColumnNames returns the names of the columns of features.
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

// CheckIDs returns what is wrong with the identifiers of a document.
func CheckIDs(query, id string) error {
	if fault := ingest.Identifier([]byte(query)); fault != "" || query == "" {
		return &dataset.FormatError{Found: fmt.Sprintf("the query id %q", query), Expected: "UTF-8 without control characters, to be written"}
	}
	if fault := ingest.Identifier([]byte(id)); fault != "" {
		return &dataset.FormatError{Found: fmt.Sprintf("the document id %q of query %q", id, query), Expected: "UTF-8 without control characters, to be written"}
	}
	return nil
}

// NewCSVWriter returns what makes writers of tables with a delimiter, which [ReadCSV] reads.
func NewCSVWriter(delimiter byte) func(w io.Writer, c stream.Contents) (stream.Writer, error) {
	return func(w io.Writer, c stream.Contents) (stream.Writer, error) {
		names, err := ColumnNames(c)
		if err != nil {
			return nil, err
		}
		z := &csvWriter{w: w, delimiter: delimiter, weights: weights{any: c.Weighted}}
		for _, name := range slices.Concat(notFeatures(c), names) {
			z.text(name)
		}
		return z, z.end()
	}
}

// csvWriter writes rows.
type csvWriter struct {
	weights

	w         io.Writer
	delimiter byte
	line      []byte
}

// Document implements stream.Writer.
func (z *csvWriter) Document(query, id string, grade float64, row []float32) error {
	if err := CheckIDs(query, id); err != nil {
		return err
	}
	z.text(query)
	z.line = append(strconv.AppendFloat(z.line, grade, 'g', -1, 64), z.delimiter)
	z.text(id)
	if z.any {
		z.line = append(strconv.AppendFloat(z.line, z.query, 'g', -1, 64), z.delimiter)
		z.line = append(strconv.AppendFloat(z.line, z.document, 'g', -1, 64), z.delimiter)
	}
	for _, v := range row {
		if v == v {
			z.line = strconv.AppendFloat(z.line, float64(v), 'g', -1, 32)
		}
		z.line = append(z.line, z.delimiter)
	}
	return z.end()
}

// text appends a cell of text, in quotes if it needs them.
func (z *csvWriter) text(s string) {
	if strings.IndexByte(s, z.delimiter) < 0 && !strings.Contains(s, `"`) && strings.Trim(s, " \t") == s {
		z.line = append(append(z.line, s...), z.delimiter)
		return
	}
	z.line = append(z.line, '"')
	z.line = append(z.line, strings.ReplaceAll(s, `"`, `""`)...)
	z.line = append(z.line, '"', z.delimiter)
}

// end writes the line, whose last cell is followed by a delimiter.
func (z *csvWriter) end() error {
	z.line[len(z.line)-1] = '\n'
	_, err := z.w.Write(z.line)
	z.line = z.line[:0]
	return err
}

// Close implements stream.Writer.
func (z *csvWriter) Close() error { return nil }

// NewJSONWriter returns a writer of JSON lines, which [ReadJSON] reads: objects with a member
// for each feature or, without names, an array of them.
func NewJSONWriter(w io.Writer, c stream.Contents) (stream.Writer, error) {
	names, err := ColumnNames(c)
	if err != nil {
		return nil, err
	}
	z := &jsonWriter{w: w, array: c.FeatureNames == nil, weights: weights{any: c.Weighted}, before: len(notFeatures(c))}
	for i, name := range slices.Concat(notFeatures(c), names) {
		text, err := marshal(name)
		if err != nil {
			return nil, err
		}
		z.names = append(z.names, fmt.Appendf(nil, ",%s:", text))
		if i >= z.before && name == featuresKey {
			return nil, &dataset.FormatError{Found: fmt.Sprintf("a feature called %q", name), Expected: "another name, to be one of a member"}
		}
	}
	z.names[0][0] = '{'
	return z, nil
}

// jsonWriter writes objects, one a line.
type jsonWriter struct {
	weights

	w      io.Writer
	array  bool
	names  [][]byte // the text before the values of the members
	before int      // the members before the features
	line   []byte
}

// Document implements stream.Writer.
func (z *jsonWriter) Document(query, id string, grade float64, row []float32) error {
	if err := CheckIDs(query, id); err != nil {
		return err
	}
	queryText, err := marshal(query)
	if err != nil {
		return err
	}
	idText, err := marshal(id)
	if err != nil {
		return err
	}
	z.line = append(append(z.line[:0], z.names[0]...), queryText...)
	z.line = strconv.AppendFloat(append(z.line, z.names[1]...), grade, 'g', -1, 64)
	z.line = append(append(z.line, z.names[2]...), idText...)
	if z.any {
		z.line = strconv.AppendFloat(append(z.line, z.names[3]...), z.query, 'g', -1, 64)
		z.line = strconv.AppendFloat(append(z.line, z.names[4]...), z.document, 'g', -1, 64)
	}
	if z.array {
		z.line = append(z.line, `,"`+featuresKey+`":[`...)
	}
	for j, v := range row {
		if !z.array {
			z.line = append(z.line, z.names[z.before+j]...)
		} else if j > 0 {
			z.line = append(z.line, ',')
		}
		if math.IsNaN(float64(v)) {
			z.line = append(z.line, "null"...)
		} else {
			z.line = strconv.AppendFloat(z.line, float64(v), 'g', -1, 32)
		}
	}
	if z.array {
		z.line = append(z.line, ']')
	}
	z.line = append(z.line, "}\n"...)
	_, err = z.w.Write(z.line)
	return err
}

// Close implements stream.Writer.
func (z *jsonWriter) Close() error { return nil }

// marshal returns a text as JSON, with <, > and & as they are.
func marshal(text string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(text)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
