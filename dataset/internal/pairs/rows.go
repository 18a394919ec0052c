package pairs

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
)

// EachRow visits the rows of CSV text in order, that of the column names included. Rows may differ in their
// number of cells, which are valid during the call. Errors of visit that are of type [*dataset.SyntaxError] get the
// place.
func EachRow(in *input.Input, opts dataset.Options, delimiter rune, visit func(line int, cells []string) error) error {
	text, err := Text(in, opts)
	if err != nil {
		return Located(err, in.Name, 1)
	}
	defer text.Close() //nolint:errcheck // only read
	row := &bounded{r: text, left: LongestRow}
	b := bufio.NewReader(row)
	if mark, _ := b.Peek(len(byteOrder)); string(mark) == byteOrder {
		_, _ = b.Discard(len(byteOrder)) // they are read
	}
	r, last := csv.NewReader(b), 0
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = delimiter, -1, true
	ctx := input.Context(opts)
	for {
		row.left = LongestRow
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
			found := &dataset.SyntaxError{Found: "a row that is no CSV: " + syntax.Err.Error(), Expected: "cells with their quotes"}
			return Located(found, in.Name, syntax.StartLine)
		}
		if err != nil {
			return Located(err, in.Name, last+1)
		}
		last, _ = r.FieldPos(0)
		if err = ctx.Err(); err == nil {
			err = visit(last, cells)
		}
		if err != nil {
			return Located(err, in.Name, last)
		}
	}
}

// byteOrder is the mark that some programs write before UTF-8.
const byteOrder = "\ufeff"

// LongestRow is the number of bytes that a row may have, about.
const LongestRow = 1 << 22

// bounded reads at most left bytes. Without it, a missing quote would make one cell of the rest of a file.
type bounded struct {
	r    io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &dataset.SyntaxError{Found: fmt.Sprintf("a row of more than %d bytes", LongestRow), Expected: "a shorter one; the closing quote of a cell may be missing"}
	}
	n, err := b.r.Read(p)
	b.left -= n
	return n, err
}
