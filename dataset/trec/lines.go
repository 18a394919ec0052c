package trec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/compress"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/internal/suggest"
)

// longestLine is the largest length of a line in bytes.
const longestLine = 1 << 16

// most is one more than the largest number of fields in a valid line.
const most = 7

// each calls visit with every line of an input that is not blank, in order. [cutter.cut] divides a line into
// fields, with the given widths. The fields are valid during the call. each adds the file and the line to
// errors of type [*dataset.SyntaxError].
func each(in *input.Input, opts dataset.Options, widths []int, visit func(line int, fields [][]byte) error) error {
	head, err := in.Head(compress.HeadSize)
	if err != nil {
		return err
	}
	raw := &counted{r: io.NewSectionReader(in.R, 0, in.Size), total: in.Size, observe: opts.Observe}
	text, err := compress.Reader(raw, compress.Detect(head, in.Name), in.Mem.Limit())
	if err != nil {
		return located(err, in.Name, 1)
	}
	defer text.Close() //nolint:errcheck // only read
	ctx, b := input.Context(opts), bufio.NewReaderSize(text, longestLine)
	fields := cutter{widths: widths}
	for line := 1; ; line++ {
		row, err := b.ReadSlice('\n')
		if line == 1 {
			row = bytes.TrimPrefix(row, []byte("\ufeff"))
		}
		if cut := fields.cut(row); len(cut) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			if err := visit(line, cut); err != nil {
				return located(err, in.Name, line)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			err = &dataset.SyntaxError{Found: fmt.Sprintf("a line of more than %d bytes", longestLine), Expected: "a shorter one"}
		case err == nil && line&0xfff == 0:
			err = ctx.Err()
		}
		if err != nil {
			return located(err, in.Name, line)
		}
	}
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

// located adds the file and the line to an error.
func located(err error, name string, line int) error {
	syntax, ok := errors.AsType[*dataset.SyntaxError](err)
	if !ok {
		return fmt.Errorf("%s: %w", name, err)
	}
	if syntax.File == "" {
		syntax.File, syntax.Line = name, line
	}
	return syntax
}

// counted is a reader that reports its progress to an observer.
type counted struct {
	r           io.Reader
	done, total int64
	observe     func(done, total int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.done += int64(n)
	if c.observe != nil {
		c.observe(c.done, c.total)
	}
	return n, err
}

// decimal returns the finite decimal number in a field. ok is false for any other field.
func decimal(field []byte) (v float64, ok bool) {
	for _, c := range field {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false // strconv also accepts hexadecimal numbers, inf, nan and underscores
		}
	}
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(field), len(field)), 64)
	return v, err == nil
}

// whole reports whether a field is an integer in decimal digits.
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

// checkID returns an error unless id is valid as an identifier. The argument what describes the identifier in
// the error.
func checkID(what string, id []byte) error {
	for _, c := range id {
		if c < 0x20 || c == 0x7f {
			return &dataset.SyntaxError{Found: suggest.Quote(id), Expected: what + " without control characters"}
		}
	}
	if !utf8.Valid(id) {
		return &dataset.SyntaxError{Found: suggest.Quote(id), Expected: what + " in UTF-8"}
	}
	return nil
}
