package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/table"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/suggest"
)

// The decoded numbers and the rows of a batch should stay in the processor's cache. So a batch has at most
// batchBytes of each, but at least batchRows rows.
const (
	batchBytes = 1 << 19
	batchRows  = 256
)

// reader combines the columns of a file to batches of rows.
type reader struct {
	*file

	in                  *input.Input // file or part that has the current row group
	columns             int          // number of features; 0 in a survey, which does not read features
	query, grade, doc   *cursor
	weight, queryWeight *cursor
	attributes          []attribute
	numbers             []number
	oneHot              []oneHot
	cursors             []*cursor // all cursors
	own                 decompressor

	spans [][]number // parts of numbers, one for each worker
	tools []decompressor
	fault []error // error of each span

	row      int64 // index of the next row, in the file or the part
	done     int64 // number of rows read, in all parts
	left     int64 // number of rows left in the row group
	*place         // of the current batch
	most     int   // largest number of documents in a batch
	kept     int
	negative int
	docBytes int            // in a survey, the length of the current run's document identifiers
	weights  ingest.Weights // collected by a survey
	texts    ingest.Attributes
}

// number is a column of a numeric feature.
type number struct {
	*cursor

	feature int
	room    []float32 // memory for the values of a batch
	values  []float32 // values of the batch, in room or in the page
}

// oneHot is a text column. Its values are features, or the categories of one feature.
type oneHot struct {
	*cursor

	column *table.Column
}

// reader returns a reader of all columns, for the given number of features. With 0 it returns a reader for a
// survey.
func (f *file) reader(columns int) *reader {
	r := &reader{file: f, in: f.in, columns: columns, own: decompressor{buffer: buffer{mem: f.in.Mem}}}
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
		case table.Weight:
			if columns == 0 || f.docWeights {
				r.weight = r.cursor(i)
			}
		case table.QueryWeight:
			if columns == 0 {
				r.queryWeight = r.cursor(i)
			}
		case table.Feature:
			if columns > 0 {
				r.numbers = append(r.numbers, number{cursor: r.cursor(i), feature: c.Feature})
			}
		case table.OneHot, table.Coded:
			if columns > 0 {
				r.oneHot = append(r.oneHot, oneHot{r.cursor(i), c})
			}
		case table.Skip:
		}
	}
	if columns == 0 {
		for _, i := range f.choice.Attributes {
			r.attributes = append(r.attributes, r.attribute(i))
		}
		r.most = 1 << 14
		return r
	}
	r.most = max(batchRows, min(stream.BatchDocs(columns), batchBytes/(4*columns))/batchRows*batchRows)
	r.divide()
	return r
}

// divide divides the columns of numeric features among workers.
func (r *reader) divide() {
	slices.SortFunc(r.numbers, func(a, b number) int { return cmp.Compare(a.feature, b.feature) })
	for k := range r.numbers {
		r.numbers[k].room = make([]float32, r.most)
	}
	workers := parallel.Workers(0, len(r.numbers)/columnsEach)
	for w := range workers {
		r.spans = append(r.spans, r.numbers[w*len(r.numbers)/workers:(w+1)*len(r.numbers)/workers])
		r.tools = append(r.tools, decompressor{buffer: buffer{mem: r.in.Mem}})
	}
	r.fault = make([]error, workers)
}

// columnsEach is the smallest number of columns for which another worker is started.
const columnsEach = 8

// cursor returns a new cursor of a column.
func (r *reader) cursor(field int) *cursor {
	c := &cursor{column: r.fields[field]}
	r.cursors = append(r.cursors, c)
	return c
}

// open begins a row group.
func (r *reader) open(g *group) (err error) {
	defer guard(g.in.Name, &err)
	r.in, r.row, r.left = g.in, g.row, g.NumRows
	for _, c := range r.cursors {
		if err := g.open(c); err != nil {
			return g.inColumn(c, err)
		}
	}
	return nil
}

