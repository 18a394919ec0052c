// Package parquet reads and writes judged queries as flat Parquet tables. A row is a document. Columns contain
// the identifiers of queries and documents, grades, weights and features. Package dataset/internal/table
// assigns these uses to the columns.
//
// Small packages of parquet-go decode the headers. This package decodes the pages, some rows at a time and
// directly to float32. The page reader of parquet-go allocates as much memory as a page header claims, and it
// cannot read the files of some writers. All sizes that a file states are checked before memory is allocated.
//
// Start reading at [Stream]. pages.go reads the pages of a column, cursor.go decodes them, and rows.go
// combines the columns. write.go writes files.
package parquet

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/table"
	"github.com/listwise/listwise/dataset/stream"
)

// Read reads a file, or all parts of one. Columns may have whole numbers of any size, decimals, float16,
// float, double, boolean, text or UUID. Pages may have version 1 or 2, and a dictionary or none. They may be
// uncompressed, or compressed by snappy, gzip, zstandard, brotli or LZ4. NULL and NaN are missing values.
// Encrypted files are errors, and so are chosen columns with nested values, dates or times. Errors in the
// content are of type [*dataset.SyntaxError].
func Read(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	src, err := Stream(in, opts)
	if err != nil {
		return nil, err
	}
	return stream.Collect(input.Context(opts), stream.File{Source: src, Name: in.Name, Mem: in.Mem}, opts.Missing)
}

// Stream returns a source of the documents of a file. The source has one page of each column in memory at a
// time.
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
	if err := f.checkChunks(); err != nil {
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
	if err == nil {
		err = r.weights.Set(&shape, f.in.Name)
		f.docWeights = shape.DocWeights
		r.texts.Set(&shape, f.opts.Table.Attributes)
	}
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
	shape.Later = func() (warnings []string) {
		if f.watch == nil {
			return nil
		}
		if w := ingest.CollapsedWarning(f.in.Name, names, f.watch); w != "" {
			warnings = append(warnings, w)
		}
		return warnings
	}
	return shape, err
}

// Each implements stream.Source.
func (f *file) Each(columns int, visit func(b *stream.Batch) error) error {
	f.watch = ingest.NewCollector(&ingest.Blocks{Width: columns}, f.opts, f.in.Mem)
	for i, c := range f.choice.List {
		if c.Role == table.Feature {
			f.fields[i].watch, f.fields[i].feature = f.watch, c.Feature
			if v, ok := f.rounded(i); ok {
				f.watch.Rounded(c.Feature, v) // Survey has warned about the feature; CollapsedWarning omits it
			}
		}
	}
	return f.reader(columns).each(visit)
}

// checkChunks checks the metadata of all columns that are read, in every row group.
func (f *file) checkChunks() error {
	for _, g := range f.groups {
		for i := range f.choice.List {
			if !f.choice.Read(i) {
				continue
			}
			c := &cursor{column: f.fields[i]}
			if err := g.open(c); err != nil {
				return g.inColumn(c, err)
			}
		}
	}
	return nil
}

// open lets c read its column of the row group.
func (g *group) open(c *cursor) error {
	chunk := &g.Columns[c.column.index]
	switch {
	case chunk.CryptoMetadata.Value != nil || len(chunk.EncryptedColumnMetadata) > 0:
		return errEncrypted
	case chunk.FilePath != "":
		return &refusal{"values in another file", "all in one"}
	}
	return c.open(g.in, &chunk.MetaData, g.NumRows)
}

// inColumn adds the names of the file and the column to an error.
func (g *group) inColumn(c *cursor, err error) error {
	if r, ok := errors.AsType[*refusal](err); ok {
		return &dataset.SyntaxError{File: g.in.Name, Found: r.found + " in column " + c.column.name, Expected: r.expected}
	}
	return damaged(g.in.Name, fmt.Errorf("column %s: %w", c.column.name, err))
}

// settle numbers the features. It first collects the values of text columns and of columns that may contain
// row numbers.
func (f *file) settle() (err error) {
	defer guard(f.in.Name, &err)
	if !f.choice.NeedsSurvey() {
		return named(f.in.Name, f.choice.Settle(nil))
	}
	s := table.NewSurvey(f.in.Mem)
	d := decompressor{buffer: buffer{mem: f.in.Mem}}
	defer d.release()
	for i := range f.choice.List {
		own := *f.fields[i]
		own.precise = own.rational() // as text, large numbers would be errors
		own.textual = !own.precise
		numbering := f.choice.List[i].Numbering && (own.rational() || own.kind == format.Int32 || own.kind == format.Int64)
		if f.choice.List[i].Role != table.OneHot && !numbering {
			continue
		}
		part := s.Part()
		c := &cursor{column: &own}
		if err := f.collect(part, i, c, &d); err != nil {
			return err
		}
		part.Done(func(column int) string { return f.choice.List[column].Name })
	}
	return named(f.in.Name, f.choice.Settle(s))
}

// collect adds the values of a column to part.
func (f *file) collect(part *table.SurveyPart, field int, c *cursor, d *decompressor) error {
	defer c.close()
	var room [32]byte
	for _, g := range f.groups {
		if err := g.open(c); err != nil {
			return g.inColumn(c, err)
		}
		for range g.NumRows {
			i, from, err := c.next(d)
			switch {
			case err != nil:
				return g.inColumn(c, err)
			case from == nil:
			case from.doubles == nil:
				f.choice.Survey(part, field, from.text(i))
			case from.doubles[i] == from.doubles[i]:
				f.choice.Survey(part, field, strconv.AppendFloat(room[:0], from.doubles[i], 'g', -1, 64))
			}
		}
		if err := input.Context(f.opts).Err(); err != nil {
			return fmt.Errorf("%s: %w", f.in.Name, err)
		}
	}
	return nil
}
