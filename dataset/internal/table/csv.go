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
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/suggest"
)

// ReadCSV reads a table in the form of RFC 4180. The first line has the names of the columns. Cells with
// delimiters, quotes or line feeds must be quoted, with quotes inside them doubled. Lines end in LF or CR LF.
// Empty lines are skipped, and blanks around unquoted cells are ignored. opts.Table.Delimiter, if set,
// replaces delimiter.
func ReadCSV(in *input.Input, opts dataset.Options, delimiter byte) (*dataset.Dataset, error) {
	f, err := openCSV(in, opts, delimiter)
	if err != nil {
		return nil, ingest.Locate(err, in.Name, max(1, f.headLines))
	}
	d, err := ingest.Read(in, opts, f)
	if err != nil {
		return nil, err
	}
	f.columns.noteWords(in.Name, opts)
	d.Warnings = append(d.Warnings, f.columns.Warnings(in.Name)...)
	return d, nil
}

// StreamCSV returns a source of the documents that [ReadCSV] would read.
func StreamCSV(in *input.Input, opts dataset.Options, delimiter byte) (stream.Source, error) {
	f, err := openCSV(in, opts, delimiter)
	if err != nil {
		return nil, ingest.Locate(err, in.Name, max(1, f.headLines))
	}
	s, err := ingest.Documents(in, opts, f)
	return &warned{s, in.Name, opts, func() *Columns { return f.columns }}, err
}

// warned is a source whose Survey also returns warnings about columns.
type warned struct {
	stream.Source

	name    string
	opts    dataset.Options
	columns func() *Columns // called after the survey of the source
}

// Survey implements stream.Source.
func (w *warned) Survey(visit func(runs []stream.Run) error) (stream.Shape, error) {
	shape, err := w.Source.Survey(visit)
	if err != nil {
		return shape, err
	}
	w.columns().noteWords(w.name, w.opts)
	shape.Warnings = append(shape.Warnings, w.columns().Warnings(w.name)...)
	return shape, nil
}

// csvFormat is the ingest.Format of a CSV table whose header was read.
type csvFormat struct {
	opts      dataset.Options
	delimiter byte
	columns   *Columns
	mem       *memory.Account

	headBytes int // length of the header and the empty lines before it, without a byte order mark
	headLines int // number of these lines

	survey *Survey // nil if Columns.NeedsSurvey is false
}

var _ ingest.Quoted = (*csvFormat)(nil)

func (f *csvFormat) Recount() {
	if f.survey != nil {
		f.survey = NewSurvey(f.mem)
	}
}

func (f *csvFormat) Counted() error { return f.columns.Settle(f.survey) }

func (f *csvFormat) Width(int) int {
	if f.columns.order != nil { // an estimate, before Settle
		return len(f.columns.order)
	}
	return len(f.columns.Names)
}

func (f *csvFormat) Limit() int { return ingest.FeatureLimit(f.opts) }

// WeighsDocuments reports whether documents have weights.
func (f *csvFormat) WeighsDocuments() bool { return f.columns.WeighsDocuments() }

func (f *csvFormat) Names() []string { return Numbered(f.columns.Names) }

func (f *csvFormat) Empty(docs int) error {
	if docs == 0 {
		return bad("no rows below the names of the columns", "a row for each document")
	}
	return bad("no column of features", "one or more beside those of queries, grades and documents")
}

// Count implements ingest.Format.
func (f *csvFormat) Count(c ingest.Chunk) (size ingest.Size) {
	b, skip := c.Text[:c.Lines()], 0
	if c.Index == 0 {
		skip = min(f.headBytes, len(b))
		size.Lines = bytes.Count(b[:skip], []byte("\n"))
		size.Quotes = bytes.Count(b[:skip], []byte(`"`))
		b = b[skip:]
	}
	quotes := bytes.Count(b, []byte(`"`))
	size.Quotes += quotes
	if f.survey != nil {
		f.collect(c, skip)
	}
	for p := 0; p < len(b); {
		end := p
		for odd := false; ; {
			n := bytes.IndexByte(b[end:], '\n')
			if n < 0 { // a record that does not end
				end = len(b)
				break
			}
			size.Lines++
			odd = odd != (quotes > 0 && bytes.Count(b[end:end+n], []byte(`"`))%2 == 1)
			if end += n + 1; !odd {
				break
			}
		}
		if !blank(b[p:end]) {
			size.Docs++
		}
		p = end
	}
	return size
}

// blank reports whether a line has no text before its LF or CR LF.
func blank(line []byte) bool {
	return len(line) > 0 && (line[0] == '\n' || line[0] == '\r' && len(line) == 2)
}

