// Package judgements reads judgement lists: queries, documents and grades. It recognises the forms of Quepid and of
// the Rated Ranking Evaluator. Other lists are for package trec.
//
// Start reading at [Read]. Each form is a file that adds judgements to a [pairs.Judgements].
package judgements

import (
	"bytes"
	"errors"
	"regexp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/dataset/trec"
)

// Read reads a judgement list, plain or compressed, into a data set without features. Queries and documents
// without a grade are counted in a warning. What several grades of one document become is the option Conflicts.
// Errors in the content are of type [*dataset.SyntaxError].
func Read(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	head, err := beginning(in, opts)
	if err != nil {
		return nil, err
	}
	j := pairs.NewJudgements(in, opts)
	switch columns := columnsOf(head); {
	case isJSON(head):
		err = readJSON(in, opts, j)
	case isLTR(head):
		err = readLTR(in, opts, j)
	case columns != nil:
		err = readCSV(in, opts, columns, j)
	default:
		return trec.ReadQrels(in.R, in.Size, in.Name, in.Mem, opts)
	}
	if err != nil {
		return nil, err
	}
	return j.Dataset("queries, documents and grades")
}

// Looks reports whether a file begins as a judgement list of Quepid or of the Rated Ranking Evaluator does. It is false
// for TREC's lists, and for tables with further columns that may be features.
func Looks(head []byte) bool {
	if columns := columnsOf(head); columns != nil {
		return columns.bare
	}
	return isJSON(head) && lists.Match(head) || isLTR(head)
}

// lists matches the key of a list of judgements. The cells of a table in JSON are no lists.
var lists = regexp.MustCompile(`"(queries|topics)"\s*:\s*\[`)

// headSize is the number of bytes by which the form of a list is recognised.
const headSize = 1 << 12

// beginning returns the first bytes of a list.
func beginning(in *input.Input, opts dataset.Options) ([]byte, error) {
	opts.Observe = nil
	text, err := pairs.Text(in, opts)
	if err != nil {
		return nil, pairs.Located(err, in.Name, 1)
	}
	defer text.Close() //nolint:errcheck // only read
	head := make([]byte, headSize)
	n := 0
	for n < len(head) && err == nil {
		var more int
		more, err = text.Read(head[n:])
		n += more
	}
	return head[:n], nil // an error here occurs again when the list is read
}

// lines calls visit with the complete lines of the beginning of a file that are not blank, until it returns false.
func lines(head []byte, visit func(line []byte) bool) {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for line := range bytes.Lines(head) {
		if len(head) >= headSize && !bytes.HasSuffix(line, []byte("\n")) {
			return // it is cut off
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && !visit(line) {
			return
		}
	}
}

// isJSON reports whether a file begins with an object.
func isJSON(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))), []byte("{"))
}

// at puts the place into an error without one.
func at(err error, in *input.Input, line int) error {
	if syntax, ok := errors.AsType[*dataset.SyntaxError](err); ok && syntax.File == "" {
		syntax.File, syntax.Line = in.Name, line
	}
	return err
}
