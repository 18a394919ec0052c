package parquet

import (
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// Identifiers, grades and weights are decoded a page at a time. The methods below return them by rows.

// takeWhole decodes all values of page g.
func (c *cursor) takeWhole(g *page) (err error) {
	if err := c.pages.need(13*int64(g.rows), c.buffer.mem); err != nil {
		return err
	}
	n := g.rows
	if g.levels != nil {
		c.present = make([]byte, n)
		if n, err = c.levels.levels(c.present); err != nil {
			return err
		}
		switch n {
		case g.rows:
			c.present = nil
		case 0:
			clear(c.present)
		}
		c.holes = c.holes || c.present != nil
	}
	switch {
	case c.coded:
		c.index = make([]uint32, n)
		if err := c.places.take(c.index); err != nil {
			return err
		}
		for _, i := range c.index {
			if uint(i) >= uint(c.known.n) {
				return outside(i, c.known.n)
			}
		}
		return nil
	case !c.column.text() || g.encoding == format.Plain:
		if c.values, err = c.column.decode(c.plain, n); err == nil {
			err = c.column.exact(c.plain, n)
		}
	}
	if err == nil && c.values.n < n {
		err = errFew
	}
	return err
}

// number returns the number of the next row, or NaN if the row has none. The column must be decoded as
// float64.
func (c *cursor) number(d *decompressor) (float64, error) {
	i, from, err := c.next(d)
	if err != nil || from == nil {
		return math.NaN(), err
	}
	return from.doubles[i], nil
}

// doubles returns the numbers of one or more of the next rows. most is the largest number of rows. It returns
// nil if the caller must use number instead. The column must be decoded as float64.
func (c *cursor) doubles(most int, d *decompressor) ([]float64, error) {
	if err := c.fill(d); err != nil || c.present != nil || c.coded {
		return nil, err
	}
	n := min(most, c.rows-c.row)
	c.at, c.row = c.at+n, c.row+n
	return c.values.doubles[c.at-n : c.at], nil
}

// back goes back by the given number of rows, which doubles has returned.
func (c *cursor) back(rows int) { c.row, c.at = c.row-rows, c.at-rows }

// text returns the text of the next row. It is valid until the next call. ok is false if the row has none.
func (c *cursor) text(d *decompressor) (text []byte, ok bool, err error) {
	i, from, err := c.next(d)
	if err != nil || from == nil {
		return nil, false, err
	}
	return from.text(i), true, nil
}

// texts returns the text of the next row, or nil if the row has none. rows is the number of next rows with
// this text, between 1 and most. Further rows may have the same text.
func (c *cursor) texts(most int, d *decompressor) (text []byte, rows int, err error) {
	text, _, err = c.text(d)
	rows = 1
	if err != nil || c.present != nil || text == nil {
		return text, rows, err
	}
	most = min(most, c.rows-c.row+1)
	if c.coded {
		for rows < most && c.index[c.at] == c.index[c.at-1] {
			rows, c.at = rows+1, c.at+1
		}
	} else {
		for rows < most && string(c.values.text(c.at)) == string(text) {
			rows, c.at = rows+1, c.at+1
		}
	}
	c.row += rows - 1
	return text, rows, nil
}

// ascii returns the concatenated texts of one or more of the next rows. most is the largest number of rows.
// Text i ends at ends[i+1]-ends[0]. ascii returns nil if the caller must use text instead. The texts are ASCII
// without control characters.
func (c *cursor) ascii(most int, d *decompressor) (ends []uint32, text []byte, err error) {
	if err := c.fill(d); err != nil || c.present != nil || c.coded || !c.values.ascii {
		return nil, nil, err
	}
	n := min(most, c.rows-c.row)
	ends = c.values.offsets[c.at : c.at+n+1]
	c.at, c.row = c.at+n, c.row+n
	return ends, c.values.data[ends[0]:ends[n]], nil
}

// next returns the next row's value: its index, and the values that contain it. from is nil if the row has no
// value.
func (c *cursor) next(d *decompressor) (i int, from *values, err error) {
	if err := c.fill(d); err != nil {
		return 0, nil, err
	}
	c.row++
	if c.present != nil && c.present[c.row-1] == 0 {
		return 0, nil, nil
	}
	c.at++
	if c.coded {
		return int(c.index[c.at-1]), &c.known, nil
	}
	return c.at - 1, &c.values, nil
}
