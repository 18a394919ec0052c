// Package parquet reads and writes judged queries as flat Parquet tables: a row is a document,
// and columns hold the query's identifier, the grade, the document's identifier and the
// features. Which is which, package dataset/table says.
//
// The library that decodes pages is believed nothing: sizes are checked before it sees them
// (pages.go), and what it panics about becomes an error.
//
// Start reading at [Stream]; cursor.go goes through the pages of a column, rows.go puts the
// columns together.
package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/dataset/table"
	"github.com/listwise/listwise/internal/ingest"
	"github.com/listwise/listwise/internal/input"
)

// Read reads a file: columns of any whole numbers, float16, float, double, boolean and text,
// also with a dictionary, in pages of either version, uncompressed or compressed by snappy, gzip or
// zstandard. A null or NaN is a missing value. Nested columns, decimals, dates and times
// are refused if they are chosen, as are encrypted files and true and false encoded in runs, as pages
// of version 2 hold them, which the library decodes wrongly. Errors in the content are of
// type [*dataset.SyntaxError].
func Read(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	src, err := Stream(in, opts)
	if err != nil {
		return nil, err
	}
	return stream.Collect(input.Context(opts), stream.File{Source: src, Name: in.Name, Mem: in.Mem}, opts.Missing)
}

// Stream returns a file as a source of documents, of whose pages one of each column is in
// memory at a time.
func Stream(in *input.Input, opts dataset.Options) (stream.Source, error) {
	f, err := open(in, opts)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Close implements stream.Source.
func (f *file) Close() error { return nil }

// Survey implements stream.Source.
func (f *file) Survey(visit func(runs []stream.Run) error) (shape stream.Shape, err error) {
	if f.rows() == 0 {
		return shape, f.bad("no rows", "a row for each document")
	}
	if err := f.checkPages(); err != nil {
		return shape, err
	}
	if err := f.settle(); err != nil {
		return shape, err
	}
	if len(f.choice.Names) == 0 {
		return shape, f.bad("no column of features", "one or more beside those of queries, grades and documents")
	}
	names := table.Numbered(f.choice.Names)
	shape = stream.Shape{Features: len(f.choice.Names), FeatureNames: names, Fixed: true}
	r := f.reader(0)
	err = r.each(func(b *stream.Batch) error {
		bytes := 0
		for i := range b.Runs {
			bytes += b.Runs[i].Bytes
		}
		shape.DocIDs = shape.DocIDs || bytes > 0
		return visit(b.Runs)
	})
	if err == nil && r.kept == 0 {
		err = f.bad("negative grades alone", "documents that are not to be dropped")
	}
	if w := ingest.NegativeWarning(f.in.Name, r.negative, f.opts.Negative); w != "" {
		shape.Warnings = append(shape.Warnings, w)
	}
	if w := f.roundedWarning(); w != "" {
		shape.Warnings = append(shape.Warnings, w)
	}
	shape.Warnings = append(shape.Warnings, f.choice.Warnings(f.in.Name)...)
	return shape, err
}

// Each implements stream.Source.
func (f *file) Each(columns int, visit func(b *stream.Batch) error) error {
	return f.reader(columns).each(visit)
}

// checkPages checks the pages of all columns that are read, before the library sees them.
func (f *file) checkPages() (err error) {
	defer guard(f.in.Name, &err)
	p := &pageChecker{r: f.in.R, size: f.in.Size, mem: f.in.Mem}
	groups := f.parts.Metadata().RowGroups
	for g := range groups {
		for i := range f.choice.List {
			if f.choice.List[i].Role == table.Skip {
				continue
			}
			index := f.fields[i].index
			if index >= len(groups[g].Columns) {
				return damaged(f.in.Name, fmt.Errorf("found %d columns in row group %d", len(groups[g].Columns), g+1))
			}
			if err := p.chunk(&groups[g].Columns[index].MetaData, groups[g].NumRows, f.fields[i].level > 0); err != nil {
				return f.inColumn(i, err)
			}
		}
		if err := input.Context(f.opts).Err(); err != nil {
			return fmt.Errorf("%s: %w", f.in.Name, err)
		}
	}
	return nil
}

// inColumn returns an error about a column.
func (f *file) inColumn(field int, err error) error {
	return damaged(f.in.Name, fmt.Errorf("column %s: %w", f.choice.List[field].Name, err))
}

// settle numbers the features, for which it collects the values of columns of text.
func (f *file) settle() (err error) {
	defer guard(f.in.Name, &err)
	if !f.choice.NeedsSurvey() {
		return named(f.in.Name, f.choice.Settle(nil))
	}
	s := table.NewSurvey(f.in.Mem)
	for i := range f.choice.List {
		if f.choice.List[i].Role != table.OneHot {
			continue
		}
		part := s.Part()
		c := &cursor{column: f.fields[i]}
		for _, g := range f.parts.RowGroups() {
			if err := collect(part, i, c, g); err != nil {
				return f.inColumn(i, err)
			}
		}
		c.close()
		part.Done(func(column int) string { return f.choice.List[column].Name })
	}
	return named(f.in.Name, f.choice.Settle(s))
}

// collect adds the values of a column of a row group to a survey.
func collect(part *table.SurveyPart, field int, c *cursor, g parquet.RowGroup) error {
	c.open(g.ColumnChunks()[c.column.index])
	for range g.NumRows() {
		text, ok, err := c.text()
		if err != nil {
			return err
		}
		if ok {
			part.Add(field, text)
		}
	}
	return nil
}
