package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/table"
)

// file is a Parquet file whose columns were chosen.
type file struct {
	in     *input.Input
	opts   dataset.Options
	groups []group
	fields []*column         // columns of the table, in its order
	found  []string          // for each column, the reason why it cannot be read, or ""
	choice *table.Columns    // uses of the columns
	watch  *ingest.Collector // finds merged values of features; of the last call of Each

	docWeights bool // some document has a weight other than 1; set by Survey
}

// group is a row group.
type group struct {
	*format.RowGroup

	in  *input.Input // the file, or the part of it that has the row group
	row int64        // index of its first row in that file or part
}

// open opens a file and chooses the columns. It reads no values.
func open(in *input.Input, opts dataset.Options) (f *file, err error) {
	f = &file{in: in, opts: opts}
	parts := in.Parts
	if parts == nil {
		parts = []*input.Input{in}
	}
	for _, part := range parts {
		if err := f.add(part); err != nil {
			return nil, err
		}
	}
	var names []table.Field
	for i, c := range f.fields {
		if c.name == "" {
			return nil, f.bad(fmt.Sprintf("no name of column %d", i+1), "a name of every column")
		}
		names = append(names, table.Field{Name: c.name})
	}
	if f.choice, err = table.Choose(in.Name, names, opts); err != nil {
		return nil, named(in.Name, err)
	}
	return f, f.check()
}

// add adds the columns and row groups of the file, or of a part of it.
func (f *file) add(in *input.Input) (err error) {
	defer guard(in.Name, &err)
	m, err := describe(in)
	if err != nil {
		return damaged(in.Name, err)
	}
	if err := checkSchema(m); err != nil {
		return damaged(in.Name, err)
	}
	fields, found, leaves, err := columnsOf(m.Schema)
	if err != nil {
		return damaged(in.Name, err)
	}
	row := int64(0)
	for i := range m.RowGroups {
		g := &m.RowGroups[i]
		if len(g.Columns) != leaves || g.NumRows < 0 || g.NumRows > 1<<40 {
			return damaged(in.Name, fmt.Errorf("found %d columns and %d rows in row group %d, expected %d columns", len(g.Columns), g.NumRows, i+1, leaves))
		}
		if empty(g) {
			continue
		}
		if at, ok := apart(g); !ok {
			return damaged(in.Name, fmt.Errorf("found a column that begins at byte %d, within another, in row group %d", at, i+1))
		}
		f.groups = append(f.groups, group{g, in, row})
		row += g.NumRows
	}
	if f.fields == nil {
		f.fields, f.found = fields, found
		return nil
	}
	return f.sameColumns(in, fields, found)
}

// sameColumns returns an error if the columns of a part differ from those of the first part.
func (f *file) sameColumns(in *input.Input, fields []*column, found []string) error {
	first := f.in.Parts[0].Name
	if len(fields) != len(f.fields) {
		return &dataset.SyntaxError{File: in.Name, Found: fmt.Sprintf("%d columns", len(fields)), Expected: fmt.Sprintf("the %d of %s", len(f.fields), first)}
	}
	for i, c := range fields {
		if *c != *f.fields[i] || found[i] != f.found[i] {
			return &dataset.SyntaxError{File: in.Name, Found: "column " + c.String(), Expected: "column " + f.fields[i].String() + ", as in " + first}
		}
	}
	return nil
}

// empty reports whether a row group has no rows and no values. The columns of such a group have no pages, so
// their positions in the file mean nothing.
func empty(g *format.RowGroup) bool {
	return g.NumRows == 0 && !slices.ContainsFunc(g.Columns, func(c format.ColumnChunk) bool { return c.MetaData.NumValues != 0 })
}

