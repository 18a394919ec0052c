package table

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/strictjson"
)

// featuresKey is the name of the member that may hold all features.
const featuresKey = "features"

// ReadJSON reads JSON lines: one object a document, whose members are the columns. If there is
// a member "features", it holds the features, as an object or as an array of numbers, which
// have no names then. A member that a line lacks is missing there, like null; blank lines are
// skipped.
func ReadJSON(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	f := newJSONFormat(in, opts)
	d, err := ingest.Read(in, opts, f)
	if err != nil {
		return nil, err
	}
	f.columns.noteWords(in.Name, opts)
	d.Warnings = append(d.Warnings, f.columns.Warnings(in.Name)...)
	return d, nil
}

// StreamJSON returns JSON lines as a source of documents, which [ReadJSON] would read.
func StreamJSON(in *input.Input, opts dataset.Options) (stream.Source, error) {
	f := newJSONFormat(in, opts)
	s, err := ingest.Documents(in, opts, f)
	return &warned{s, in.Name, opts, func() *Columns { return f.columns }}, err
}

func newJSONFormat(in *input.Input, opts dataset.Options) *jsonFormat {
	return &jsonFormat{name: in.Name, opts: opts, mem: in.Mem, chunks: make(map[int]*jsonChunk), survey: NewSurvey(in.Mem)}
}

// LooksLikeJSON recognises JSON lines by the beginning of a file: a first line that is a whole
// object.
func LooksLikeJSON(head []byte, _ dataset.Options) bool {
	line, _, whole := bytes.Cut(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))), []byte("\n"))
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("{")) || !whole && len(line) > 1 && line[len(line)-1] != '}' {
		return false
	}
	s := strictjson.Scanner{Text: line, Loose: true}
	_, err := s.Skip(0)
	return err == nil
}

// jsonFormat is JSON lines.
type jsonFormat struct {
	name string
	opts dataset.Options

	mem    *memory.Account
	survey *Survey

	mu     sync.Mutex
	chunks map[int]*jsonChunk
	full   error       // the memory is used up
	fields []jsonField // of some chunk; of all once all is counted

	// Once all is counted:
	columns *Columns
	array   int // features of an array
}

// jsonChunk is what the first pass finds in a chunk.
type jsonChunk struct {
	fields []jsonField // in the order in which they first appear
	array  int         // features of the longest array
	lines  int
	err    error // the first error of syntax
	at     int   // its line within the chunk
}

// jsonField is a member of a line's object or, inside, of the object or array of features.
type jsonField struct {
	name   string
	inside bool
}

var _ ingest.Format = (*jsonFormat)(nil)

func (f *jsonFormat) Width(feature int) int {
	if f.columns == nil {
		return feature
	}
	return len(f.columns.Names)
}

func (f *jsonFormat) Limit() int { return ingest.FeatureLimit(f.opts) }

// WeighsDocuments says whether the blocks need room for weights.
func (f *jsonFormat) WeighsDocuments() bool { return f.columns.WeighsDocuments() }

func (f *jsonFormat) Names() []string { return Numbered(f.columns.Names) }

func (f *jsonFormat) Empty(docs int) error {
	if docs == 0 {
		return bad("no documents", `lines of the form {"query": …, "grade": …, "NAME": VALUE, …}`)
	}
	return bad("no features", "one or more members beside those of queries, grades and documents")
}

// Count implements ingest.Format.
func (f *jsonFormat) Count(c ingest.Chunk) (size ingest.Size) {
	info, part := new(jsonChunk), f.survey.Part()
	type interest struct{ text, number bool } // what the survey asks of a column
	var asked []interest
	var z *jsonLine
	z = newJSONLine(nil, func(p, column int) (next int, err error) {
		for len(asked) <= column {
			name := z.fields[len(asked)].name
			asked = append(asked, interest{
				text:   f.opts.Table.OneHotAuto || slices.Contains(f.opts.Table.OneHot, name),
				number: mayNumberRows(name) && f.opts.FeatureNames == nil,
			})
		}
		ask := asked[column]
		if c := z.chunk[p]; ask == (interest{}) || c == '{' || c == '[' {
			return z.skip(p)
		}
		value, next, err := z.Scalar(p)
		if err == nil && ask.text {
			part.Add(column, value)
		}
		if err == nil && ask.number {
			part.Number(column, value)
		}
		return next, err
	})
	z.grows = true
	b, n := c.Text, c.Lines()
	for p := 0; p < n; {
		size.Lines++
		end := bytes.IndexByte(b[p:n], '\n') + p
		if p = blanks(b, p); p < end {
			size.Docs++
			if info.err == nil {
				if info.err = z.line(b, p, end); info.err != nil {
					info.at = size.Lines
				}
			}
		}
		p = end + 1
	}
	info.fields, info.array, info.lines = z.fields, z.longest, size.Lines
	size.Feature = len(z.fields)
	part.Done(func(column int) string { return z.fields[column].name })
	f.keep(c.Index, info)
	return size
}

