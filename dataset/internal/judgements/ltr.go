package judgements

import (
	"bytes"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/internal/suggest"
)

// ltrFields describes a line of Quepid's LTR text: LETOR text without features, whose comment has the document
// and the words of the query.
const ltrFields = "GRADE qid:NUMBER # DOCUMENT QUERY"

// isLTR reports whether all first lines are such. LETOR text has features in one of them, or names a document
// by "docid = ".
func isLTR(head []byte) bool {
	found := false
	lines(head, func(line []byte) bool {
		_, _, doc, query, ok := cutLTR(line)
		found = ok && (!bytes.Equal(doc, []byte("docid")) || !bytes.HasPrefix(query, []byte("=")))
		return found
	})
	return found
}

// cutLTR cuts a line of LTR text. The words of the query may be missing.
func cutLTR(line []byte) (grade, number, doc, query []byte, ok bool) {
	head, comment, found := bytes.Cut(line, []byte("#"))
	fields := bytes.Fields(head)
	if !found || len(fields) != 2 {
		return nil, nil, nil, nil, false
	}
	number, ok = bytes.CutPrefix(fields[1], []byte("qid:"))
	comment = bytes.TrimSpace(comment)
	end := bytes.IndexAny(comment, " \t")
	if end < 0 {
		end = len(comment)
	}
	return fields[0], number, comment[:end], bytes.TrimSpace(comment[end:]), ok && end > 0
}

// readLTR reads Quepid's LTR text. The words of the query are its id; if there are none, its number is.
func readLTR(in *input.Input, opts dataset.Options, j *pairs.Judgements) error {
	return pairs.EachLine(in, opts, func(n int, line []byte) error {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return nil
		}
		grade, number, doc, query, ok := cutLTR(line)
		if !ok {
			return &dataset.SyntaxError{Found: suggest.Quote(line), Expected: "a line of " + ltrFields}
		}
		if len(query) == 0 {
			query = number
		}
		return j.Add(n, query, doc, grade)
	})
}
