package trec

import (
	"fmt"
	"strconv"
	"strings"
)

// AppendLine appends a line of a run. It has a document of a query, its rank from 1, and its score as the
// shortest decimal that reads back to the same bits. The separator is a blank, or a tab if identifiers have
// blanks. The caller checks identifiers and tag by [CheckID] and [CheckField].
func AppendLine(buf []byte, query, doc string, rank int, score float64, tag string, separator byte) []byte {
	buf = append(append(buf, query...), separator, 'Q', '0', separator)
	buf = append(append(buf, doc...), separator)
	buf = append(strconv.AppendInt(buf, int64(rank), 10), separator)
	buf = append(strconv.AppendFloat(buf, score, 'g', -1, 64), separator)
	return append(append(buf, tag...), '\n')
}

// CheckField returns an error unless text is valid as a field of a run or of judgements that are separated by
// blanks.
func CheckField(what, text string) error {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("found %s %q, expected one without blanks and control characters: they separate the fields of a run", what, text)
	}
	return nil
}

// CheckID returns an error unless text is valid as an identifier in a run whose fields are separated by tabs.
func CheckID(what, text string) error {
	if text == "" || strings.Trim(text, " ") != text || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("found %s %q, expected one without tabs, control characters and blanks at its ends", what, text)
	}
	return nil
}
