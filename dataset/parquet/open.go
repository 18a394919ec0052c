package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/table"
	"github.com/listwise/listwise/internal/input"
)

// file is a Parquet file whose columns were chosen.
type file struct {
	in     *input.Input
	opts   dataset.Options
	meta   *format.FileMetaData
	fields []*column      // one a column of the table, in its order
	found  []string       // why a column cannot be read, "" if it can
	choice *table.Columns // what becomes of each

	docWeights bool // some documents have weights other than 1, as a survey found
}

// open opens a file and chooses the columns. Nothing of their values is read.
func open(in *input.Input, opts dataset.Options) (f *file, err error) {
	defer guard(in.Name, &err)
	f = &file{in: in, opts: opts}
	if f.meta, err = describe(in); err != nil {
		return nil, damaged(in.Name, err)
	}
	var leaves int
	if f.fields, f.found, leaves, err = columnsOf(f.meta.Schema); err != nil {
		return nil, damaged(in.Name, err)
	}
	for i := range f.meta.RowGroups {
		if g := &f.meta.RowGroups[i]; len(g.Columns) != leaves || g.NumRows < 0 || g.NumRows > 1<<40 {
			return nil, damaged(in.Name, fmt.Errorf("found %d columns and %d rows in row group %d, expected %d columns", len(g.Columns), g.NumRows, i+1, leaves))
		}
	}
	if err := f.apart(); err != nil {
		return nil, damaged(in.Name, err)
	}
	f.meta.RowGroups = slices.DeleteFunc(f.meta.RowGroups, func(g format.RowGroup) bool { return empty(&g) })
	var names []table.Field
	for _, c := range f.fields {
		names = append(names, table.Field{Name: c.name})
	}
	if f.choice, err = table.Choose(in.Name, names, opts); err != nil {
		return nil, named(in.Name, err)
	}
	return f, f.check()
}

// empty reports whether a row group has no rows and no values. Writers give columns of such groups,
// which have no pages, no place.
func empty(g *format.RowGroup) bool {
	return g.NumRows == 0 && !slices.ContainsFunc(g.Columns, func(c format.ColumnChunk) bool { return c.MetaData.NumValues != 0 })
}

// apart checks that no column of a row group begins within another, as where a place in the description,
// which has no checksum, is damaged.
func (f *file) apart() error {
	type place struct{ from, to int64 }
	places := make([]place, 0, len(f.fields))
	for i := range f.meta.RowGroups {
		if empty(&f.meta.RowGroups[i]) {
			continue
		}
		places = places[:0]
		for k := range f.meta.RowGroups[i].Columns {
			m := &f.meta.RowGroups[i].Columns[k].MetaData
			places = append(places, place{begin(m), begin(m) + m.TotalCompressedSize})
		}
		slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
		for k := 1; k < len(places); k++ {
			if places[k].from < places[k-1].to {
				return fmt.Errorf("found a column that begins at byte %d, within another, in row group %d", places[k].from, i+1)
			}
		}
	}
	return nil
}

// check checks that the columns chosen can be read as what they are chosen for.
func (f *file) check() error {
	for i := range f.choice.List {
		c, col := &f.choice.List[i], f.fields[i]
		if !f.choice.Read(i) {
			continue
		}
		if f.found[i] != "" {
			return f.bad(f.found[i]+" in column "+c.Name, fmt.Sprintf("numbers, text or true and false in a flat table (--features 'all but %s' leaves a column of features out)", c.Name))
		}
		if c.Role == table.Feature && col.text() {
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

// fit checks that a column can be what it is chosen for.
func (f *file) fit(c *table.Column, col *column) error {
	number := col.kind == format.Float || col.kind == format.Double || col.half
	switch c.Role {
	case table.Query, table.Doc:
		if number || col.kind == format.Boolean {
			return f.bad("no identifiers in column "+c.Name+", but values of type "+col.kind.String(), "text or whole numbers")
		}
		col.textual = true
	case table.Coded:
		col.textual = true
	case table.OneHot:
		if number || col.kind == format.Boolean {
			return f.bad("values of type "+col.kind.String()+" in column "+c.Name, "text or whole numbers to make features of")
		}
		col.textual = true
	case table.Grade, table.Weight, table.QueryWeight:
		if col.text() {
			return f.bad("text in column "+c.Name, numberOf[c.Role])
		}
		col.precise = true
	case table.Feature:
		if col.text() {
			return f.bad("text in column "+c.Name, fmt.Sprintf("numbers (--one-hot %s makes features of text, --features 'all but %s' leaves it out)", c.Name, c.Name))
		}
	case table.Skip:
	}
	return nil
}

// numberOf says what is expected of the numbers that are no features.
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
	for i := range f.meta.RowGroups {
		rows += f.meta.RowGroups[i].NumRows
	}
	return rows
}

// guard turns a panic of the library, at whose border it is deferred, into an error about the
// file: it panics about some damage.
func guard(name string, err *error) {
	if r := recover(); r != nil {
		*err = damaged(name, fmt.Errorf("found content that cannot be decoded: %v", r))
	}
}

// refusal is the error about content that is whole, but cannot be read or is not wanted.
type refusal struct{ found, expected string }

// Error describes it.
func (r *refusal) Error() string { return "found " + r.found + ", expected " + r.expected }

// damaged is the error about a file that is no Parquet file, or not whole.
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
