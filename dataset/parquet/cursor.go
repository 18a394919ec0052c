package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/listwise/listwise/internal/block"
)

// cursor goes through the values of one column of a row group, page by page.
type cursor struct {
	column *column
	pages  parquet.Pages

	page   parquet.Page
	levels []byte // of the page's rows: value or null; nil if there is a value in each
	values values // of the page, without nulls
	dict   parquet.Dictionary
	known  values // the dictionary's

	row, rows int // of the page
	at        int // the next of its values

	numbers []float32 // for values that are no view of the page
	holes   bool      // a page so far had missing values
}

// values are those of a page, or the indices of its values in a dictionary.
type values struct {
	n       int
	nan     bool    // some floats are NaN
	ascii   bool    // data are ASCII without control characters
	index   []int32 // in the dictionary; nil if there is none
	floats  []float32
	doubles []float64
	data    []byte   // of text
	offsets []uint32 // where each text begins, and the last ends
}

// open begins a row group.
func (c *cursor) open(chunk parquet.ColumnChunk) {
	c.close()
	c.pages = chunk.Pages()
	c.dict = nil
}

// close ends a row group.
func (c *cursor) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages != nil {
		_ = c.pages.Close() // it was only read
	}
	c.page, c.pages, c.row, c.rows = nil, nil, 0, 0
}

// errEnd is what a column that has fewer values than rows ends with.
var errEnd = errors.New("the column ends before its row group")

// fill makes sure that the page has a row left.
func (c *cursor) fill() error {
	for c.row == c.rows {
		if c.page != nil {
			parquet.Release(c.page)
			c.page = nil
		}
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return errEnd
		}
		if err != nil {
			return err
		}
		if err := c.take(page); err != nil {
			return err
		}
	}
	return nil
}

// take makes a page the current one.
func (c *cursor) take(page parquet.Page) (err error) {
	c.page, c.row, c.rows, c.at, c.levels = page, 0, int(page.NumRows()), 0, nil
	if page.NumNulls() > 0 {
		c.levels, c.holes = page.DefinitionLevels(), true
		if len(c.levels) != c.rows {
			return errFew
		}
	}
	dict := page.Dictionary()
	switch {
	case dict == nil:
		c.values, err = c.column.values(page, c.numbers)
		c.holes = c.holes || c.values.nan
		if c.column.kind != parquet.Float && c.values.floats != nil {
			c.numbers = c.values.floats // for the next page
		}
		return err
	case dict != c.dict:
		if c.known, err = c.column.values(dict.Page(), nil); err != nil {
			return err
		}
		c.dict, c.holes = dict, c.holes || c.known.nan
	}
	data := page.Data()
	c.values = values{index: data.Int32()}
	c.values.n = len(c.values.index)
	for _, i := range c.values.index {
		if uint(i) >= uint(c.known.n) {
			return fmt.Errorf("found the place %d in a dictionary of %d values", i, c.known.n)
		}
	}
	return nil
}

// errFew is what a page ends with that has fewer values than rows with one.
var errFew = errors.New("a page has fewer values than its header says")

var nan = float32(math.NaN())

// floats returns the numbers of the next rows, NaN where one is null; buf has room for them.
// They are valid until the next call.
func (c *cursor) floats(buf []float32) ([]float32, error) {
	for done := 0; done < len(buf); {
		if err := c.fill(); err != nil {
			return nil, err
		}
		n := min(len(buf)-done, c.rows-c.row)
		from := c.row
		c.row += n
		switch {
		case c.levels != nil:
			if err := c.sparse(buf[done:done+n], from); err != nil {
				return nil, err
			}
		case c.at+n > c.values.n:
			return nil, errFew
		case c.values.index != nil:
			known := c.known.floats
			for i, k := range c.values.index[c.at : c.at+n] {
				buf[done+i] = known[k]
			}
			c.at += n
		case n == len(buf):
			c.at += n
			return c.values.floats[c.at-n : c.at : c.at], nil
		default:
			c.at += copy(buf[done:done+n], c.values.floats[c.at:])
		}
		done += n
	}
	return buf, nil
}

