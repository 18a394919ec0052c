package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/compress"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/suggest"
)

// longestHeader is the longest row of names that is read. columnBytes is the memory of a column without
// its name, with its place in maps while names are compared.
const (
	longestHeader = 16 << 20
	columnBytes   = 320
)

// openCSV reads the header of a table and chooses its columns. With an error, headLines is
// that of the error.
func openCSV(in *input.Input, opts dataset.Options, delimiter byte) (*csvFormat, error) {
	if opts.Table.Delimiter != 0 {
		delimiter = opts.Table.Delimiter
	}
	f := &csvFormat{opts: opts, delimiter: delimiter, mem: in.Mem}
	line, err := f.headLine(in)
	if err != nil {
		return f, err
	}
	s := splitter{delimiter: delimiter}
	var fields []Field
	for p := 0; p < len(line); {
		cell, end, err := s.cell(line, p)
		if err != nil {
			return f, inColumn(err, strconv.Itoa(len(fields)+1))
		}
		if err := in.Mem.Take(columnBytes+int64(len(cell)), "names of columns"); err != nil {
			return f, err
		}
		fields = append(fields, Field{Name: string(cell)})
		p = end + 1
	}
	if err := checkHeader(fields, line, delimiter, opts.Table.Query); err != nil {
		return f, err
	}
	if f.columns, err = Choose(in.Name, fields, opts); err != nil {
		return f, err
	}
	if n := len(f.columns.order); n > f.Limit() {
		return f, bad(fmt.Sprintf("%d columns of features", n), fmt.Sprintf("at most %d (or --max-feature)", f.Limit()))
	}
	if f.columns.NeedsSurvey() {
		f.survey = NewSurvey(in.Mem)
		return f, nil
	}
	return f, f.columns.Settle(nil)
}

// checkHeader says what a first line that names no columns looks like.
func checkHeader(fields []Field, line []byte, delimiter byte, query string) error {
	if len(fields) == 1 {
		for _, other := range []struct {
			delimiter byte
			hint      string
		}{{',', ","}, {';', "';'"}, {'\t', "tab"}, {'|', "'|'"}} {
			if other.delimiter != delimiter && bytes.IndexByte(line, other.delimiter) > 0 {
				return bad("one column, "+suggest.Quote([]byte(fields[0].Name)), "names of columns with "+delimiterName(delimiter)+" between them (or --delimiter "+other.hint+")")
			}
		}
	}
	numbers := 0
	for _, f := range fields {
		if _, kind := Parse([]byte(f.Name)); kind == Number {
			numbers++
		}
	}
	if numbers > 0 && 2*numbers >= len(fields) && !slices.ContainsFunc(fields, func(f Field) bool { return UsualQuery(f.Name) || f.Name == query }) {
		return bad("numbers, the first "+suggest.Quote(line[:len(line)-1]), "a first line with the names of the columns")
	}
	return nil
}

func delimiterName(c byte) string {
	switch c {
	case '\t':
		return "tabs"
	case ',':
		return "commas"
	}
	return strconv.Quote(string(c))
}

// headLine returns the first record that is not blank, with its line feed, and notes how
// much of the text it and what stands before it take.
func (f *csvFormat) headLine(in *input.Input) ([]byte, error) {
	head, err := in.Head(compress.HeadSize)
	if err != nil {
		return nil, err
	}
	z, err := compress.Reader(io.NewSectionReader(in.R, 0, in.Size), compress.Detect(head, in.Name), in.Mem.Limit())
	if err != nil {
		return nil, err
	}
	defer z.Close() //nolint:errcheck // only read
	r := bufio.NewReaderSize(z, 1<<12)
	if mark, err := r.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = r.Discard(3) // it was peeked at
	}
	for {
		record, err := readRecord(r, in.Mem)
		if err != nil && !errors.Is(err, io.EOF) {
			f.headLines++
			return nil, err
		}
		f.headBytes += len(record)
		f.headLines += max(1, bytes.Count(record, []byte("\n")))
		switch {
		case len(record) > 0 && !blank(record):
			if record[len(record)-1] != '\n' {
				record = append(record, '\n')
			}
			return record, nil
		case err != nil:
			return nil, bad("no rows", "a table that begins with the names of its columns")
		}
	}
}

// readRecord reads up to the line feed that ends a row.
func readRecord(r *bufio.Reader, mem *memory.Account) (record []byte, err error) {
	room := 0
	for odd := false; ; {
		piece, err := r.ReadSlice('\n')
		if len(record)+len(piece) > longestHeader {
			return record, bad("a row of names longer than "+memory.Bytes(longestHeader), "fewer names of columns, or shorter ones")
		}
		record = append(record, piece...)
		if more := cap(record) - room; more > 0 {
			if err := mem.Take(2*int64(more), "names of columns"); err != nil { // with what it was moved from
				return record, err
			}
			room = cap(record)
		}
		odd = odd != (bytes.Count(piece, []byte(`"`))%2 == 1)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) || err == nil && !odd {
			mem.Give(2 * int64(room))
			return record, err
		}
	}
}

// sortNumbers sorts columns of features named 1, 2, … by number. So the order of the columns of a table does not
// matter.
func (c *Columns) sortNumbers() {
	place := make([]int, len(c.order))
	for _, i := range c.order {
		n, err := strconv.Atoi(c.List[i].Name)
		if err != nil || n < 1 || n > len(place) || c.List[i].Role != Feature || c.List[i].Name != strconv.Itoa(n) {
			return
		}
		place[n-1] = i
	}
	copy(c.order, place) // names differ
}

// Numbered returns nil for the names 1, 2, …, which are none.
func Numbered(names []string) []string {
	for i, name := range names {
		if name != strconv.Itoa(i+1) {
			return names
		}
	}
	return nil
}

// LooksLike returns a function that recognises a table with that delimiter by the beginning of a file. Its first
// line has the name of the query column, from the options or a usual one.
func LooksLike(delimiter byte) func(head []byte, opts dataset.Options) bool {
	return func(head []byte, opts dataset.Options) bool {
		separator := string(delimiter)
		if c := opts.Table.Delimiter; c != 0 && delimiter == ',' {
			separator = string(c)
		}
		line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("\n"))
		cells := strings.Split(string(line), separator)
		return len(cells) > 1 && slices.ContainsFunc(cells, func(cell string) bool {
			name := strings.Trim(cell, " \t\r\"")
			return name != "" && name == opts.Table.Query || UsualQuery(name)
		})
	}
}