// keep notes what a chunk has. Most have the same fields, which are kept once.
func (f *jsonFormat) keep(index int, info *jsonChunk) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Equal(info.fields, f.fields) {
		info.fields = f.fields
	} else {
		need := int64(len(info.fields)) * int64(unsafe.Sizeof(jsonField{}))
		for _, field := range info.fields {
			need += int64(len(field.name))
		}
		if err := f.mem.Take(need, "names of columns"); err != nil {
			f.full, info.fields = cmp.Or(f.full, err), nil
		}
		f.fields = info.fields
	}
	f.chunks[index] = info
}

// Counted implements ingest.Format: it puts the fields of all chunks together.
func (f *jsonFormat) Counted() error {
	if f.full != nil {
		return f.full
	}
	f.fields = nil
	var wrong error
	known, lines := make(map[jsonField]bool), 0
	for _, index := range slices.Sorted(maps.Keys(f.chunks)) {
		info := f.chunks[index]
		for _, field := range info.fields {
			if !known[field] {
				known[field] = true
				f.fields = append(f.fields, field)
			}
		}
		f.array = max(f.array, info.array)
		if wrong == nil && info.err != nil {
			wrong = ingest.Locate(info.err, f.name, lines+info.at)
		}
		lines += info.lines
	}
	f.chunks = nil
	inside := slices.ContainsFunc(f.fields, func(field jsonField) bool { return field.inside })
	list := make([]Field, len(f.fields))
	for i, field := range f.fields {
		list[i] = Field{field.name, inside && !field.inside}
	}
	var err error
	switch f.columns, err = Choose(f.name, list, f.opts); {
	case err != nil && wrong != nil:
		return wrong
	case len(list) == 0:
		f.columns = new(Columns)
		return nil // there are no documents
	case err != nil:
		return err
	case len(list) > f.Limit():
		return bad(fmt.Sprintf("%d columns", len(list)), fmt.Sprintf("at most %d (or --max-feature)", f.Limit()))
	}
	return f.columns.Settle(f.survey)
}

// Parser implements ingest.Format.
func (f *jsonFormat) Parser(c *ingest.Collector, checkOnly bool) ingest.Parser {
	z := &jsonParser{row: newRow(c, f.columns, f.opts, checkOnly), length: f.array}
	for i := range f.columns.List {
		if f.columns.Read(i) {
			z.wanted++
		}
	}
	z.jsonLine = newJSONLine(f.fields, z.value)
	return z
}

// jsonParser parses lines.
type jsonParser struct {
	*row
	*jsonLine

	length int // of all arrays of features
	wanted int // columns that are read
	got    int // of these in the current line
}

// Chunk implements ingest.Parser.
func (z *jsonParser) Chunk(c ingest.Chunk, before, most int) (docs, line int, err error) {
	line = before
	b, n := c.Text, c.Lines()
	for p := 0; p < n; {
		line++
		end := bytes.IndexByte(b[p:n], '\n') + p
		if p = blanks(b, p); p == end {
			p++
			continue
		}
		if docs == most {
			return docs, line, dataset.ErrChanged
		}
		z.at = line
		if err := z.document(b, p, end); err != nil {
			return docs, line, err
		}
		docs++
		p = end + 1
	}
	return docs, line, nil
}

// document parses the line b[p:end].
func (z *jsonParser) document(b []byte, p, end int) error {
	z.begin()
	z.got, z.longest = 0, 0
	if err := z.line(b, p, end); err != nil {
		return err
	}
	if z.longest > 0 && z.longest != z.length {
		return bad(fmt.Sprintf("an array of %d features", z.longest), fmt.Sprintf("%d, as elsewhere", z.length))
	}
	if z.got < z.wanted {
		for i := range z.columns.List {
			if !z.columns.Read(i) || z.seen[i] == z.lines {
				continue
			}
			if err := z.set(i, nil); err != nil {
				return err
			}
		}
	}
	return z.end()
}

// value reads the value of a column.
func (z *jsonParser) value(p, column int) (next int, err error) {
	b := z.chunk
	f := &z.columns.List[column]
	if !z.columns.Read(column) {
		return z.skip(p)
	}
	z.got++
	if f.Role == Feature && f.Attribute == 0 && f.Categories == nil && !z.StandIns() {
		if v, next := strictjson.ShortNumber(b, p); next > p {
			if next-p >= ingest.LongNumber && z.Watches(f.Feature, v) {
				z.WatchText(f.Feature, v, b, p, next)
			}
			z.features[f.Feature] = v
			return next, nil
		}
	}
	if b[p] == '{' || b[p] == '[' {
		what := "an object"
		if b[p] == '[' {
			what = "an array"
		}
		return p, bad(what+" in column "+f.Name, "a number, a string, true, false or null")
	}
	text, next, err := z.Scalar(p)
	if err != nil {
		return p, inColumn(syntax(err), f.Name)
	}
	return next, z.set(column, text)
}