// sparse is floats for rows of a page, from the given one on, of which some are null.
func (c *cursor) sparse(buf []float32, from int) error {
	value := byte(c.column.level)
	for i, level := range c.levels[from : from+len(buf)] {
		if level != value {
			buf[i] = nan
			continue
		}
		if c.at == c.values.n {
			return errFew
		}
		if c.values.index != nil {
			buf[i] = c.known.floats[c.values.index[c.at]]
		} else {
			buf[i] = c.values.floats[c.at]
		}
		c.at++
	}
	return nil
}

// number returns the number of the next row, NaN if it has none, of a column whose numbers are
// wanted as float64.
func (c *cursor) number() (float64, error) {
	i, from, err := c.next()
	if err != nil || from == nil {
		return math.NaN(), err
	}
	return from.doubles[i], nil
}

// text returns the text of the next row, which is valid until the next call, and whether it
// has one.
func (c *cursor) text() (text []byte, ok bool, err error) {
	i, from, err := c.next()
	if err != nil || from == nil {
		return nil, false, err
	}
	return from.text(i), true, nil
}

// texts returns the text of the next row, nil if it has none, and how many of the next rows
// have the same: at least one, at most so many, and perhaps not all that do.
func (c *cursor) texts(most int) (text []byte, rows int, err error) {
	text, _, err = c.text()
	rows = 1
	if err != nil || c.levels != nil || text == nil {
		return text, rows, err
	}
	most = min(most, c.rows-c.row+1)
	if c.at-1+most > c.values.n {
		return nil, 0, errFew
	}
	if index := c.values.index; index != nil {
		for rows < most && index[c.at] == index[c.at-1] {
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

// plain returns the text of some of the next rows, at most so many, one behind the other, and
// where each ends behind where the first begins; nil if they must be taken one by one. The
// text is ASCII without control characters.
func (c *cursor) plain(most int) (ends []uint32, text []byte, err error) {
	if err := c.fill(); err != nil || c.levels != nil || !c.values.ascii {
		return nil, nil, err
	}
	n := min(most, c.rows-c.row)
	if c.at+n > c.values.n {
		return nil, nil, errFew
	}
	ends = c.values.offsets[c.at : c.at+n+1]
	c.at, c.row = c.at+n, c.row+n
	return ends, c.values.data[ends[0]:ends[n]], nil
}

// next returns the place of the next row's value and where that is; nil if it has none.
func (c *cursor) next() (i int, from *values, err error) {
	if err := c.fill(); err != nil {
		return 0, nil, err
	}
	c.row++
	if c.levels != nil && c.levels[c.row-1] != byte(c.column.level) {
		return 0, nil, nil
	}
	if c.at == c.values.n {
		return 0, nil, errFew
	}
	c.at++
	if c.values.index != nil {
		return int(c.values.index[c.at-1]), &c.known, nil
	}
	return c.at - 1, &c.values, nil
}

// text returns a value as text.
func (v *values) text(i int) []byte { return v.data[v.offsets[i]:v.offsets[i+1]:v.offsets[i+1]] }

// bytesOf is a view of numbers as bytes.
func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// finite reports whether all values are finite.
func finite(x []float32) bool { return block.AllFinite(bytesOf(x)) }

// asText makes whole numbers text.
func asText[T int32 | int64 | uint32 | uint64](numbers []T, signed bool) (v values) {
	v.n, v.offsets = len(numbers), make([]uint32, 1, len(numbers)+1)
	for _, x := range numbers {
		if signed {
			v.data = strconv.AppendInt(v.data, int64(x), 10)
		} else {
			v.data = strconv.AppendUint(v.data, uint64(x), 10)
		}
		v.offsets = append(v.offsets, uint32(len(v.data)))
	}
	return v
}

// room returns a slice of n numbers, buf if it is large enough.
func room(buf []float32, n int) []float32 {
	if cap(buf) < n {
		return make([]float32, n)
	}
	return buf[:n]
}
