package letor

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
)

// Options are those of Write.
type Options struct {
	// Sparse leaves out features that are 0, except the last of the first
	// document, by which a reader knows the number of features.
	Sparse bool

	// Observe, if not nil, is called after every query with the number of those
	// written and the total.
	Observe func(done, total int)
}

// Write writes the data set as LETOR text, one document a line, query after
// query: documents that stood in several places of the input stand together.
// Numbers are the shortest decimals from which [Read] gets the same bits.
//
// Feature names and warnings have no place in the format. Weights have none either, so that
// data with weights are an error, as is an identifier that holds blanks or control
// characters or is not UTF-8.
func Write(w io.Writer, d *dataset.Dataset, opts Options) error {
	if d.Weighted() {
		return errors.New("found weights of queries or documents, expected none: LETOR text has no place for them; a cache (.lwd) keeps them")
	}
	line := make([]byte, 0, 1<<12)
	for i := range d.Queries {
		q := &d.Queries[i]
		if !plainID(q.ID) || q.ID == "" || strings.Contains(q.ID, "#") {
			return fmt.Errorf("query id %q cannot be written as text: expected UTF-8 without blanks, control characters or #", q.ID)
		}
		for j := range q.Len() {
			id := q.DocID(j)
			if !plainID(id) {
				return fmt.Errorf("document id %q of query %q cannot be written as text: expected UTF-8 without blanks or control characters", id, q.ID)
			}
			line = strconv.AppendFloat(line[:0], q.Grades[j], 'g', -1, 64)
			line = append(append(line, " qid:"...), q.ID...)
			line = appendFeatures(line, q.Row(j), opts.Sparse, i == 0 && j == 0)
			if id != "" {
				line = append(append(line, " #docid = "...), id...)
			}
			line = append(line, '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		if opts.Observe != nil {
			opts.Observe(i+1, len(d.Queries))
		}
	}
	return d.Changed()
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
