package parquet

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/dataset/table"
	"github.com/listwise/listwise/internal/ingest"
	"github.com/listwise/listwise/internal/input"
)

// blockRows is how many rows are taken from the columns at a time: so few that they stay in
// the processor's cache while columns become rows.
const blockRows = 256

// reader puts the columns of a file together, some rows at a time.
type reader struct {
	*file

	columns           int // of features; 0: they are not read
	query, grade, doc *cursor
	numbers           []numbers
	oneHot            []oneHot
	cursors           []*cursor // all of them
	fields            []int     // of the cursors

	row      int64 // of the file, the next to be read
	left     int64 // rows of the row group
	batch    stream.Batch
	x        []float32
	most     int // documents in a batch
	kept     int
	negative int
}

// numbers are columns of numbers whose features follow one another.
type numbers struct {
	first   int // feature
	cursors []*cursor
	fields  []int
	blocks  [][]float32 // room for the values of each
	values  [][]float32 // of the rows at hand
}

// oneHot is a column of text whose values are features.
type oneHot struct {
	*cursor

	column *table.Column
}

// reader returns what reads so many columns of features.
func (f *file) reader(columns int) *reader {
	r := &reader{file: f, columns: columns}
	byFeature := make([]int, len(f.choice.Names)) // the field of a number, plus 1
	for i := range f.choice.List {
		c := &f.choice.List[i]
		switch c.Role {
		case table.Query:
			r.query = r.cursor(i)
		case table.Grade:
			if columns > 0 || f.opts.Negative != dataset.NegativeError {
				r.grade = r.cursor(i)
			}
		case table.Doc:
			r.doc = r.cursor(i)
		case table.Feature:
			byFeature[c.Feature] = i + 1
		case table.OneHot:
			if columns > 0 {
				r.oneHot = append(r.oneHot, oneHot{r.cursor(i), c})
			}
		case table.Skip, table.Weight, table.QueryWeight: // which are refused
		}
	}
	r.most = stream.BatchDocs(max(1, columns)) / blockRows * blockRows
	r.most = min(max(blockRows, r.most), 8*blockRows)
	if columns == 0 {
		r.most = 1 << 14
		return r
	}
	for k, field := range byFeature {
		if field == 0 {
			continue
		}
		if k == 0 || byFeature[k-1] == 0 {
			r.numbers = append(r.numbers, numbers{first: k})
		}
		n := &r.numbers[len(r.numbers)-1]
		n.cursors, n.fields = append(n.cursors, r.cursor(field-1)), append(n.fields, field-1)
		n.blocks = append(n.blocks, make([]float32, blockRows))
		n.values = append(n.values, nil)
	}
	r.x = make([]float32, r.most*columns)
	return r
}

// cursor returns a new cursor of a column.
func (r *reader) cursor(field int) *cursor {
	c := &cursor{column: r.file.fields[field]}
	r.cursors, r.fields = append(r.cursors, c), append(r.fields, field)
	return c
}

// each visits all documents.
func (r *reader) each(visit func(b *stream.Batch) error) error {
	defer func() {
		for _, c := range r.cursors {
			c.close()
		}
	}()
	for _, g := range r.parts.RowGroups() {
		if err := r.open(g); err != nil {
			return err
		}
		for r.left > 0 {
			if err := input.Context(r.opts).Err(); err != nil {
				return fmt.Errorf("%s: %w", r.in.Name, err)
			}
			if err := r.fill(); err != nil {
				return err
			}
			r.observe()
			if len(r.batch.Grades) == 0 {
				continue // all were dropped
			}
			r.kept += len(r.batch.Grades)
			if err := visit(&r.batch); err != nil {
				return err
			}
		}
	}
	return nil
}

// observe tells how much was read: half of all in a survey.
func (r *reader) observe() {
	if r.opts.Observe == nil {
		return
	}
	done := int64(float64(r.row) / float64(r.rows()) * float64(r.in.Size))
	if r.columns > 0 {
		done += r.in.Size
	}
	r.opts.Observe(done, 2*r.in.Size)
}

// open begins a row group.
func (r *reader) open(g parquet.RowGroup) (err error) {
	defer guard(r.in.Name, &err)
	r.left = g.NumRows()
	chunks := g.ColumnChunks()
	for _, c := range r.cursors {
		c.open(chunks[c.column.index])
	}
	return nil
}

