package parquet

import (
	"fmt"
	"github.com/listwise/listwise/dataset/memory"
	"math"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/internal/block"
)

// cursor reads the values of one column of a row group, page by page. Features are decoded some rows at a time
// from the bytes of the page. Identifiers, grades and weights are decoded a page at a time.
type cursor struct {
	column *column
	pages  pages
	buffer buffer // bytes of the current page

	page      *page
	row, rows int    // next row of the page, and number of rows
	at        int    // index of the page's next value
	levels    runs   // definition levels, not yet decoded
	coded     bool   // the page has indices of values in the dictionary
	places    runs   // these indices, not yet decoded
	plain     []byte // plain values otherwise

	present []byte   // for each row of the page, 1 if it has a value; nil if all have; of whole pages
	index   []uint32 // indices of a whole page in the dictionary, if coded
	values  values   // values of a whole page otherwise
	known   values   // values of the dictionary
	counted int64    // memory of the dictionary

	holes bool // some page so far had missing values

	levelRoom [windowRows]byte
	placeRoom [windowRows]uint32
}

// windowRows is the largest number of rows that are decoded at a time.
const windowRows = 512

var nan = float32(math.NaN())

// whole reports whether the column is decoded a page at a time.
func (c *cursor) whole() bool { return c.column.text() || c.column.textual || c.column.precise }

// open begins a row group. m has the metadata of the column in it.
func (c *cursor) open(in *input.Input, m *format.ColumnMetaData, rows int64) error {
	c.pages = pages{r: in.R, nullable: c.column.nullable}
	c.buffer.mem = in.Mem
	c.forget()
	c.page, c.row, c.rows = nil, 0, 0
	if m.Type != c.column.kind {
		return fmt.Errorf("found values of type %v, expected %v, as the schema says", m.Type, c.column.kind)
	}
	return c.pages.open(m, rows, in.Size)
}

// close releases the memory of the cursor.
func (c *cursor) close() {
	if c.buffer.mem != nil {
		c.forget()
		c.buffer.release()
	}
}

