package trec

import (
	"fmt"
	"strconv"
	"strings"
)

// AppendLine appends a line of a run: a document of a query, its rank from 1, and its score as
// the shortest decimal that reads back to the same bits. Identifiers and tag must be what a
// field of a run can be, see [CheckField].
func AppendLine(buf []byte, query, doc string, rank int, score float64, tag string) []byte {
	buf = append(append(append(append(buf, query...), " Q0 "...), doc...), ' ')
	buf = append(strconv.AppendInt(buf, int64(rank), 10), ' ')
	buf = append(strconv.AppendFloat(buf, score, 'g', -1, 64), ' ')
	return append(append(buf, tag...), '\n')
}

// CheckField returns an error unless text can be a field of a run or of judgements, which
// blanks separate.
func CheckField(what, text string) error {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("found %s %q, expected one without blanks and control characters: they separate the fields of a run", what, text)
	}
	return nil
}
