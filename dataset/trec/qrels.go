// Package trec reads and writes the files that evaluations of retrieval systems exchange since TREC:
// judgements (qrels) and the rankings of systems (runs). It joins runs with judgements, and both with data
// that have features, by the identifiers of queries and documents.
//
// Start reading at [ReadQrels] and [ReadRun]. [Pool] makes the data set on which runs are measured as
// trec_eval does. The package must not depend on measures or models.
package trec

import (
	"fmt"
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/suggest"
)

// qrelsFields describes a line of judgements for errors.
const qrelsFields = "QUERY ITERATION DOCUMENT GRADE"

// ReadQrels reads judgements, plain or compressed text, into a data set without features. Lines are
//
//	QUERY ITERATION DOCUMENT GRADE
//
// or, below a header such as "query-id corpus-id score" of BEIR and MTEB,
//
//	QUERY DOCUMENT GRADE
//
// Fields are separated by blanks or tabs. If tabs separate all fields, ids may contain blanks. The iteration
// is ignored. Grades are finite numbers. opts.Negative is the policy for negative ones. The lines of a query
// may be scattered. Queries are in the order of their first lines.
//
// mem counts the memory. Errors in the content are of type [*dataset.SyntaxError]. Examples are a wrong number
// of fields, a grade that is not a number, and a document that a query has twice.
func ReadQrels(r io.ReaderAt, size int64, name string, mem *memory.Account, opts dataset.Options) (*dataset.Dataset, error) {
	in := &input.Input{R: r, Size: size, Name: name, Mem: mem}
	j := pairs.NewJudgements(in, opts)
	headed := false
	widths := []int{4}
	if head, err := in.Head(compress.HeadSize); err != nil {
		return nil, err
	} else if head, err = in.Head(HeadSize(head)); err != nil {
		return nil, err
	} else if HasHeader(head) {
		headed, widths = true, []int{3}
	}
	doc, expected := widths[0]-2, qrelsFields
	if headed {
		expected = "QUERY DOCUMENT GRADE, as the header has it"
	}
	err := each(in, opts, widths, func(line int, fields [][]byte) error {
		if len(fields) != widths[0] {
			return &dataset.SyntaxError{Found: fieldCount(fields), Expected: fmt.Sprintf("%d: %s", widths[0], expected)}
		}
		if headed && isHeader(fields) {
			headed = false
			return nil
		}
		return j.Add(line, fields[0], fields[doc], fields[doc+1])
	})
	if err != nil {
		return nil, err
	}
	return j.Dataset("lines of " + expected)
}

func fieldCount(fields [][]byte) string {
	switch n := len(fields); n {
	case 1:
		return "1 field, " + suggest.Quote(fields[0])
	case most:
		return fmt.Sprintf("%d or more fields", n)
	default:
		return fmt.Sprintf("%d fields", n)
	}
}
