package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/strictjson"
)

// featuresKey is the name of the member that may contain all features.
const featuresKey = "features"

// ReadJSON reads JSON lines: one object per document, whose members are the columns. The member "features", if
// there is one, contains the features. It is an object or an array of numbers; the features of an array have
// no names. A member that a line lacks is a missing value, like null. Blank lines are skipped.
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

// StreamJSON returns a source of the documents that [ReadJSON] would read.
func StreamJSON(in *input.Input, opts dataset.Options) (stream.Source, error) {
	f := newJSONFormat(in, opts)
	s, err := ingest.Documents(in, opts, f)
	return &warned{s, in.Name, opts, func() *Columns { return f.columns }}, err
}

func newJSONFormat(in *input.Input, opts dataset.Options) *jsonFormat {
	return &jsonFormat{name: in.Name, opts: opts, mem: in.Mem, chunks: make(map[int]*jsonChunk), survey: NewSurvey(in.Mem)}
}

// LooksLikeJSON recognises JSON lines by the beginning of a file. The first line must be a whole object.
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

// jsonFormat is the ingest.Format of JSON lines.
type jsonFormat struct {
	name string
	opts dataset.Options

	mem    *memory.Account
	survey *Survey

	mu     sync.Mutex
	chunks map[int]*jsonChunk
	full   error       // error about the memory limit, or nil
	fields []jsonField // fields of the last chunk counted; after Counted, of all chunks

	// Set by Counted:
	columns *Columns
	array   int // length of the longest array of features
}

// jsonChunk is the result of counting a chunk.
type jsonChunk struct {
	fields []jsonField // in the order in which they first appear
	array  int         // length of the longest array of features
	lines  int
	err    error // the first syntax error
	at     int   // its line within the chunk
}

// jsonField is the name of a member. inside is true for members of the object or array of features, and false
// for members of the line's object.
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

// WeighsDocuments reports whether documents have weights.
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
	type interest struct{ text, number bool } // what the survey must collect of a column
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

// keep stores the result of a chunk. Most chunks have the same fields, which are stored once.
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

// Counted implements ingest.Format. It merges the fields of all chunks and chooses the columns.
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

	length int // required length of arrays of features
	wanted int // number of columns that are read
	got    int // number of these columns in the current line
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

// value reads the value of a column at p and returns the position after it.
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

// jsonLine reads the members of lines. Most lines of a file have the same names in the same order. So jsonLine
// first compares a name with the expected one, and looks it up only if they differ.
type jsonLine struct {
	strictjson.Scanner // of the line

	chunk []byte // text that contains the line, and padding for [strictjson.ShortNumber]

	// value reads the value of a column at p and returns the position after it.
	value func(p, column int) (next int, err error)

	grows  bool        // unknown names become columns; otherwise they are errors
	fields []jsonField // the columns
	outer  map[string]int
	inner  map[string]int
	places []int // columns of the features of an array

	expect []expectedName
	after  []int // for each column, the index in expect after its name, or -1
	next   int   // index in expect of the next name

	seen    []int // for each column, the last line that has it
	lines   int   // number of lines so far
	longest int   // length of the longest array of features
}

// expectedName is an expected name. text has its quotes, the colon and the white space after it.
type expectedName struct {
	text   []byte
	column int
	inside bool
}

// allFeatures is the column that name returns for the member with all features.
const allFeatures = -1

func newJSONLine(fields []jsonField, value func(p, column int) (next int, err error)) *jsonLine {
	z := &jsonLine{Scanner: strictjson.Scanner{Line: true, Loose: true}, value: value, outer: make(map[string]int), inner: make(map[string]int)}
	for _, f := range fields {
		z.add(f)
	}
	return z
}

// add adds a column and returns its index.
func (z *jsonLine) add(f jsonField) int {
	column := len(z.fields)
	z.fields = append(z.fields, f)
	z.seen, z.after = append(z.seen, 0), append(z.after, -1)
	z.names(f.inside)[f.name] = column
	return column
}

func (z *jsonLine) names(inside bool) map[string]int {
	if inside {
		return z.inner
	}
	return z.outer
}

