package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/internal/block"
)

const inRange = "one within the range of float32, ±3.4e38 (or --missing-value for one that stands for a missing value)"

// values are the values of a page or a dictionary, without nulls. They are floats, doubles or texts.
type values struct {
	n       int
	nan     bool // some floats are NaN
	ascii   bool // the texts are ASCII without control characters
	floats  []float32
	doubles []float64
	data    []byte   // concatenated texts
	offsets []uint32 // beginning of each text in data, and the end of the last
}

// text returns value i as text.
func (v *values) text(i int) []byte { return v.data[v.offsets[i]:v.offsets[i+1]:v.offsets[i+1]] }

// fixed returns the concatenated texts. It is an error if a text does not have the given length.
func (v *values) fixed(size int) ([]byte, error) {
	for i, end := range v.offsets {
		if int(end) != i*size {
			return nil, fmt.Errorf("found a value of another length than %d bytes", size)
		}
	}
	return v.data, nil
}

// errFew is the error for a page that has fewer values than rows that are not null.
var errFew = errors.New("found a page of fewer values than its header says")

// errMany is the error for a page that has more values than rows that are not null.
var errMany = errors.New("found a page of more values than its header says")

// exact returns an error if bytes other than zeros follow n plain values. Such a page may belong to another
// column. Some writers pad their pages with zeros.
func (c *column) exact(plain []byte, n int) error {
	if w := c.width(); w > 0 && !zeros(plain[n*w:]) {
		return errMany
	}
	return nil
}

// zeros reports whether all bytes are 0.
func zeros(text []byte) bool {
	return !slices.ContainsFunc(text, func(b byte) bool { return b != 0 })
}

// decode returns n plain values as the column needs them: as text, float64 or float32. It may overwrite plain,
// and the result may be a view of it.
func (c *column) decode(plain []byte, n int) (v values, err error) {
	v.n = n
	switch {
	case c.text():
		return splitTexts(plain, n)
	case c.textual:
		return c.texts(plain, n)
	case c.precise:
		v.doubles = make([]float64, n)
		return v, c.doubles(v.doubles, plain)
	}
	v.floats = make([]float32, n)
	v.nan, err = c.floats(v.floats, plain, 0)
	return v, err
}

// holds reports whether plain has at least n values.
func (c *column) holds(plain []byte, n int) bool {
	if w := c.width(); w > 0 {
		return n <= len(plain)/w
	}
	return n <= 8*len(plain)
}

// floats writes plain values to dst as float32, beginning with the value at index from. It reports whether a
// value is missing.
func (c *column) floats(dst []float32, plain []byte, from int) (missing bool, err error) {
	if !c.holds(plain, from+len(dst)) {
		return false, errFew
	}
	if c.decimal {
		if err := c.decimals(dst, plain, from); err != nil {
			return false, err
		}
		return c.standIns(dst, plain, from)
	}
	text := plain[c.width()*from:]
	switch c.kind {
	case format.Float:
		copy(bytesOf(dst), text)
	case format.Double:
		for i := range dst {
			exact := math.Float64frombits(binary.LittleEndian.Uint64(text[8*i:]))
			dst[i] = float32(exact)
			if exact == exact {
				c.watched(dst[i], exact)
			}
		}
	case format.Int32:
		for i := range dst {
			v := binary.LittleEndian.Uint32(text[4*i:])
			exact := float64(int32(v))
			if c.unsigned {
				exact = float64(v)
			}
			dst[i] = float32(exact)
			c.watched(dst[i], exact)
		}
		return c.standIns(dst, plain, from)
	case format.Int64:
		for i := range dst {
			v := binary.LittleEndian.Uint64(text[8*i:])
			exact := float64(int64(v))
			if dst[i] = float32(int64(v)); c.unsigned {
				dst[i], exact = float32(v), float64(v)
			}
			c.watched(dst[i], exact)
		}
		return c.standIns(dst, plain, from)
	case format.Boolean:
		for i := range dst {
			dst[i] = float32(plain[(from+i)/8] >> ((from + i) % 8) & 1)
		}
		return false, nil
	case format.FixedLenByteArray:
		for i := range dst {
			dst[i] = half(binary.LittleEndian.Uint16(text[2*i:]))
		}
	}
	stood, err := c.standIns(dst, plain, from)
	if err != nil {
		return false, err
	}
	none, err := c.check(dst, text)
	return none || stood, err
}

