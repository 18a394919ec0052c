package parquet

import (
	"fmt"
	"github.com/listwise/listwise/dataset/memory"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset/internal/table"
)

// attribute is a column of attributes of queries. The table may also use the column in another way.
type attribute struct {
	*cursor

	last []byte // text of the row before
	text string
}

// attribute returns the attribute of a column, with a cursor of its own.
func (r *reader) attribute(field int) attribute {
	own := *r.fields[field]
	own.precise = own.rational() || own.kind == format.Boolean
	own.textual = !own.precise && !own.text()
	c := &cursor{column: &own}
	r.cursors = append(r.cursors, c)
	return attribute{cursor: c}
}

// attributesOf reads the attributes of n rows. keep is nil, or tells which rows are not dropped.
func (r *reader) attributesOf(n int, keep []bool) error {
	if len(r.attributes) == 0 {
		return nil
	}
	names, values := r.opts.Table.Attributes, make([]string, len(r.attributes))
	run, docs := 0, 0 // current run, and number of its documents that were read
	changed := false  // values differ from those of the last row that was compared
	for i := range n {
		for k := range r.attributes {
			text, err := r.attributes[k].value(&r.own)
			if err != nil {
				return r.at(r.attributes[k].cursor, i, err)
			}
			changed = changed || text != values[k]
			values[k] = text
		}
		if keep != nil && !keep[i] {
			continue
		}
		if docs == r.batch.Runs[run].Docs {
			run, docs = run+1, 0
		}
		if docs++; docs > 1 && !changed {
			continue
		}
		changed = false
		known := r.texts.Queries()
		if err := r.texts.Query(r.batch.Runs[run].ID, names, slices.Clone(values), 0); err != nil {
			err.Found += fmt.Sprintf(" in row %d", r.row+int64(i)+1)
			return named(r.in.Name, err)
		}
		if r.texts.Queries() > known {
			if err := r.in.Mem.Take(memory.KnownBytes+int64(16*len(values)), "attributes of queries"); err != nil {
				return err
			}
		}
	}
	return nil
}

// value returns the attribute of the next row, or "".
func (a *attribute) value(d *decompressor) (string, error) {
	c := a.column
	if c.precise {
		v, err := a.number(d)
		switch {
		case err != nil || v != v:
			return "", err
		case c.kind == format.Boolean:
			return strconv.FormatBool(v != 0), nil
		}
		bits := 64
		if c.kind == format.Float || c.half {
			bits = 32
		}
		return strconv.FormatFloat(v, 'f', -1, bits), nil
	}
	text, ok, err := a.cursor.text(d)
	if err != nil || !ok {
		return "", err
	}
	if a.last == nil || string(text) != string(a.last) {
		value, err := table.AttributeOf(c.name, text)
		if err != nil {
			return "", err
		}
		a.last, a.text = append(a.last[:0], text...), string(value)
	}
	return a.text, nil
}
