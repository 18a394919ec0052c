// Package flat reads and writes flat Parquet tables of any meaning, whose cells are texts and numbers. It is for
// packages above dataset, such as click. Start reading at [Read]. The package must not depend on the meaning of
// the columns.
package flat

import (
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/parquet"
)

// Magic is the beginning of every Parquet file.
const Magic = parquet.Magic

// Read reads columns of a file as text, row by row. choose receives the names of all columns and returns the
// indices of those to read. visit receives the cells of each row, counted from 1, in the order of these indices. A
// cell without a value is "". Timestamps are seconds since 1970, with a fraction.
//
// Read uses the fields Context, MaxBytes and Observe of the options.
func Read(path string, opts dataset.Options, choose func(names []string) ([]int, error), visit func(row int64, cells []string) error) error {
	return input.With(path, opts, nil, func(in *input.Input) error { return parquet.Cells(in, opts, choose, visit) })
}

// ReadFrom does the work of Read for a stream, which it copies to memory, or to a temporary file if it is long.
// name is the name of the stream in errors.
func ReadFrom(r io.Reader, name string, opts dataset.Options, choose func(names []string) ([]int, error), visit func(row int64, cells []string) error) error {
	opts.Stream = true
	return input.Stream(r, name, opts, nil, func(in *input.Input) error { return parquet.Cells(in, opts, choose, visit) })
}

// Kind is the type of a column.
type Kind int

// The types of columns.
const (
	Text  Kind = Kind(parquet.Text)
	Whole Kind = Kind(parquet.Whole)
	Real  Kind = Kind(parquet.Real)
)

// Column is a column of a table to write.
type Column struct {
	Name string
	Kind Kind
}

// Writer writes a table row by row. A cell that is not set has no value.
type Writer struct{ w *parquet.CellWriter }

// NewWriter returns a writer of a table to w.
func NewWriter(w io.Writer, columns []Column) *Writer {
	names, types := make([]string, len(columns)), make([]parquet.Kind, len(columns))
	for i, c := range columns {
		names[i], types[i] = c.Name, parquet.Kind(c.Kind)
	}
	return &Writer{parquet.NewCellWriter(w, names, types)}
}

// Text sets the cell of a column of texts in the current row.
func (w *Writer) Text(column int, text string) error { return w.w.Text(column, text) }

// Whole sets the cell of a column of whole numbers in the current row.
func (w *Writer) Whole(column int, n int64) { w.w.Whole(column, n) }

// Real sets the cell of a column of numbers in the current row.
func (w *Writer) Real(column int, x float64) { w.w.Real(column, x) }

// End ends the current row.
func (w *Writer) End() error { return w.w.End() }

// Close completes the table. It does not close the underlying writer.
func (w *Writer) Close() error { return w.w.Close() }