// apart reports whether no column of a row group begins within another column. Otherwise the position of a
// column in the metadata, which have no checksum, is damaged. The result at is this position.
func apart(g *format.RowGroup) (at int64, ok bool) {
	type place struct{ from, to int64 }
	places := make([]place, 0, len(g.Columns))
	for k := range g.Columns {
		m := &g.Columns[k].MetaData
		places = append(places, place{begin(m), begin(m) + m.TotalCompressedSize})
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	for k := 1; k < len(places); k++ {
		if places[k].from < places[k-1].to {
			return places[k].from, false
		}
	}
	return 0, true
}

// check returns an error if a chosen column cannot be read. It sets the role of features that are text to
// Coded or OneHot.
func (f *file) check() error {
	for i := range f.choice.List {
		c, col := &f.choice.List[i], f.fields[i]
		if !f.choice.Read(i) {
			continue
		}
		if f.found[i] != "" {
			return f.bad(f.found[i]+" in column "+c.Name, fmt.Sprintf("numbers, text or true and false in a flat table (--features 'all but %s' leaves a column of features out)", c.Name))
		}
		if c.Role == table.Feature && col.words() {
			switch {
			case c.Categories != nil:
				c.Role = table.Coded
			case f.choice.Auto:
				c.Role = table.OneHot
			}
		}
		if err := f.fit(c, col); err != nil {
			return err
		}
	}
	return nil
}

// fit returns an error if the type of col does not suit the use of c. It sets how the values of col are
// decoded.
func (f *file) fit(c *table.Column, col *column) error {
	switch c.Role {
	case table.Query, table.Doc:
		if col.kind == format.Boolean {
			return f.bad("no identifiers in column "+c.Name+", but values of type "+col.kind.String(), "text or numbers")
		}
		col.textual = true
	case table.Coded:
		col.textual = true
	case table.OneHot:
		if col.kind == format.Boolean {
			return f.bad("values of type "+col.kind.String()+" in column "+c.Name, "text or numbers to make features of")
		}
		col.textual = true
	case table.Grade, table.Weight, table.QueryWeight:
		if col.words() {
			return f.bad("text in column "+c.Name, numberOf[c.Role])
		}
		col.precise = true
	case table.Feature:
		if len(f.opts.MissingValues) > 0 {
			col.missing = &f.opts.MissingValues
		}
		if col.words() {
			return f.bad("text in column "+c.Name, fmt.Sprintf("numbers (--one-hot %s makes features of text, --features 'all but %s' leaves it out)", c.Name, c.Name))
		}
	case table.Skip:
	}
	return nil
}

// numberOf describes the expected numbers of columns that are not features.
var numberOf = map[table.Role]string{
	table.Grade:       "a grade, a finite non-negative number",
	table.Weight:      "a weight, a finite non-negative number",
	table.QueryWeight: "a weight, a finite non-negative number",
}

// bad returns an error about the content.
func (f *file) bad(found, expected string) error {
	return &dataset.SyntaxError{File: f.in.Name, Found: found, Expected: expected}
}

// rows returns the number of documents in the file.
func (f *file) rows() int64 {
	rows := int64(0)
	for _, g := range f.groups {
		rows += g.NumRows
	}
	return rows
}

// guard turns a panic of parquet-go into an error about the file, since parquet-go panics on some damage.
// Functions that call parquet-go defer guard.
func guard(name string, err *error) {
	if r := recover(); r != nil {
		*err = damaged(name, fmt.Errorf("found content that cannot be decoded: %v", r))
	}
}

// refusal is the error about content that is intact, but unsupported or unsuitable.
type refusal struct{ found, expected string }

// Error implements error.
func (r *refusal) Error() string { return "found " + r.found + ", expected " + r.expected }

// damaged returns the error about a file that is not an intact Parquet file. It keeps the meaning of syntax
// errors, refusals and dataset.ErrChanged.
func damaged(name string, err error) error {
	if _, ok := errors.AsType[*dataset.SyntaxError](err); ok {
		return named(name, err)
	}
	if errors.Is(err, dataset.ErrChanged) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return &dataset.SyntaxError{File: name, Found: r.found, Expected: r.expected}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("found the end of something too soon")
	}
	return &dataset.SyntaxError{File: name, Found: fmt.Sprintf("damage (%v)", err), Expected: "a Parquet file that is whole", Err: err}
}

// named adds the file's name to an error about its content, which may be nil.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	if s, ok := errors.AsType[*dataset.SyntaxError](err); ok {
		s.File = name
		return s
	}
	return fmt.Errorf("%s: %w", name, err)
}