// fill stores a batch of the next rows in p.
func (r *reader) fill(p *place) (err error) {
	defer guard(r.in.Name, &err)
	n := int(min(int64(r.most), r.left))
	r.place = p
	b := &r.batch
	b.Runs, b.Grades, b.DocText, b.DocEnd, b.Weights = b.Runs[:0], b.Grades[:0], b.DocText[:0], b.DocEnd[:0], b.Weights[:0]
	keep, err := r.grades(n)
	if err != nil {
		return err
	}
	if err := r.identify(n, keep); err != nil {
		return err
	}
	if err := r.weigh(n, keep); err != nil {
		return err
	}
	if err := r.attributesOf(n, keep); err != nil {
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
	r.done += int64(n)
	p.end = r.done
	return nil
}

// compact moves the rows for which keep is true to the beginning of x. It returns the number of their values.
func compact(x []float32, width int, keep []bool) int {
	n := 0
	for i, k := range keep {
		if k {
			n += copy(x[n:n+width], x[i*width:(i+1)*width])
		}
	}
	return n
}

// grades reads the grades of n rows. keep is nil, or tells which rows are not dropped.
func (r *reader) grades(n int) (keep []bool, err error) {
	if r.columns == 0 && r.opts.Negative == dataset.NegativeError {
		r.batch.Grades = append(r.batch.Grades, make([]float64, n)...)
		return nil, nil // a survey needs no grades
	}
	i, err := r.plainGrades(n)
	if err != nil {
		return nil, err
	}
	for ; i < n; i++ {
		v := 0.0
		if r.grade != nil {
			if v, err = r.grade.number(&r.own); err != nil {
				return nil, r.at(r.grade, i, err)
			}
		}
		drop := false
		switch {
		case v < 0 && v >= -math.MaxFloat64 && r.opts.Negative != dataset.NegativeError:
			r.negative++
			drop, v = r.opts.Negative == dataset.NegativeDrop, 0
		case v != v:
			return nil, r.badRow(r.grade, i, "no grade", numberOf[table.Grade])
		case !(v >= 0 && v <= math.MaxFloat64):
			return nil, r.badRow(r.grade, i, fmt.Sprint(v), numberOf[table.Grade]+ingest.NegativeHint)
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

// plainGrades reads grades as long as they are valid and need no conversion. It returns their number.
func (r *reader) plainGrades(n int) (done int, err error) {
	for r.grade != nil && done < n {
		grades, err := r.grade.doubles(n-done, &r.own)
		if err != nil {
			return 0, r.at(r.grade, done, err)
		}
		if grades == nil {
			break
		}
		for i, v := range grades {
			if !(v >= 0 && v <= math.MaxFloat64) {
				r.grade.back(len(grades) - i)
				return done + i, nil
			}
			r.batch.Grades = append(r.batch.Grades, v+0)
		}
		done += len(grades)
	}
	return done, nil
}

// features reads the features of n rows.
func (r *reader) features(n int) error {
	if len(r.numbers) < r.columns { // the remaining features are one-hot, or belong to other files
		clear(r.x[:n*r.columns])
	}
	workers := len(r.spans)
	if n < batchRows {
		workers = 1
	}
	parallel.For(len(r.spans), workers, func(_, i int) { r.fault[i] = r.span(r.spans[i], n, &r.tools[i]) })
	for _, err := range r.fault {
		if err != nil {
			return err
		}
	}
	for _, c := range r.oneHot {
		for i := range n {
			text, ok, err := c.text(&r.own)
			if err != nil {
				return r.at(c.cursor, i, err)
			}
			if c.column.Role == table.Coded {
				if r.x[i*r.columns+c.column.Feature], err = r.code(c, text, ok, i); err != nil {
					return err
				}
				continue
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

// code returns the code or number of a category, or NaN for a missing value. ok is false for NULL.
func (r *reader) code(c oneHot, text []byte, ok bool, row int) (float32, error) {
	if ok {
		if code, known := c.column.Categories.TextValue(text); known {
			return code, nil
		}
	}
	v, kind := table.Parse(text)
	switch {
	case kind == table.Number && c.column.CheckNumber(float32(v), text) == nil:
		return float32(v), nil
	case kind != table.Missing:
		return 0, r.badRow(c.cursor, row, suggest.Quote(text), c.column.Categories.Expected())
	case r.opts.Missing == dataset.MissingError:
		return 0, r.badRow(c.cursor, row, "nothing", "a category (or --missing zero, min or keep, which says what missing values become)")
	}
	return float32(math.NaN()), nil
}

// span reads n rows of some columns of numeric features to r.x.
func (r *reader) span(columns []number, n int, d *decompressor) error {
	for k := range columns {
		c := &columns[k]
		var err error
		if c.values, err = c.floats(c.room[:n], d); err != nil {
			return r.at(c.cursor, 0, err)
		}
		if !c.holes || r.opts.Missing != dataset.MissingError {
			continue
		}
		for i, v := range c.values {
			if v != v {
				return r.badRow(c.cursor, i, "nothing", "a number (or --missing zero, min or keep, which says what missing values become)")
			}
		}
	}
	transpose(r.x, r.columns, columns, n)
	return nil
}

// at returns an error about a column. row is the approximate row of the batch.
func (r *reader) at(c *cursor, row int, err error) error {
	place := fmt.Sprintf("column %s, about row %d", c.column.name, r.row+int64(row)+1)
	if f, ok := errors.AsType[*refusal](err); ok {
		return &dataset.SyntaxError{File: r.in.Name, Found: f.found + " in " + place, Expected: f.expected}
	}
	return damaged(r.in.Name, fmt.Errorf("%s: %w", place, err))
}

// badRow returns an error about the value of a column in a row of the batch.
func (r *reader) badRow(c *cursor, row int, found, expected string) error {
	return &dataset.SyntaxError{File: r.in.Name, Found: fmt.Sprintf("%s in column %s of row %d", found, c.column.name, r.row+int64(row)+1), Expected: expected}
}