// line reads the line b[p:end]. b[end] is its line feed.
func (z *jsonLine) line(b []byte, p, end int) error {
	z.Reset(b[:end])
	z.chunk, z.next = b, 0
	z.lines++
	if b[p] != '{' {
		return bad(z.Token(p), "an object, {…}, on every line")
	}
	p, err := z.members(p, false)
	if err != nil {
		return syntax(err)
	}
	if p = z.Blanks(p); p < end {
		return bad(z.Token(p)+" behind the object", "the end of the line")
	}
	return nil
}

// blanks returns the index of the first byte at or after p that is not a blank, a tab or a carriage return.
func blanks(b []byte, p int) int {
	for b[p] == ' ' || b[p] == '\t' || b[p] == '\r' {
		p++
	}
	return p
}

// skip skips a value of any kind at p and returns the position after it.
func (z *jsonLine) skip(p int) (next int, err error) {
	if _, next = strictjson.ShortNumber(z.chunk, p); next > p {
		return next, nil
	}
	return z.Skip(p)
}

// syntax turns a fault of JSON into a syntax error of the table.
func syntax(err error) error {
	if f, ok := errors.AsType[*strictjson.Fault](err); ok {
		return bad(f.Found, f.Expected)
	}
	return err
}

// members reads the object that begins at p. inside reports whether it is the object of features.
func (z *jsonLine) members(p int, inside bool) (next int, err error) {
	b := z.Text
	if p = z.Blanks(p + 1); p < len(b) && b[p] == '}' {
		return p + 1, nil
	}
	for {
		column, at, err := z.name(p, inside)
		if err != nil {
			return p, err
		}
		if p = z.Blanks(at); column == allFeatures {
			p, err = z.all(p)
		} else {
			p, err = z.member(p, column)
		}
		if err != nil {
			return p, err
		}
		if p = z.Blanks(p); p == len(b) || b[p] != ',' {
			return z.End(p, '}', "the object")
		}
		p = z.Blanks(p + 1)
	}
}

// member reads the value of a column. It returns an error if the line has the column twice.
func (z *jsonLine) member(p, column int) (next int, err error) {
	if z.seen[column] == z.lines {
		return p, bad(fmt.Sprintf("%q twice", z.fields[column].name), "every name once in a line")
	}
	z.seen[column] = z.lines
	return z.value(p, column)
}

// name reads a name and its colon. It returns the column and the position of the value.
func (z *jsonLine) name(p int, inside bool) (column, next int, err error) {
	if z.next < len(z.expect) {
		if e := &z.expect[z.next]; e.inside == inside && bytes.HasPrefix(z.Text[p:], e.text) {
			z.next++
			return e.column, p + len(e.text), nil
		}
	}
	name, at, err := z.Key(p)
	if err != nil {
		return 0, p, err
	}
	if !inside && string(name) == featuresKey {
		return allFeatures, at, nil
	}
	column, known := z.names(inside)[string(name)]
	if !known {
		if !z.grows {
			return 0, p, dataset.ErrChanged
		}
		column = z.add(jsonField{string(name), inside})
	}
	if z.after[column] < 0 {
		z.expect = append(z.expect, expectedName{bytes.Clone(z.Text[p:at]), column, inside})
		z.after[column] = len(z.expect)
	}
	z.next = z.after[column]
	return column, at, nil
}

// all reads the value of the member with all features.
func (z *jsonLine) all(p int) (next int, err error) {
	switch z.chunk[p] {
	case '{':
		return z.members(p, true)
	case '[':
		return z.List(p, "the features", func(i, at int) (int, error) {
			column, err := z.place(i)
			if err != nil {
				return at, err
			}
			z.longest = max(z.longest, i+1)
			return z.member(at, column)
		})
	}
	text, next, err := z.Scalar(p)
	if err == nil && text != nil {
		err = bad(z.Token(p)+" for the features", "an object or an array of them")
	}
	return next, err
}

// place returns the column of feature i of an array.
func (z *jsonLine) place(i int) (column int, err error) {
	for len(z.places) <= i {
		name := strconv.Itoa(len(z.places) + 1)
		column, known := z.inner[name]
		if !known {
			if !z.grows {
				return 0, dataset.ErrChanged
			}
			column = z.add(jsonField{name, true})
		}
		z.places = append(z.places, column)
	}
	return z.places[i], nil
}
