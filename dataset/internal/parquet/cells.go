package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
)

// cellRows is the number of rows that Cells decodes at a time.
const cellRows = 1 << 10

// Cells reads columns of a file as text, row by row. choose receives the names of all columns and returns the
// indices of those to read. visit receives the cells of each row, counted from 1, in the order of these indices. A
// cell without a value is "". Timestamps are seconds since 1970, with a fraction. Cells of a row stay valid.
func Cells(in *input.Input, opts dataset.Options, choose func(names []string) ([]int, error), visit func(row int64, cells []string) error) error {
	f := &file{in: in, opts: opts}
	if err := f.add(in); err != nil {
		return err
	}
	names := make([]string, len(f.fields))
	for i, c := range f.fields {
		names[i] = c.name
	}
	chosen, err := choose(names)
	if err != nil {
		return named(in.Name, err)
	}
	r := &reader{file: f, in: in, own: decompressor{buffer: buffer{mem: in.Mem}}}
	defer r.release()
	for _, i := range chosen {
		if err := f.fitCell(i); err != nil {
			return err
		}
		r.cursor(i)
	}
	rows := make([][]string, cellRows)
	for i := range f.groups {
		if err := r.open(&f.groups[i]); err != nil {
			return err
		}
		for r.left > 0 {
			if err := input.Context(opts).Err(); err != nil {
				return err
			}
			n := int(min(cellRows, r.left))
			if err := r.cells(rows[:n]); err != nil {
				return err
			}
			for _, row := range rows[:n] {
				r.row++
				if err := visit(r.row, row); err != nil {
					return err
				}
			}
			r.left -= int64(n)
			r.done += int64(n)
			if opts.Observe != nil {
				opts.Observe(int64(float64(r.done)/float64(f.rows())*float64(in.Size)), in.Size)
			}
		}
	}
	return nil
}

// fitCell returns an error if a column cannot be read as text. It sets how its values are decoded.
func (f *file) fitCell(i int) error {
	c := f.fields[i]
	switch {
	case c.digits > 0:
		c.decimal, c.scale, c.textual = true, c.digits, true
	case f.found[i] != "":
		return f.bad(f.found[i]+" in column "+c.name, "numbers, text or true and false in a flat table")
	case c.rational() || c.kind == format.Boolean:
		c.precise = true
	default:
		c.textual = true
	}
	return nil
}

// cells reads the next rows.
func (r *reader) cells(rows [][]string) (err error) {
	defer guard(r.in.Name, &err)
	width := len(r.cursors)
	all := make([]string, len(rows)*width)
	for i := range rows {
		rows[i] = all[i*width : (i+1)*width : (i+1)*width]
		for k, c := range r.cursors {
			at, from, err := c.next(&r.own)
			switch {
			case err != nil:
				return r.at(c, i, err)
			case from == nil:
			case c.column.precise && c.column.kind == format.Boolean:
				rows[i][k] = strconv.FormatBool(from.doubles[at] != 0)
			case c.column.precise:
				rows[i][k] = cellOf(from.doubles[at])
			default:
				rows[i][k] = string(from.text(at))
			}
		}
	}
	return nil
}

// cellOf returns the text of a number. Whole numbers have no exponent, because they may be identifiers.
func cellOf(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Kind is the type of a column that a CellWriter writes.
type Kind int

// The types of columns.
const (
	Text Kind = iota
	Whole
	Real
)

var kinds = map[Kind]format.Type{Text: format.ByteArray, Whole: format.Int64, Real: format.Double}

// CellWriter writes a table whose columns have any names. A cell may have no value.
type CellWriter struct {
	sheet   *sheet
	columns []pageValues
	rows    int // collected
	bytes   int // collected in texts
	group   int // rows of the row group that are in pages
}

// NewCellWriter returns a writer of a table to w.
func NewCellWriter(w io.Writer, names []string, types []Kind) *CellWriter {
	columns := make([]*sheetColumn, len(names))
	for i, name := range names {
		columns[i] = &sheetColumn{name: name, kind: kinds[types[i]], nullable: true}
	}
	return &CellWriter{sheet: newSheet(w, format.Zstd, columns), columns: make([]pageValues, len(names))}
}

// Text sets the cell of a column of texts in the current row.
func (c *CellWriter) Text(column int, text string) error {
	if uint64(len(text)) > maxText {
		return &dataset.FormatError{Found: "a text of " + memory.Bytes(float64(len(text))), Expected: "at most 4 GiB"}
	}
	v := c.present(column)
	v.plain = appendText(v.plain, text)
	c.bytes += len(text)
	return nil
}

// Whole sets the cell of a column of whole numbers in the current row.
func (c *CellWriter) Whole(column int, n int64) {
	v := c.present(column)
	v.plain = binary.LittleEndian.AppendUint64(v.plain, uint64(n))
}

// Real sets the cell of a column of numbers in the current row.
func (c *CellWriter) Real(column int, x float64) {
	v := c.present(column)
	v.plain = binary.LittleEndian.AppendUint64(v.plain, math.Float64bits(x))
}

// present marks the cell of a column in the current row.
func (c *CellWriter) present(column int) *pageValues {
	v := &c.columns[column]
	for len(v.present) < c.rows {
		v.present = append(v.present, 0)
	}
	v.present = append(v.present, 1)
	return v
}

// End ends the current row.
func (c *CellWriter) End() error {
	if c.rows++; c.rows < scorePage && c.bytes < idBytes {
		return nil
	}
	return c.flush()
}

// flush writes the collected rows to pages. It ends the row group if this is complete.
func (c *CellWriter) flush() error {
	if c.rows == 0 {
		return nil
	}
	err := c.sheet.each(func(k int, v *pageValues) {
		own := &c.columns[k]
		for len(own.present) < c.rows {
			own.present = append(own.present, 0)
		}
		own.rows = c.rows
		*v = *own
	})
	if err != nil {
		return err
	}
	for k := range c.columns {
		v := &c.columns[k]
		v.present, v.plain = v.present[:0], v.plain[:0]
	}
	c.group += c.rows
	c.rows, c.bytes = 0, 0
	if c.group < scoreGroup && c.sheet.held < scoreGroupBytes {
		return nil
	}
	c.group = 0
	return c.sheet.endGroup()
}

// Close completes the file. It does not close the underlying writer.
func (c *CellWriter) Close() error { return errors.Join(c.flush(), c.sheet.close()) }
