package pairs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/internal/suggest"
)

// LongestLine is the number of bytes that a line may have.
const LongestLine = 1 << 16

// Text opens the text of an input, which may be compressed.
func Text(in *input.Input, opts dataset.Options) (io.ReadCloser, error) {
	head, err := in.Head(compress.HeadSize)
	if err != nil {
		return nil, err
	}
	raw := &counted{r: io.NewSectionReader(in.R, 0, in.Size), total: in.Size, observe: opts.Observe}
	return compress.Reader(raw, compress.Detect(head, in.Name), in.Mem.Limit())
}

// EachLine visits the lines of an input in order, with their ends. A line is valid during the call. Errors of
// visit that are of type [*dataset.SyntaxError] get the place.
func EachLine(in *input.Input, opts dataset.Options, visit func(line int, text []byte) error) error {
	text, err := Text(in, opts)
	if err != nil {
		return Located(err, in.Name, 1)
	}
	defer text.Close() //nolint:errcheck // only read
	ctx, b := input.Context(opts), bufio.NewReaderSize(text, LongestLine)
	for line := 1; ; line++ {
		row, err := b.ReadSlice('\n')
		if line == 1 {
			row = bytes.TrimPrefix(row, []byte("\ufeff"))
		}
		if err == nil || errors.Is(err, io.EOF) {
			if err := visit(line, row); err != nil {
				return Located(err, in.Name, line)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			err = &dataset.SyntaxError{Found: fmt.Sprintf("a line of more than %d bytes", LongestLine), Expected: "a shorter one"}
		case err == nil && line&0xfff == 0:
			err = ctx.Err()
		}
		if err != nil {
			return Located(err, in.Name, line)
		}
	}
}

// Located puts the place into an error, unless that is nil.
func Located(err error, name string, line int) error {
	syntax, ok := errors.AsType[*dataset.SyntaxError](err)
	if err == nil {
		return nil
	}
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

// Decimal returns the finite number that a field is, written in decimal digits; ok is false
// if it is none.
func Decimal(field []byte) (v float64, ok bool) {
	for _, c := range field {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false // strconv takes hexadecimals, inf, nan and underscores, too
		}
	}
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(field), len(field)), 64)
	return v, err == nil
}

// CheckID returns an error unless a field can identify a query or a document.
func CheckID(what string, id []byte) error {
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
