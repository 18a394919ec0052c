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

// cursor goes through the values of one column of a row group, page by page. Features are decoded
// some rows at a time, out of the page's bytes; identifiers, grades and weights page by page.
type cursor struct {
	column *column
	pages  pages
	buffer buffer // for a page

	page      *page
	row, rows int    // of the page
	at        int    // the next of its values
	levels    runs   // of features
	coded     bool   // values are places in the dictionary
	places    runs   // of features
	plain     []byte // the values otherwise

	present []byte   // of all rows of the page: 1 if there is a value; nil if there is one in each
	index   []uint32 // all of the page's places in the dictionary, if it is coded
	values  values   // else its values
	known   values   // the dictionary's
	counted int64    // what it takes

	holes bool // a page so far had missing values

	levelRoom [windowRows]byte
	placeRoom [windowRows]uint32
}

// windowRows is the most rows that are decoded at a time.
const windowRows = 512

var nan = float32(math.NaN())

// whole reports whether pages are decoded whole.
func (c *cursor) whole() bool { return c.column.text() || c.column.textual || c.column.precise }

// open begins a row group.
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

// close releases what the cursor holds.
func (c *cursor) close() {
	if c.buffer.mem != nil {
		c.forget()
		c.buffer.release()
	}
}

// fill makes sure that the page has a row left.
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

// plainDictionary is what files of version 1 call dictionaries, and places in them.
const plainDictionary format.Encoding = 2

// learn takes in a dictionary.
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
	if c.column.text() { // which stays where it is
		text = append([]byte(nil), g.text...)
	}
	c.known, err = c.column.decode(text, g.rows)
	c.holes = c.holes || c.known.nan
	return err
}

// forget gives the dictionary's memory back.
func (c *cursor) forget() {
	c.buffer.mem.Give(c.counted)
	c.known, c.counted = values{}, 0
}

// need returns an error if n more bytes are too many.
func (p *pages) need(n int64, mem *memory.Account) error {
	err := mem.Take(n, "a page's values")
	mem.Give(n)
	return err
}

// take makes a page the current one.
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

// other decodes a page that is neither plain nor has places in a dictionary.
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

// outside is the error about a place that a dictionary lacks.
func outside(place uint32, n int) error {
	return fmt.Errorf("found the place %d in a dictionary of %d values", place, n)
}

// floats returns the numbers of the next rows, NaN where one is null: in buf, or where the page has
// them, until the next call.
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

// view returns the numbers of the next rows where the page has them, nil unless they are there as they
// are wanted.
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

// pass advances by n rows.
func (c *cursor) pass(n int) error {
	if c.row += n; c.row == c.rows && !c.coded {
		return c.column.exact(c.plain, c.at)
	}
	return nil
}

// window is floats for rows of the page.
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

// spread moves the numbers that stand first to the places whose level is 1, and writes NaN to the
// others. It has no branches, which could not be predicted.
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

// numbers writes the next values of the page.
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

// bytesOf is a view of numbers as bytes.
func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
