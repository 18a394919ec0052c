// Package trec reads and writes the files that evaluations of retrieval systems exchange
// since TREC: judgements (qrels), and the rankings of systems (runs). It joins the two, and
// either with data that have features, by the identifiers of queries and documents.
//
// Start reading at [ReadQrels] and [ReadRun]; [Pool] makes the data set on which runs are
// measured as trec_eval does. The package must not know of measures or models.
package trec

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/input"
)

// ReadQrels reads judgements, lines of
//
//	QUERY ITERATION DOCUMENT GRADE
//
// separated by blanks or tabs, as plain or compressed text, into a data set without
// features. The iteration is not looked at. Grades are finite numbers; what negative ones
// become is the option Negative. The lines of a query may stand in several places; its
// documents stand where the first of them does.
//
// Errors in the content are of type [*dataset.SyntaxError]: another number of fields, a grade
// that is no number, a document that a query has twice.
func ReadQrels(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	t := newTable(in)
	dropped := 0
	err := each(in, opts, func(line int, fields [][]byte) error {
		if len(fields) != 4 {
			return &dataset.SyntaxError{Found: fieldCount(fields), Expected: "4: QUERY ITERATION DOCUMENT GRADE"}
		}
		grade, ok := decimal(fields[3])
		switch {
		case !ok:
			return &dataset.SyntaxError{Found: quote(fields[3]), Expected: "a grade, a finite number"}
		case grade >= 0:
		case opts.Negative == dataset.NegativeDrop:
			dropped++
			return nil
		case opts.Negative == dataset.NegativeZero:
			grade = 0
		default:
			return negativeGrade(fields[3])
		}
		return t.add(line, fields[0], fields[2], grade+0) // without the sign of −0
	})
	if err != nil {
		return nil, err
	}
	if len(t.of) == 0 {
		return nil, &dataset.SyntaxError{File: in.Name, Found: "no judgements", Expected: "lines of QUERY ITERATION DOCUMENT GRADE"}
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

// negativeGrade is the error about a grade below 0.
func negativeGrade(field []byte) error {
	return &dataset.SyntaxError{
		Found:    "the negative grade " + quote(field),
		Expected: "a grade of at least 0, or --negative-grades zero (they count as 0) or drop (such documents count as not judged)",
	}
}

func fieldCount(fields [][]byte) string {
	switch n := len(fields); n {
	case 1:
		return "1 field, " + quote(fields[0])
	case most:
		return fmt.Sprintf("%d or more fields", n)
	default:
		return fmt.Sprintf("%d fields", n)
	}
}