// fill makes a batch of the next rows.
func (r *reader) fill() (err error) {
	defer guard(r.in.Name, &err)
	n := int(min(int64(r.most), r.left))
	b := &r.batch
	b.Runs, b.Grades, b.DocText, b.DocEnd = b.Runs[:0], b.Grades[:0], b.DocText[:0], b.DocEnd[:0]
	keep, err := r.grades(n)
	if err != nil {
		return err
	}
	if err := r.identify(n, keep); err != nil {
		return err
	}
	if r.columns > 0 {
		if err := r.features(n); err != nil {
			return err
		}
		b.X = r.x[:n*r.columns]
		if keep != nil {
			b.X = r.x[:compact(r.x, r.columns, keep)]
		}
	}
	r.row += int64(n)
	r.left -= int64(n)
	return nil
}

// compact moves the rows to keep to the beginning, and returns the number of their values.
func compact(x []float32, width int, keep []bool) int {
	n := 0
	for i, k := range keep {
		if k {
			n += copy(x[n:n+width], x[i*width:(i+1)*width])
		}
	}
	return n
}

// grades reads the grades of n rows; keep, if not nil, says which rows are not to be dropped.
func (r *reader) grades(n int) (keep []bool, err error) {
	if r.columns == 0 && r.opts.Negative == dataset.NegativeError {
		r.batch.Grades = append(r.batch.Grades, make([]float64, n)...)
		return nil, nil // a survey, of which they change nothing
	}
	for i := range n {
		v := 0.0
		if r.grade != nil {
			if v, err = r.grade.number(); err != nil {
				return nil, r.at(r.grade, i, err)
			}
		}
		drop := false
		switch {
		case v < 0 && v >= -math.MaxFloat64 && r.opts.Negative != dataset.NegativeError:
			r.negative++
			drop, v = r.opts.Negative == dataset.NegativeDrop, 0
		case v != v:
			return nil, r.badRow(r.grade, i, "no grade", "a grade, a finite non-negative number")
		case !(v >= 0 && v <= math.MaxFloat64):
			return nil, r.badRow(r.grade, i, fmt.Sprint(v), "a grade, a finite non-negative number"+ingest.NegativeHint)
		}
		if drop && keep == nil {
			keep = make([]bool, n)
			for k := range i {
				keep[k] = true
			}
		}
		if keep != nil {
			keep[i] = !drop
		}
		if !drop {
			r.batch.Grades = append(r.batch.Grades, v+0)
		}
	}
	return keep, nil
}

// features reads the features of n rows.
func (r *reader) features(n int) error {
	if len(r.oneHot) > 0 {
		clear(r.x)
	}
	for from := 0; from < n; from += blockRows {
		rows := min(blockRows, n-from)
		x := r.x[from*r.columns : (from+rows)*r.columns]
		for k := range r.numbers {
			if err := r.block(&r.numbers[k], x, from, rows); err != nil {
				return err
			}
		}
	}
	for _, c := range r.oneHot {
		for i := range n {
			text, ok, err := c.text()
			if err != nil {
				return r.at(c.cursor, i, err)
			}
			if !ok {
				continue
			}
			if k, known := c.column.Values[string(text)]; known {
				r.x[i*r.columns+k] = 1
			} else if _, kind := table.Parse(text); kind != table.Missing {
				r.choice.Unknown()
			}
		}
	}
	return nil
}

// block reads columns of numbers of some rows, which begin at a row of the batch, into x.
func (r *reader) block(c *numbers, x []float32, from, rows int) (err error) {
	for k, cursor := range c.cursors {
		if c.values[k], err = cursor.floats(c.blocks[k][:rows]); err != nil {
			return r.at(cursor, from, err)
		}
		if !cursor.holes || r.opts.Missing != dataset.MissingError {
			continue
		}
		for i, v := range c.values[k] {
			if v != v {
				return r.badRow(cursor, from+i, "nothing", "a number (or --missing zero, min or keep, which says what missing values become)")
			}
		}
	}
	transpose(x, r.columns, c.first, c.values, rows)
	return nil
}

// name is that of a cursor's column.
func (r *reader) name(c *cursor) string { return c.column.name }

// at returns an error about the pages of a column, at about a row of the batch.
func (r *reader) at(c *cursor, row int, err error) error {
	what := fmt.Sprintf("column %s, about row %d: %v", r.name(c), r.row+int64(row)+1, err)
	if text := err.Error(); strings.HasPrefix(text, "found the value") { // no damage
		found, expected, _ := strings.Cut(strings.TrimPrefix(text, "found "), ", expected ")
		return r.bad(fmt.Sprintf("%s in column %s, about row %d", found, r.name(c), r.row+int64(row)+1), expected)
	}
	return damaged(r.in.Name, errors.New(what))
}

// badRow returns an error about a value of a row of the batch.
func (r *reader) badRow(c *cursor, row int, found, expected string) error {
	return r.bad(fmt.Sprintf("%s in column %s of row %d", found, r.name(c), r.row+int64(row)+1), expected)
}
