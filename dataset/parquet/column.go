package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// column is a column of a table whose values can be read.
type column struct {
	name     string
	index    int // among the columns of values
	level    int // the definition level of a value: 0 if none is null
	kind     parquet.Kind
	unsigned bool
	half     bool // float16

	textual bool // its numbers are wanted as text
	precise bool // its numbers are wanted as float64
}

// columnOf returns a column of a file, which its schema describes by e, or what it is that
// cannot be read.
func columnOf(c *parquet.Column, e *format.SchemaElement) (col *column, found string) {
	if !c.Leaf() || c.Repeated() || c.MaxRepetitionLevel() > 0 {
		return nil, "nested values"
	}
	col = &column{name: c.Name(), index: c.Index(), level: c.MaxDefinitionLevel(), kind: c.Type().Kind()}
	switch {
	case e.LogicalType.Value != nil:
		found = col.annotate(e.LogicalType.Value)
	case e.ConvertedType.Valid:
		found = col.annotateOld(e.ConvertedType.V)
	}
	if found == "" && (col.kind == parquet.Int96 || col.kind == parquet.FixedLenByteArray && !col.half) {
		found = "values of type " + c.Type().String()
	}
	return col, found
}

// elementsOf returns the elements of a schema that describe the columns of the table.
func elementsOf(schema []format.SchemaElement) []*format.SchemaElement {
	var top []*format.SchemaElement
	left := 0 // elements of the nested column at hand
	for i := 1; i < len(schema); i++ {
		if left == 0 {
			top = append(top, &schema[i])
			left = 1
		}
		left += int(schema[i].NumChildren.V) - 1
	}
	return top
}

// annotate takes in what a column's numbers or bytes stand for; found says what cannot be
// read.
func (c *column) annotate(t format.LogicalTypeValue) (found string) {
	switch t := t.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType, *format.NullType:
	case *format.IntType:
		c.unsigned = !t.IsSigned
	case *format.Float16Type:
		c.half = true
	default:
		return fmt.Sprintf("values of type %v", t)
	}
	return ""
}

// annotateOld is annotate for files of old writers.
func (c *column) annotateOld(t deprecated.ConvertedType) (found string) {
	switch t {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json, deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		c.unsigned = true
	default:
		return fmt.Sprintf("values of type %v", t)
	}
	return ""
}

// text reports whether the values are text.
func (c *column) text() bool { return c.kind == parquet.ByteArray }

// values returns those of a page that has no dictionary, as text or as float32: in buf, if
// they are no view of the page and there is room.
func (c *column) values(page parquet.Page, buf []float32) (v values, err error) {
	data := page.Data()
	if c.precise {
		return c.preciseValues(page)
	}
	switch c.kind {
	case parquet.ByteArray:
		v.data, v.offsets = data.ByteArray()
		v.n = max(0, len(v.offsets)-1)
		return v, v.check()
	case parquet.Boolean:
		return c.bools(data.Boolean(), int(page.NumValues()-page.NumNulls()), buf)
	case parquet.Int32:
		if c.unsigned {
			return whole(c, data.Uint32(), buf), nil
		}
		return whole(c, data.Int32(), buf), nil
	case parquet.Int64:
		if c.unsigned {
			return whole(c, data.Uint64(), buf), nil
		}
		return whole(c, data.Int64(), buf), nil
	case parquet.Float:
		return c.numbers(data.Float())
	case parquet.Double:
		return c.doubles(data.Double(), buf)
	case parquet.FixedLenByteArray:
		return c.halves(data.FixedLenByteArray())
	default:
		return v, fmt.Errorf("found values of kind %v", c.kind)
	}
}

// preciseValues returns numbers as float64.
func (c *column) preciseValues(page parquet.Page) (v values, err error) {
	data := page.Data()
	if c.kind == parquet.Double {
		v.doubles = append(v.doubles, data.Double()...)
		v.n = len(v.doubles)
		return v, nil
	}
	switch {
	case c.kind == parquet.Int32 && c.unsigned:
		v.doubles = asDoubles(data.Uint32())
	case c.kind == parquet.Int32:
		v.doubles = asDoubles(data.Int32())
	case c.kind == parquet.Int64 && c.unsigned:
		v.doubles = asDoubles(data.Uint64())
	case c.kind == parquet.Int64:
		v.doubles = asDoubles(data.Int64())
	default:
		other := *c
		other.precise = false
		if v, err = other.values(page, nil); err == nil {
			v.doubles = asDoubles(v.floats)
		}
	}
	v.n = len(v.doubles)
	return v, err
}

func asDoubles[T int32 | int64 | uint32 | uint64 | float32](numbers []T) []float64 {
	x := make([]float64, len(numbers))
	for i, n := range numbers {
		x[i] = float64(n)
	}
	return x
}

// check checks the offsets of text.
func (v *values) check() error {
	last := uint32(0)
	for _, o := range v.offsets {
		if o < last || int(o) > len(v.data) {
			return fmt.Errorf("found a text that ends at byte %d of %d", o, len(v.data))
		}
		last = o
	}
	v.ascii = v.n > 0
	for _, c := range v.data {
		v.ascii = v.ascii && c-' ' < 0x7f-' '
	}
	return nil
}

// whole returns whole numbers, as text if that is wanted.
func whole[T int32 | int64 | uint32 | uint64](c *column, numbers []T, buf []float32) values {
	if c.textual {
		return asText(numbers, !c.unsigned)
	}
	x := room(buf, len(numbers))
	for i, n := range numbers {
		x[i] = float32(n)
	}
	return values{n: len(x), floats: x}
}

// bools returns 0 for false and 1 for true, of n bits.
func (c *column) bools(bits []byte, n int, buf []float32) (values, error) {
	if n < 0 || n > 8*len(bits) {
		return values{}, errFew
	}
	x := room(buf, n)
	for i := range x {
		x[i] = float32(bits[i/8] >> (i % 8) & 1)
	}
	return c.numbers(x)
}

// doubles returns numbers that lie within the range of float32.
func (c *column) doubles(numbers []float64, buf []float32) (values, error) {
	x := room(buf, len(numbers))
	for i, n := range numbers {
		x[i] = float32(n)
	}
	if finite(x) {
		return values{n: len(x), floats: x}, nil
	}
	for i, v := range x {
		if math.IsInf(float64(v), 0) {
			return values{}, c.infinite(numbers[i])
		}
	}
	return values{n: len(x), floats: x, nan: true}, nil
}

// infinite is the error about a number that is not finite as a float32.
func (c *column) infinite(n float64) error {
	return fmt.Errorf("found the value %v, expected one within the range of float32, ±3.4e38", n)
}

// numbers returns float32, which must be finite or missing, as they are.
func (c *column) numbers(x []float32) (values, error) {
	v := values{n: len(x), floats: x}
	if finite(x) {
		return v, nil
	}
	v.nan = true
	for _, f := range x {
		if math.IsInf(float64(f), 0) {
			return values{}, c.infinite(float64(f))
		}
	}
	return v, nil
}

// halves returns float16.
func (c *column) halves(data []byte, size int) (values, error) {
	if size != 2 {
		return values{}, fmt.Errorf("found values of %d bytes, expected 2", size)
	}
	x := make([]float32, len(data)/2)
	for i := range x {
		x[i] = half(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return c.numbers(x)
}

// half returns the number whose float16 has these bits.
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