// standIns writes NaN for numbers that represent missing values, and reports whether there are any. It
// compares the values as the file stores them, because different values may become equal as float32.
func (c *column) standIns(dst []float32, plain []byte, from int) (found bool, err error) {
	if c.missing == nil {
		return false, nil
	}
	exact := make([]float64, len(dst))
	if err := c.doubles(exact, plain[c.width()*from:]); err != nil {
		return false, err
	}
	for i, v := range exact {
		if slices.Contains(*c.missing, v) {
			dst[i], found = nan, true
		}
	}
	return found, nil
}

// check returns an error if a number is infinite. Otherwise it reports whether a number is NaN. plain has the
// values as the file stores them.
func (c *column) check(x []float32, plain []byte) (nan bool, err error) {
	if block.AllFinite(bytesOf(x)) {
		return false, nil
	}
	for i, f := range x {
		if math.IsInf(float64(f), 0) {
			n := float64(f)
			if c.kind == format.Double {
				n = math.Float64frombits(binary.LittleEndian.Uint64(plain[8*i:]))
			}
			return true, &refusal{fmt.Sprintf("the value %v", n), inRange}
		}
	}
	return true, nil
}

// doubles writes plain values to dst as float64.
func (c *column) doubles(dst []float64, plain []byte) error {
	if !c.holds(plain, len(dst)) {
		return errFew
	}
	for i := range dst {
		if c.decimal {
			dst[i], _ = strconv.ParseFloat(string(c.appendDecimal(nil, plain, i)), 64) // cannot fail: at most 76 digits
			continue
		}
		switch c.kind {
		case format.Double:
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(plain[8*i:]))
		case format.Float:
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(plain[4*i:])))
		case format.Boolean:
			dst[i] = float64(plain[i/8] >> (i % 8) & 1)
		case format.FixedLenByteArray:
			dst[i] = float64(half(binary.LittleEndian.Uint16(plain[2*i:])))
		default:
			v, signed := c.whole(plain, i)
			if dst[i] = float64(int64(v)); !signed {
				dst[i] = float64(v)
			}
		}
	}
	return nil
}

// whole returns the bits of whole number i, and whether it is signed.
func (c *column) whole(plain []byte, i int) (v uint64, signed bool) {
	if c.kind == format.Int64 {
		return binary.LittleEndian.Uint64(plain[8*i:]), !c.unsigned
	}
	w := binary.LittleEndian.Uint32(plain[4*i:])
	if c.unsigned {
		return uint64(w), false
	}
	return uint64(int64(int32(w))), true
}

// decimals does the work of floats for decimal numbers. It rounds their text, as for a table of text.
func (c *column) decimals(dst []float32, plain []byte, from int) error {
	var room [4 * maxDecimal]byte
	for i := range dst {
		text := string(c.appendDecimal(room[:0], plain, from+i))
		v, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return &refusal{"the value " + text, inRange}
		}
		dst[i] = float32(v)
		if c.watch != nil {
			exact, _ := strconv.ParseFloat(text, 64) // cannot fail within the range of float32
			c.watched(dst[i], exact)
		}
	}
	return nil
}

// watched passes a number of a feature to c.watch, which finds merged values. v is the number as float32.
func (c *column) watched(v float32, exact float64) {
	if c.watch != nil && c.watch.Watches(c.feature, v) {
		c.watch.Watch(c.feature, v, exact)
	}
}

// appendDecimal appends decimal number i as text.
func (c *column) appendDecimal(b, plain []byte, i int) []byte {
	var digits []byte
	if c.kind == format.FixedLenByteArray {
		v := new(big.Int).SetBytes(plain[i*c.size:][:c.size])
		if plain[i*c.size]>>7 != 0 { // negative, in two's complement
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*c.size)))
		}
		digits = v.Append(nil, 10)
	} else {
		v, _ := c.whole(plain, i)
		digits = strconv.AppendInt(nil, int64(v), 10)
	}
	if digits[0] == '-' {
		b, digits = append(b, '-'), digits[1:]
	}
	if c.scale == 0 {
		return append(b, digits...)
	}
	for range c.scale + 1 - len(digits) {
		digits = append([]byte{'0'}, digits...)
	}
	point := len(digits) - c.scale
	return append(append(append(b, digits[:point]...), '.'), digits[point:]...)
}

