package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/table"
	"github.com/listwise/listwise/internal/input"
)

// Magic is what a Parquet file begins with, and ends.
const Magic = "PAR1"

// file is a Parquet file whose columns were chosen.
type file struct {
	in     *input.Input
	opts   dataset.Options
	parts  *parquet.File
	fields []*column      // one a column of the table, in its order
	found  []string       // why a column cannot be read, "" if it can
	choice *table.Columns // what becomes of each
}

// footerRoom is about how much memory the description of a file takes, as a multiple of
// its bytes.
const footerRoom = 16

// open opens a file and chooses the columns. Nothing of their values is read.
func open(in *input.Input, opts dataset.Options) (f *file, err error) {
	defer guard(in.Name, &err)
	f = &file{in: in, opts: opts}
	end := make([]byte, 8)
	if in.Size < 12 {
		return nil, damaged(in.Name, fmt.Errorf("found a file of %d bytes", in.Size))
	}
	if _, err := in.R.ReadAt(end, in.Size-8); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	footer := int64(binary.LittleEndian.Uint32(end))
	switch {
	case string(end[4:]) == "PARE":
		return nil, &dataset.SyntaxError{File: in.Name, Found: "an encrypted Parquet file", Expected: "one that is not encrypted"}
	case string(end[4:]) != Magic:
		return nil, damaged(in.Name, errors.New("found no end of a Parquet file"))
	case footer > in.Size-12:
		return nil, damaged(in.Name, fmt.Errorf("found a description of %d bytes in a file of %d", footer, in.Size))
	}
	if err := in.Mem.Take(footerRoom*footer, "the description of a Parquet file"); err != nil {
		return nil, err
	}
	f.parts, err = parquet.OpenFile(in.R, in.Size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<14))
	if err != nil {
		return nil, damaged(in.Name, err)
	}
	var names []table.Field
	elements := elementsOf(f.parts.Metadata().Schema)
	for i, c := range f.parts.Root().Columns() {
		if i >= len(elements) || elements[i].Name != c.Name() {
			return nil, damaged(in.Name, errors.New("found a schema whose columns do not fit"))
		}
		col, found := columnOf(c, elements[i])
		f.fields, f.found = append(f.fields, col), append(f.found, found)
		names = append(names, table.Field{Name: c.Name()})
	}
	if f.choice, err = table.Choose(in.Name, names, opts); err != nil {
		return nil, named(in.Name, err)
	}
	return f, f.check()
}

// check checks that the columns chosen can be read as what they are chosen for.
func (f *file) check() error {
	for i := range f.choice.List {
		c, col := &f.choice.List[i], f.fields[i]
		if c.Role == table.Skip {
			continue
		}
		if f.found[i] != "" {
			return f.bad(f.found[i]+" in column "+c.Name, fmt.Sprintf("numbers, text or true and false in a flat table (--features 'all but %s' leaves a column of features out)", c.Name))
		}
		if c.Role == table.Feature && f.choice.Auto && col.text() {
			c.Role = table.OneHot
		}
		number := col.kind == parquet.Float || col.kind == parquet.Double || col.half
		switch c.Role {
		case table.Query, table.Doc:
			if number || col.kind == parquet.Boolean {
				return f.bad("no identifiers in column "+c.Name+", but values of type "+col.kind.String(), "text or whole numbers")
			}
			col.textual = true
		case table.OneHot:
			if number {
				return f.bad("values of type "+col.kind.String()+" in column "+c.Name, "text or whole numbers to make features of")
			}
			col.textual = true
		case table.Grade:
			if col.text() {
				return f.bad("text in column "+c.Name, "a grade, a finite non-negative number")
			}
			col.precise = true
		case table.Feature:
			if col.text() {
				return f.bad("text in column "+c.Name, fmt.Sprintf("numbers (--one-hot %s makes features of text, --features 'all but %s' leaves it out)", c.Name, c.Name))
			}
		case table.Weight, table.QueryWeight:
			return f.bad("weights in column "+c.Name, "a Parquet file without weights; CSV and JSON lines may have them")
		case table.Skip:
		}
	}
	return nil
}

// bad returns an error about the content.
func (f *file) bad(found, expected string) error {
	return &dataset.SyntaxError{File: f.in.Name, Found: found, Expected: expected}
}

// rows returns the number of documents in the file.
func (f *file) rows() int64 {
	rows := int64(0)
	for _, g := range f.parts.RowGroups() {
		rows += g.NumRows()
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

// damaged is the error about a file that is no Parquet file, or not whole.
func damaged(name string, err error) error {
	if _, ok := errors.AsType[*dataset.SyntaxError](err); ok {
		return named(name, err)
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
