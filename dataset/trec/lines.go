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

// longestLine is the number of bytes that a line may have.
const longestLine = 1 << 16

// most is one more than the largest number of fields of a line.
const most = 7

// each visits the lines of an input that are not blank, in order, cut into fields as
// [cutter.cut] does for the given widths. The fields are valid during the call. Errors of
// visit that are of type [*dataset.SyntaxError] get the place.
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

// cutter cuts the lines of one file into fields.
type cutter struct {
	widths []int // numbers of fields that a line may have
	fields [most][]byte
}

// cut returns the fields of a line, at most the first [most]; they are valid until the next
// call. Fields are separated by tabs, so that ids may have blanks, if that gives one of the
// widths. Otherwise they are separated by blanks and tabs. All lines of a file have the
// width of the first.
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

// split cuts a line at the separators, trims the fields, and returns their number.
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

// located puts the place into an error.
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

// counted tells an observer how much has been read.
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

// decimal returns the finite number that a field is, written in decimal digits; ok is false
// if it is none.
func decimal(field []byte) (v float64, ok bool) {
	for _, c := range field {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false // strconv takes hexadecimals, inf, nan and underscores, too
		}
	}
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(field), len(field)), 64)
	return v, err == nil
}

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

// checkID returns an error unless a field can identify a query or a document.
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
