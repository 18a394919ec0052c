package table

import (
	"bytes"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/suggest"
)

// ReadCSV reads a table whose first line names the columns, in the form of RFC 4180. Cells with delimiters,
// quotes or line feeds are in quotes, and quotes in them are doubled. Lines end in LF or CR LF; empty ones are
// skipped. Blanks around cells without quotes do not count. The delimiter is that of the options, else the one
// given.
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

// StreamCSV returns a table as a source of documents, which [ReadCSV] would read.
func StreamCSV(in *input.Input, opts dataset.Options, delimiter byte) (stream.Source, error) {
	f, err := openCSV(in, opts, delimiter)
	if err != nil {
		return nil, ingest.Locate(err, in.Name, max(1, f.headLines))
	}
	s, err := ingest.Documents(in, opts, f)
	return &warned{s, in.Name, opts, func() *Columns { return f.columns }}, err
}

// warned is a source with the warnings about columns.
type warned struct {
	stream.Source

	name    string
	opts    dataset.Options
	columns func() *Columns // once it is surveyed
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

// csvFormat is CSV with a known header.
type csvFormat struct {
	opts      dataset.Options
	delimiter byte
	columns   *Columns
	mem       *memory.Account

	headBytes int // of the header and what stands before it, without a byte order mark
	headLines int // up to the header's last

	survey *Survey // nil if none is needed
}

var _ ingest.Quoted = (*csvFormat)(nil)

func (f *csvFormat) Recount() {
	if f.survey != nil {
		f.survey = NewSurvey(f.mem)
	}
}

func (f *csvFormat) Counted() error { return f.columns.Settle(f.survey) }

func (f *csvFormat) Width(int) int {
	if f.columns.order != nil { // not settled yet; an estimate
		return len(f.columns.order)
	}
	return len(f.columns.Names)
}

func (f *csvFormat) Limit() int { return ingest.FeatureLimit(f.opts) }

// WeighsDocuments says whether the blocks need room for weights.
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

// blank reports whether a line holds nothing.
func blank(line []byte) bool {
	return len(line) > 0 && (line[0] == '\n' || line[0] == '\r' && len(line) == 2)
}

// collect adds the values of a chunk's cells to the survey, from p on.
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
				return // parsing will say so
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

// csvParser parses rows.
type csvParser struct {
	*row

	format   *csvFormat
	splitter splitter
	lines    int // line feeds within the cells of the row so far
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

// document parses the row at p and returns where the next begins.
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
		z.lines = 0 // it is about the row
		return p, err
	}
	return p, nil
}

// other parses a cell that is no short number, and what ends it.
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

// lineEnd returns the place of the line feed from p on.
func lineEnd(b []byte, p int) int {
	if n := bytes.IndexByte(b[p:], '\n'); n >= 0 {
		return p + n
	}
	return len(b)
}