// collect adds the cells of a chunk, from position p on, to the survey.
func (f *csvFormat) collect(c ingest.Chunk, p int) {
	s := splitter{delimiter: f.delimiter}
	part := f.survey.Part()
	defer part.Done(func(column int) string { return f.columns.List[column].Name })
	for n := c.Lines(); p < n; {
		if blank(c.Text[p:min(n, p+2)]) {
			p = bytes.IndexByte(c.Text[p:], '\n') + p + 1
			continue
		}
		for column := 0; ; column++ {
			cell, next, err := s.cell(c.Text[:n], p)
			if err != nil {
				return // parsing will say so // the parser will report the error
			}
			if column < len(f.columns.List) {
				f.columns.Survey(part, column, cell)
			}
			if p = next + 1; c.Text[next] == '\n' {
				break
			}
		}
	}
}

// Parser implements ingest.Format.
func (f *csvFormat) Parser(c *ingest.Collector, checkOnly bool) ingest.Parser {
	return &csvParser{format: f, row: newRow(c, f.columns, f.opts, checkOnly), splitter: splitter{delimiter: f.delimiter}}
}

// csvParser parses the rows of a table.
type csvParser struct {
	*row

	format   *csvFormat
	splitter splitter
	lines    int // number of line feeds within the row's cells so far
}

// Chunk implements ingest.Parser.
func (z *csvParser) Chunk(c ingest.Chunk, before, most int) (docs, line int, err error) {
	line = before
	b, p := c.Text, 0
	if c.Index == 0 {
		p = min(z.format.headBytes, c.Lines())
		line += bytes.Count(b[:p], []byte("\n"))
	}
	for n := c.Lines(); p < n; {
		line++
		if b[p] == '\n' || b[p] == '\r' && b[p+1] == '\n' {
			p = lineEnd(b, p) + 1
			continue
		}
		if docs == most {
			return docs, line, dataset.ErrChanged
		}
		z.lines, z.at = 0, line
		p, err = z.document(b, p, n)
		line += z.lines
		if err != nil {
			return docs, line, err
		}
		docs++
	}
	return docs, line, nil
}

// document parses the row at p and returns the position of the next row.
func (z *csvParser) document(b []byte, p, n int) (next int, err error) {
	z.begin()
	z.splitter.reset()
	list := z.columns.List
	last := len(list) - 1
	for k := range list {
		if f := &list[k]; f.Role == Feature && f.Attribute == 0 && f.Categories == nil && !z.StandIns() {
			v, end := decimal.Short(b, p)
			if end > p && (b[end] == z.splitter.delimiter && k < last || b[end] == '\n' && k == last) {
				if end-p >= ingest.LongNumber && z.Watches(f.Feature, v) {
					z.WatchText(f.Feature, v, b, p, end)
				}
				z.features[f.Feature] = v
				p = end + 1
				continue
			}
		}
		if p, err = z.other(b[:n], p, k, last); err != nil {
			return p, err
		}
	}
	if err := z.end(); err != nil {
		z.lines = 0 // the error is about the row as a whole: report its first line
		return p, err
	}
	return p, nil
}

// other parses the cell of column k at p if it is not a short number. It returns the position after the cell's
// delimiter or line feed. last is the index of the last column.
func (z *csvParser) other(b []byte, p, k, last int) (next int, err error) {
	cell, end, err := z.splitter.cell(b, p)
	if err != nil {
		return p, fmt.Errorf("%w", inColumn(err, z.columns.List[k].Name))
	}
	switch {
	case b[end] == '\n' && k < last:
		return p, bad(fmt.Sprintf("%d cells", k+1), fmt.Sprintf("%d, one for each column (%s)", last+1, z.columns.names()))
	case b[end] != '\n' && k == last:
		return p, bad(fmt.Sprintf("more than %d cells, the next begins with %s", last+1, suggest.Quote(b[end+1:min(end+9, lineEnd(b, end+1))])),
			fmt.Sprintf("one for each column (%s)", z.columns.names()))
	}
	z.lines += z.splitter.lines
	return end + 1, z.set(k, cell)
}

// lineEnd returns the index of the first line feed at or after p, or len(b).
func lineEnd(b []byte, p int) int {
	if n := bytes.IndexByte(b[p:], '\n'); n >= 0 {
		return p + n
	}
	return len(b)
}

// longestHeader is the largest accepted length of a header in bytes. columnBytes is the memory that a column
// takes besides its name, including the maps that compare names.
const (
	longestHeader = 16 << 20
	columnBytes   = 320
)

