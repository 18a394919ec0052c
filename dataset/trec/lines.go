package trec

import (
	"bytes"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
)

// most is one more than the largest number of fields of a line.
const most = 7

// each calls visit with every line of an input that is not blank, in order. [cutter.cut] divides a line into
// fields, with the given widths. The fields are valid during the call. each adds the file and the line to
// errors of type [*dataset.SyntaxError].
func each(in *input.Input, opts dataset.Options, widths []int, visit func(line int, fields [][]byte) error) error {
	fields := cutter{widths: widths}
	return pairs.EachLine(in, opts, func(line int, text []byte) error {
		if cut := fields.cut(text); len(cut) > 0 {
			return visit(line, cut)
		}
		return nil
	})
}

// cutter divides the lines of one file into fields.
type cutter struct {
	widths []int // possible numbers of fields in a line
	fields [most][]byte
}

// cut returns the fields of a line, at most the first [most]. They are valid until the next call. If
// separation by tabs gives one of the widths, tabs are the separators, so that ids may contain blanks.
// Otherwise blanks and tabs are. All lines of a file must have the width of the first line.
func (c *cutter) cut(row []byte) [][]byte {
	n := 0
	if bytes.IndexByte(row, '\t') >= 0 {
		n = c.split(row, isTab)
	}
	if !slices.Contains(c.widths, n) {
		n = c.split(row, isBlank)
	}
	if len(c.widths) > 1 && slices.Contains(c.widths, n) {
		c.widths = []int{n}
	}
	return c.fields[:n]
}

// split divides a line at the separators, trims the fields, and returns their number.
func (c *cutter) split(row []byte, separates func(b byte) bool) int {
	n := 0
	for p := 0; p < len(row) && n < most; {
		start := p
		for p < len(row) && !separates(row[p]) {
			p++
		}
		if field := bytes.Trim(row[start:p], " \r\n"); len(field) > 0 {
			c.fields[n] = field
			n++
		}
		p++
	}
	return n
}

func isTab(b byte) bool   { return b == '\t' }
func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// whole reports whether a field is a whole number.
func whole(field []byte) bool {
	if len(field) > 1 && (field[0] == '-' || field[0] == '+') {
		field = field[1:]
	}
	for _, c := range field {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(field) > 0
}