// fill reads pages until the current page has a row left.
func (c *cursor) fill(d *decompressor) error {
	for c.row == c.rows {
		g, err := c.pages.next(d, &c.buffer)
		if err != nil {
			return err
		}
		if g.dictionary {
			err = c.learn(g)
		} else {
			err = c.take(g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plainDictionary is the encoding of dictionaries and of indices in files of version 1.
const plainDictionary format.Encoding = 2

// learn decodes a dictionary page.
func (c *cursor) learn(g *page) (err error) {
	if g.encoding != format.Plain && g.encoding != plainDictionary {
		return &refusal{"an unsupported dictionary encoded as " + g.encoding.String(), "PLAIN"}
	}
	if !c.column.text() && !c.column.holds(g.text, g.rows) {
		return errFew
	}
	c.forget()
	c.counted = 20*int64(g.rows) + int64(len(g.text))
	if err := c.buffer.mem.Take(c.counted, "a dictionary"); err != nil {
		return err
	}
	text := g.text
	if c.column.text() { // texts become views of their bytes, and the buffer is reused
		text = append([]byte(nil), g.text...)
	}
	c.known, err = c.column.decode(text, g.rows)
	c.holes = c.holes || c.known.nan
	return err
}

// forget releases the memory of the dictionary.
func (c *cursor) forget() {
	c.buffer.mem.Give(c.counted)
	c.known, c.counted = values{}, 0
}

// need returns an error if n more bytes exceed the memory limit.
func (p *pages) need(n int64, mem *memory.Account) error {
	err := mem.Take(n, "a page's values")
	mem.Give(n)
	return err
}

// take makes g the current page.
func (c *cursor) take(g *page) (err error) {
	c.page, c.row, c.rows, c.at = g, 0, g.rows, 0
	c.present, c.plain, c.coded = nil, nil, false
	c.levels.begin(g.levels, 1)
	switch g.encoding {
	case format.RLEDictionary, plainDictionary:
		c.coded = true
		if len(g.text) == 0 {
			g.text = []byte{0}
		}
		if g.text[0] > 32 {
			return fmt.Errorf("found places of %d bits", g.text[0])
		}
		c.places.begin(g.text[1:], uint(g.text[0]))
	case format.Plain:
		c.plain = g.text
	default:
		if err := c.other(g); err != nil {
			return err
		}
	}
	if c.whole() {
		return c.takeWhole(g)
	}
	return nil
}

// other decodes a page whose encoding is neither plain nor a dictionary.
func (c *cursor) other(g *page) (err error) {
	if err := c.pages.need(24*int64(g.rows), c.buffer.mem); err != nil {
		return err
	}
	kind, numbers := c.column.kind, c.column.width()
	switch {
	case g.encoding == format.RLE && kind == format.Boolean:
		c.plain, err = plainBits(g.text, g.rows)
	case g.encoding == format.DeltaBinaryPacked && (kind == format.Int32 || kind == format.Int64):
		c.plain, err = plainDifferences(g.text, g.rows, numbers)
	case g.encoding == format.DeltaLengthByteArray && kind == format.ByteArray, g.encoding == format.DeltaByteArray && (kind == format.ByteArray || kind == format.FixedLenByteArray):
		room := func(n int64) error { return c.pages.need(n, c.buffer.mem) }
		c.values, err = differenceTexts(g.text, g.rows, g.encoding == format.DeltaByteArray, room)
		c.values.settle()
		if err == nil && kind == format.FixedLenByteArray {
			c.plain, err = c.values.fixed(numbers)
		}
	case g.encoding == format.ByteStreamSplit && numbers > 0:
		c.plain = joinStreams(g.text, numbers)
	default:
		err = &refusal{fmt.Sprintf("unsupported values of type %v encoded as %v", kind, g.encoding), "plain ones, a dictionary, differences or split streams"}
	}
	return err
}

// outside returns the error about an index beyond the dictionary.
func outside(place uint32, n int) error {
	return fmt.Errorf("found the place %d in a dictionary of %d values", place, n)
}

// floats returns the numbers of the next len(buf) rows, NaN for null. The result is buf or a view of the page.
// It is valid until the next call.
func (c *cursor) floats(buf []float32, d *decompressor) ([]float32, error) {
	for rest := buf; len(rest) > 0; {
		if err := c.fill(d); err != nil {
			return nil, err
		}
		if len(rest) == len(buf) {
			if x, err := c.view(len(buf)); x != nil || err != nil {
				return x, err
			}
		}
		n := min(len(rest), c.rows-c.row, windowRows)
		if err := c.window(rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
		if err := c.pass(n); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// view returns the numbers of the next n rows as a view of the page. It returns nil if the page does not store
// them as float32 without nulls.
func (c *cursor) view(n int) ([]float32, error) {
	if c.column.kind != format.Float || c.column.missing != nil || c.coded || c.row+n > c.rows || c.page.levels != nil && !c.levels.skipOnes(n) {
		return nil, nil
	}
	if !c.column.holds(c.plain, c.at+n) {
		return nil, errFew
	}
	x := block.Float32s(c.plain[4*c.at:][:4*n])
	none, err := c.column.check(x, nil)
	c.at += n
	c.holes = c.holes || none
	if err != nil {
		return nil, err
	}
	return x, c.pass(n)
}

// pass advances by n rows. It returns an error if too many values follow the last row of a page.
func (c *cursor) pass(n int) error {
	if c.row += n; c.row == c.rows && !c.coded {
		return c.column.exact(c.plain, c.at)
	}
	return nil
}

// window does the work of floats for rows of the current page.
func (c *cursor) window(buf []float32) error {
	n := len(buf)
	if c.page.levels == nil {
		return c.numbers(buf)
	}
	levels := c.levelRoom[:n]
	ones, err := c.levels.levels(levels)
	switch {
	case err != nil:
		return err
	case ones == n:
		return c.numbers(buf)
	case ones == 0:
		for i := range buf {
			buf[i] = nan
		}
	default:
		if err := c.numbers(buf[:ones]); err != nil {
			return err
		}
		spread(buf, levels, ones)
	}
	c.holes = true
	return nil
}

// spread moves the first numbers of buf to the indices whose level is 1, and writes NaN to the others. numbers
// is the number of levels that are 1. The loop has no branches, because they would be unpredictable.
func spread(buf []float32, levels []byte, numbers int) {
	null := math.Float32bits(nan)
	k := numbers
	for i := len(levels) - 1; i >= 0; i-- {
		level := uint32(levels[i])
		k -= int(level)
		v := math.Float32bits(buf[k])
		buf[i] = math.Float32frombits(v&-level | null&^-level)
	}
}

// numbers writes the next values of the page to buf.
func (c *cursor) numbers(buf []float32) error {
	n := len(buf)
	if c.coded {
		places, known := c.placeRoom[:n], c.known.floats
		if err := c.places.take(places); err != nil {
			return err
		}
		for i, k := range places {
			if uint(k) >= uint(len(known)) {
				return outside(k, len(known))
			}
			buf[i] = known[k]
		}
		return nil
	}
	none, err := c.column.floats(buf, c.plain, c.at)
	c.at += n
	c.holes = c.holes || none
	return err
}

// bytesOf returns a view of numbers as bytes.
func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