// openCSV reads the header of a table and chooses its columns. With an error, headLines of the returned format
// is the line of the error.
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

// checkHeader returns an error if the first line does not look like names of columns. Such a line has one cell
// but contains another delimiter, or at least half of its cells are numbers.
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

// headLine returns the first record that is not empty, with its line feed. It sets headBytes and headLines.
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
		_, _ = r.Discard(3) // cannot fail: Peek has read these bytes
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

// readRecord reads a record, up to the first line feed that is not within quotes.
func readRecord(r *bufio.Reader, mem *memory.Account) (record []byte, err error) {
	room := 0
	for odd := false; ; {
		piece, err := r.ReadSlice('\n')
		if len(record)+len(piece) > longestHeader {
			return record, bad("a row of names longer than "+memory.Bytes(longestHeader), "fewer names of columns, or shorter ones")
		}
		record = append(record, piece...)
		if more := cap(record) - room; more > 0 {
			if err := mem.Take(2*int64(more), "names of columns"); err != nil { // twice: growing copies the record
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

// sortNumbers sorts the columns of features by number if they are named 1, 2, …. Then the order of the columns
// in the table does not matter.
func (c *Columns) sortNumbers() {
	place := make([]int, len(c.order))
	for _, i := range c.order {
		n, err := strconv.Atoi(c.List[i].Name)
		if err != nil || n < 1 || n > len(place) || c.List[i].Role != Feature || c.List[i].Name != strconv.Itoa(n) {
			return
		}
		place[n-1] = i
	}
	copy(c.order, place) // names differ, so place is a permutation of c.order
}

// Numbered returns nil if names are 1, 2, …, since features without names are numbered in this way. It returns
// names otherwise.
func Numbered(names []string) []string {
	for i, name := range names {
		if name != strconv.Itoa(i+1) {
			return names
		}
	}
	return nil
}

// LooksLike returns a function that recognises a table with the delimiter by the beginning of a file. The
// first line must have several cells. One of them must be the name of the query column, from the options or a
// usual one.
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

// splitter finds the cells of rows.
type splitter struct {
	delimiter byte
	lines     int    // number of line feeds in the cell found last
	text      []byte // texts of the row's cells in which quotes were doubled
}

// reset reuses the memory of the cells of the row before.
func (s *splitter) reset() { s.text = s.text[:0] }

// cell returns the text of the cell that begins at p, without its quotes or the blanks around it. end is the
// index of the delimiter or line feed after the cell. b must end with a line feed.
func (s *splitter) cell(b []byte, p int) (cell []byte, end int, err error) {
	s.lines = 0
	if b[p] == '"' {
		return s.quoted(b, p)
	}
	end = p
	for b[end] != s.delimiter && b[end] != '\n' {
		if b[end] == '"' {
			return nil, p, bad("a quote within a cell that does not begin with one", `the whole cell in quotes, and quotes in it twice`)
		}
		end++
	}
	to := end
	if b[end] == '\n' && to > p && b[to-1] == '\r' {
		to--
	}
	if to > p && (isBlank(b[p]) || isBlank(b[to-1])) {
		return bytes.Trim(b[p:to], " \t"), end, nil
	}
	return b[p:to], end, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// quoted does the work of cell for a cell that begins with a quote.
func (s *splitter) quoted(b []byte, p int) (cell []byte, end int, err error) {
	from, twice := p+1, false
	for end = from; ; end += 2 {
		n := bytes.IndexByte(b[end:], '"')
		if n < 0 {
			return nil, p, bad("a quote without its end", `another quote, and quotes within cells twice`)
		}
		if end += n; end+1 >= len(b) || b[end+1] != '"' {
			break
		}
		twice = true
	}
	cell = b[from:end]
	s.lines = bytes.Count(cell, []byte("\n"))
	if end++; end < len(b) && b[end] == '\r' && end+1 < len(b) && b[end+1] == '\n' {
		end++
	}
	if end >= len(b) || b[end] != s.delimiter && b[end] != '\n' {
		return nil, p, bad("text behind a quoted cell", "the next cell, or the end of the line (quotes within cells stand twice)")
	}
	if !twice {
		return cell, end, nil
	}
	at := len(s.text)
	s.text = append(s.text, bytes.ReplaceAll(cell, []byte(`""`), []byte(`"`))...)
	return s.text[at:], end, nil
}

// inColumn adds the name of the column to a syntax error. It returns other errors unchanged.
func inColumn(err error, name string) error {
	if syntax, ok := errors.AsType[*dataset.SyntaxError](err); ok {
		syntax.Found += " in column " + name
	}
	return err
}
