package parquet

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset/internal/ingest"
)

// column is a column of a table whose values can be read.
type column struct {
	name     string
	index    int  // among the columns of values
	nullable bool // levels tell rows that have no value
	kind     format.Type
	size     int // bytes of a value of fixed length
	unsigned bool
	half     bool // float16
	uuid     bool
	decimal  bool // whole numbers that stand for decimal numbers
	scale    int  // digits of these behind the point

	watch   *ingest.Collector // notes the doubles of a feature, unless nil
	feature int               // its number

	missing *[]float64 // numbers of a feature that stand for missing values, unless nil

	textual bool // its numbers are wanted as text
	precise bool // its numbers are wanted as float64
}

var errSchema = errors.New("found a schema whose columns do not fit")

// columnsOf returns the columns of the table that a schema describes, or for each column the reason why it
// cannot be read. It also returns the number of columns of values, nested ones included.
func columnsOf(schema []format.SchemaElement) (columns []*column, found []string, leaves int, err error) {
	for i := 1; i < len(schema); {
		e := &schema[i]
		c := &column{name: e.Name, index: leaves}
		next, below, err := subtree(schema, i)
		if err != nil {
			return nil, nil, 0, err
		}
		columns, found = append(columns, c), append(found, c.describe(e))
		i, leaves = next, leaves+below
	}
	if len(schema) == 0 || int(schema[0].NumChildren.V) != len(columns) {
		return nil, nil, 0, errSchema
	}
	return columns, found, leaves, nil
}

// subtree returns where a column of a schema ends, and how many columns of values are in it.
func subtree(schema []format.SchemaElement, i int) (next, leaves int, err error) {
	for left := 1; left > 0; i++ {
		if i == len(schema) || schema[i].NumChildren.V < 0 {
			return 0, 0, errSchema
		}
		children := int(schema[i].NumChildren.V)
		if left += children - 1; children == 0 {
			leaves++
		}
	}
	return i, leaves, nil
}

// describe takes in what a schema says of a column; found says what cannot be read.
func (c *column) describe(e *format.SchemaElement) (found string) {
	if e.NumChildren.V > 0 || !e.Type.Valid || e.RepetitionType.V == format.Repeated {
		return "nested values"
	}
	c.nullable = e.RepetitionType.V == format.Optional
	c.kind, c.size = e.Type.V, int(e.TypeLength.V)
	switch {
	case e.LogicalType.Value != nil:
		found = c.annotate(e.LogicalType.Value)
	case e.ConvertedType.Valid:
		found = c.annotateOld(e)
	}
	fixed := c.kind == format.FixedLenByteArray
	switch {
	case found != "":
	case c.half && (!fixed || c.size != 2):
		found = fmt.Sprintf("numbers of type FLOAT16 in values of type %v", c.kind)
	case c.uuid && (!fixed || c.size != 16):
		found = fmt.Sprintf("values of type UUID in values of type %v", c.kind)
	case c.decimal && c.kind != format.Int32 && c.kind != format.Int64 && (!fixed || c.size < 1 || c.size > maxDecimal):
		found = fmt.Sprintf("numbers of type DECIMAL in values of type %v", c.kind)
	case c.decimal && (c.scale < 0 || c.scale > 3*maxDecimal):
		found = fmt.Sprintf("numbers of type DECIMAL with %d digits behind the point", c.scale)
	case c.half || c.uuid || c.decimal:
	case fixed:
		found = fmt.Sprintf("bytes of the fixed length %d", c.size)
	case c.kind == format.Int96:
		found = "values of type INT96 (timestamps)"
	case c.kind < 0 || c.kind > format.FixedLenByteArray:
		found = "values of type " + c.kind.String()
	}
	return found
}

// maxDecimal is the number of bytes of the largest decimal numbers, of 76 digits.
const maxDecimal = 32

// annotate sets the type that a column's numbers or bytes represent; found describes an unsupported type.
func (c *column) annotate(t format.LogicalTypeValue) (found string) {
	switch t := t.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType, *format.NullType:
	case *format.IntType:
		c.unsigned = !t.IsSigned
	case *format.Float16Type:
		c.half = true
	case *format.UUIDType:
		c.uuid = true
	case *format.DecimalType:
		c.decimal, c.scale = true, int(t.Scale)
	default:
		return fmt.Sprintf("values of type %v", t)
	}
	return ""
}

// annotateOld is annotate for files of old writers, and for intervals.
func (c *column) annotateOld(e *format.SchemaElement) (found string) {
	switch t := e.ConvertedType.V; t {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json, deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		c.unsigned = true
	case deprecated.Decimal:
		c.decimal, c.scale = true, int(e.Scale.V)
	default:
		if name, ok := oldTypes[t]; ok {
			return "values of type " + name
		}
		return fmt.Sprintf("values of the unknown type %d", t)
	}
	return ""
}

// oldTypes names the types of old writers that are not read.
var oldTypes = map[deprecated.ConvertedType]string{
	deprecated.Map: "MAP", deprecated.MapKeyValue: "MAP_KEY_VALUE", deprecated.List: "LIST", deprecated.Date: "DATE",
	deprecated.TimeMillis: "TIME_MILLIS", deprecated.TimeMicros: "TIME_MICROS",
	deprecated.TimestampMillis: "TIMESTAMP_MILLIS", deprecated.TimestampMicros: "TIMESTAMP_MICROS",
	deprecated.Bson: "BSON", deprecated.Interval: "INTERVAL",
}

// String names a column and its type.
func (c *column) String() string {
	s := c.name + " of type " + c.kind.String()
	switch {
	case c.decimal:
		s = fmt.Sprintf("%s (DECIMAL, %d digits behind the point)", s, c.scale)
	case c.unsigned:
		s += " (unsigned)"
	}
	if !c.nullable {
		s += " without nulls"
	}
	return s
}

// text reports whether the file stores the values as text.
func (c *column) text() bool { return c.kind == format.ByteArray }

// words reports whether the values are no numbers.
func (c *column) words() bool { return c.text() || c.uuid }

// rational reports whether the values are numbers of floating point.
func (c *column) rational() bool { return c.kind == format.Float || c.kind == format.Double || c.half }

// width returns the bytes of a value, 0 for text and for true and false, which take a bit.
func (c *column) width() int {
	switch c.kind {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.FixedLenByteArray:
		return c.size
	}
	return 0
}
