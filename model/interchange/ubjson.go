package interchange

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// maxUBJSONDepth is the largest nesting depth of objects and lists.
const maxUBJSONDepth = 100

// ubjson converts Universal Binary JSON (ubjson.org, draft 12) to JSON. Numbers are written with
// all digits of their type. It returns an error for a typed list of values that take no bytes, such
// as null. So the JSON text is at most a few times as long as the file.
type ubjson struct {
	data  []byte
	at    int
	out   []byte
	depth int
}

// fromUBJSON returns the JSON text of a UBJSON file.
func fromUBJSON(data []byte) ([]byte, error) {
	u := ubjson{data: data}
	err := u.part('[', 0)
	if err == nil && u.at < len(data) {
		err = fmt.Errorf("found %d bytes behind the end", len(data)-u.at)
	}
	if err != nil {
		return nil, fmt.Errorf("UBJSON, at byte %d: %w", u.at, err)
	}
	return u.out, nil
}

var errUBJSONEnd = errors.New("found the end of the file, expected more")

// take returns the next n bytes.
func (u *ubjson) take(n int) ([]byte, error) {
	if n < 0 || n > len(u.data)-u.at {
		return nil, errUBJSONEnd
	}
	u.at += n
	return u.data[u.at-n : u.at], nil
}

// kind returns the type marker of the next value.
func (u *ubjson) kind() (_ byte, err error) {
	defer catch(&err)
	for {
		b := must(u.take(1))
		if b[0] != 'N' { // no operation
			return b[0], nil
		}
	}
}

// value appends the next value, which has the given type.
func (u *ubjson) value(kind byte) (err error) {
	defer catch(&err)
	switch kind {
	case 'Z':
		u.out = append(u.out, "null"...)
	case 'T':
		u.out = append(u.out, "true"...)
	case 'F':
		u.out = append(u.out, "false"...)
	case 'i', 'U', 'I', 'l', 'L':
		n := must(u.integer(kind))
		u.out = strconv.AppendInt(u.out, n, 10)
	case 'd', 'D':
		return u.real(kind)
	case 'C':
		b := must(u.take(1))
		u.out = append(u.out, strconv.Quote(string(rune(b[0]&0x7f)))...)
	case 'S':
		text := must(u.text())
		u.quote(text)
	case '[', '{':
		if u.depth++; u.depth > maxUBJSONDepth {
			return fmt.Errorf("found more than %d levels of objects and lists", maxUBJSONDepth)
		}
		defer func() { u.depth-- }()
		return u.parts(kind)
	default:
		return fmt.Errorf("found the type %q, expected one of ZTFiUIlLdDCS[{", kind)
	}
	return nil
}

// integer reads a whole number of the given type.
func (u *ubjson) integer(kind byte) (_ int64, err error) {
	defer catch(&err)
	size, ok := map[byte]int{'i': 1, 'U': 1, 'I': 2, 'l': 4, 'L': 8}[kind]
	if !ok {
		return 0, fmt.Errorf("found the type %q, expected a whole number", kind)
	}
	b := must(u.take(size))
	switch kind {
	case 'i':
		return int64(int8(b[0])), nil //nolint:gosec // its bits
	case 'U':
		return int64(b[0]), nil
	case 'I':
		return int64(int16(binary.BigEndian.Uint16(b))), nil //nolint:gosec // its bits
	case 'l':
		return int64(int32(binary.BigEndian.Uint32(b))), nil //nolint:gosec // its bits
	}
	return int64(binary.BigEndian.Uint64(b)), nil //nolint:gosec // its bits
}

// real appends a number of the given type. Numbers that are not finite become the words in XGBoost's
// JSON.
func (u *ubjson) real(kind byte) (err error) {
	defer catch(&err)
	bits, size := 32, 4
	if kind == 'D' {
		bits, size = 64, 8
	}
	b := must(u.take(size))
	var x float64
	if bits == 32 {
		x = float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	} else {
		x = math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	u.out = appendReal(u.out, x, bits)
	return nil
}

// appendReal appends a number to JSON text, extended by Infinity, -Infinity and NaN.
func appendReal(out []byte, x float64, bits int) []byte {
	switch {
	case math.IsNaN(x):
		return append(out, "NaN"...)
	case math.IsInf(x, 1):
		return append(out, "Infinity"...)
	case math.IsInf(x, -1):
		return append(out, "-Infinity"...)
	}
	return strconv.AppendFloat(out, x, 'g', -1, bits)
}

// text reads a length and a UTF-8 text with this number of bytes.
func (u *ubjson) text() (_ []byte, err error) {
	defer catch(&err)
	n := must(u.length())
	b, err := u.take(n)
	if err == nil && !utf8.Valid(b) {
		err = errors.New("found a text that is not UTF-8")
	}
	return b, err
}

func (u *ubjson) length() (_ int, err error) {
	defer catch(&err)
	kind := must(u.kind())
	n, err := u.integer(kind)
	if err == nil && (n < 0 || n > int64(len(u.data))) {
		err = fmt.Errorf("found the length %d in a file of %d bytes", n, len(u.data))
	}
	return int(n), err
}

// quote appends a text as a JSON string.
func (u *ubjson) quote(text []byte) {
	u.out = append(u.out, '"')
	for _, b := range text {
		switch {
		case b == '"' || b == '\\':
			u.out = append(u.out, '\\', b)
		case b < ' ':
			u.out = fmt.Appendf(u.out, `\u%04x`, b)
		default:
			u.out = append(u.out, b)
		}
	}
	u.out = append(u.out, '"')
}

// container is the header of a list or an object.
type container struct {
	kind  byte // type of all values, or 0 if each value has its own
	count int  // number of values, or −1 if a bracket ends them
}

// header reads the header between a bracket and the first part.
func (u *ubjson) header() (_ container, err error) {
	defer catch(&err)
	c := container{count: -1}
	if u.at < len(u.data) && u.data[u.at] == '$' {
		u.at++
		b := must(u.take(1))
		if c.kind = b[0]; c.kind == 'Z' || c.kind == 'T' || c.kind == 'F' || c.kind == 'N' {
			return c, fmt.Errorf("found the type %q of all elements, expected one with a value", c.kind)
		}
		if u.at == len(u.data) || u.data[u.at] != '#' {
			return c, errors.New("found a type of all elements without their number")
		}
	}
	if u.at < len(u.data) && u.data[u.at] == '#' {
		u.at++
		n, err := u.length()
		c.count = n
		return c, err
	}
	return c, nil
}

// parts appends the parts of a list (open is '[') or of an object (open is '{').
func (u *ubjson) parts(open byte) (err error) {
	defer catch(&err)
	c := must(u.header())
	u.out = append(u.out, open)
	for i := 0; c.count < 0 || i < c.count; i++ {
		if c.count < 0 {
			if u.at == len(u.data) {
				return errUBJSONEnd
			}
			if u.data[u.at] == 'N' {
				u.at++
				i--
				continue
			}
			if u.data[u.at] == open+2 { // the closing bracket
				u.at++
				break
			}
		}
		u.out = separate(u.out, i)
		check(u.part(open, c.kind))
	}
	u.out = append(u.out, open+2)
	return nil
}

// part appends an element of a list or a key and its value in an object.
func (u *ubjson) part(open, kind byte) (err error) {
	defer catch(&err)
	if open == '{' {
		key := must(u.text())
		u.quote(key)
		u.out = append(u.out, ':')
	}
	if kind == 0 {
		kind = must(u.kind())
	}
	return u.value(kind)
}
