// Package trec reads and writes the files that evaluations of retrieval systems exchange since TREC:
// judgements (qrels) and the rankings of systems (runs). It joins runs with judgements, and both with data
// that have features, by the identifiers of queries and documents.
//
// Start reading at [ReadQrels] and [ReadRun]. [Pool] makes the data set on which runs are measured as
// trec_eval does. The package must not know measures or models.
package trec

import (
	"fmt"
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/compress"
	"github.com/listwise/listwise/dataset/internal/input"
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
	t := newTable(in)
	dropped, headed := 0, false
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
		value := fields[doc+1]
		grade, ok := decimal(value)
		switch {
		case !ok:
			return &dataset.SyntaxError{Found: suggest.Quote(value), Expected: "a grade, a finite number"}
		case grade >= 0:
		case opts.Negative == dataset.NegativeDrop:
			dropped++
			return nil
		case opts.Negative == dataset.NegativeZero:
			grade = 0
		default:
			return negativeGrade(value)
		}
		return t.add(line, fields[0], fields[doc], grade+0) // −0 becomes 0
	})
	if err != nil {
		return nil, err
	}
	if len(t.of) == 0 {
		found := "no judgements"
		if dropped > 0 {
			found = fmt.Sprintf("no judgements but %d with negative grades, which are left out", dropped)
		}
		return nil, &dataset.SyntaxError{File: in.Name, Found: found, Expected: "lines of " + expected}
	}
	counts, docs, err := t.group()
	if err != nil {
		return nil, err
	}
	b := dataset.Blocks{Grades: t.values, Docs: docs, IDs: t.ids, Counts: counts}
	if dropped > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s: left out %d lines with a negative grade: their documents count as not judged", in.Name, dropped))
	}
	return dataset.FromBlocks(b), nil
}

// negativeGrade returns the error about a negative grade.
func negativeGrade(field []byte) error {
	return &dataset.SyntaxError{
		Found:    "the negative grade " + suggest.Quote(field),
		Expected: "a grade of at least 0, or --negative-grades zero (they count as 0) or drop (such documents count as not judged)",
	}
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