// texts returns n plain values as text. Numbers have the form that they have in a table of text. NaN becomes
// "".
func (c *column) texts(plain []byte, n int) (v values, err error) {
	if !c.holds(plain, n) {
		return v, errFew
	}
	v.n, v.ascii, v.offsets = n, true, make([]uint32, 1, n+1)
	for i := range n {
		if v.data, err = c.appendText(v.data, plain, i); err != nil {
			return v, err
		}
		if len(v.data) > maxText {
			return v, errors.New("found numbers that take more than 4 GiB as text")
		}
		v.offsets = append(v.offsets, uint32(len(v.data)))
	}
	return v, nil
}

// appendText appends value i as text.
func (c *column) appendText(b, plain []byte, i int) ([]byte, error) {
	switch {
	case c.decimal:
		return c.appendDecimal(b, plain, i), nil
	case c.uuid:
		u := plain[16*i:][:16]
		return fmt.Appendf(b, "%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]), nil
	case c.rational():
		return c.appendRational(b, plain, i)
	}
	w, signed := c.whole(plain, i)
	if signed {
		return strconv.AppendInt(b, int64(w), 10), nil
	}
	return strconv.AppendUint(b, w, 10), nil
}

// appendRational appends floating-point number i as the shortest text of its value. It is an error if the type
// cannot represent all whole numbers of this magnitude.
func (c *column) appendRational(b, plain []byte, i int) ([]byte, error) {
	var v [1]float64
	if err := c.doubles(v[:], plain[i*c.width():]); err != nil || v[0] != v[0] {
		return b, err
	}
	bits, exact := 64, 53
	switch {
	case c.kind == format.Float:
		bits, exact = 32, 24
	case c.half:
		bits, exact = 32, 11
	}
	if !(math.Abs(v[0]) <= math.Ldexp(1, exact)) {
		return b, &refusal{fmt.Sprintf("the number %v of type %v", v[0], c.kind), fmt.Sprintf("text or whole numbers, for this type is exact up to 2^%d only", exact)}
	}
	return strconv.AppendFloat(b, v[0]+0, 'f', -1, bits), nil
}

// splitTexts returns at most n texts of plain, in which each text follows its length, 4 bytes. It overwrites
// plain, and the result is a view of it.
func splitTexts(plain []byte, n int) (v values, err error) {
	v.offsets = make([]uint32, 1, min(n, len(plain)/4)+1)
	at := 0
	for rest := plain; len(rest) > 0 && v.n < n; v.n++ {
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return v, errors.New("found a text that is longer than its page")
		}
		size := int(binary.LittleEndian.Uint32(rest))
		at += copy(plain[at:], rest[4:4+size])
		v.offsets = append(v.offsets, uint32(at))
		rest = rest[4+size:]
	}
	v.data = plain[:at]
	v.settle()
	return v, nil
}

// settle sets v.ascii.
func (v *values) settle() {
	v.ascii = v.n > 0 && plainASCII(v.data)
}

// plainASCII reports whether all bytes are ASCII without control characters.
func plainASCII(text []byte) bool {
	const high, ones = 0x8080808080808080, 0x0101010101010101
	bad := uint64(0)
	for ; len(text) >= 8; text = text[8:] {
		// In each byte, the high bit of low is 0 if the character is below a space, and the high bit of del
		// is 1 if the character is 0x7f. The high bit of w marks bytes beyond ASCII. No byte carries into
		// the next one.
		w := binary.LittleEndian.Uint64(text)
		low, del := (w|high)-' '*ones, (w&^high)+ones
		bad |= w | ^low | del
	}
	if bad&high != 0 {
		return false
	}
	for _, c := range text {
		if c-' ' >= 0x7f-' ' {
			return false
		}
	}
	return true
}

// half returns the number with these float16 bits.
func half(bits uint16) float32 {
	sign, exponent, fraction := float64(1), int(bits>>10&31), float64(bits&1023)
	if bits>>15 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return float32(sign * math.Ldexp(fraction, -24))
	case 31:
		if fraction != 0 {
			return nan
		}
		return float32(sign * math.Inf(1))
	}
	return float32(sign * math.Ldexp(1024+fraction, exponent-25))
}
