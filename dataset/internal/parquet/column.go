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
	index    int  // index among the leaves of the schema
	nullable bool // definition levels mark rows without a value
	kind     format.Type
	size     int // bytes of a value of fixed length
	unsigned bool
	half     bool // float16
	uuid     bool
	decimal  bool // whole numbers represent decimal numbers
	scale    int  // number of digits after the decimal point
	digits   int  // of a timestamp behind the second, which Cells reads; 0 for other types

	watch   *ingest.Collector // finds merged values of a feature; may be nil
	feature int               // index of the feature

	missing *[]float64 // numbers that represent missing values; may be nil

	textual bool // values are decoded as text
	precise bool // values are decoded as float64
}

var errSchema = errors.New("found a schema whose columns do not fit")

// columnsOf returns the columns of the table that a schema describes. For each column, found has the reason
// why it cannot be read, or "". leaves is the number of leaves of the schema, including those of nested
// columns.
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

// subtree returns the index after the column that begins at element i of the schema, and the number of its
// leaves.
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

// describe sets the type of the column from its schema. found describes a type that cannot be read, or is "".
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

// maxDecimal is the largest accepted size of a decimal number in bytes. It suffices for 76 digits.
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
	case *format.TimestampType:
		if c.kind == format.Int64 {
			c.digits = digitsOf(t.Unit)
		}
		return fmt.Sprintf("values of type %v", t)
	default:
		return fmt.Sprintf("values of type %v", t)
	}
	return ""
}

// digitsOf returns the number of digits behind the second in a unit of time, 0 if the unit is not known.
func digitsOf(u format.TimeUnit) int {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 3
	case *format.MicroSeconds:
		return 6
	case *format.NanoSeconds:
		return 9
	}
	return 0
}

// annotateOld does the work of annotate for the converted types of old writers, which also describe intervals.
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

// oldTypes names the converted types that cannot be read.
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

// words reports whether the values are not numbers.
func (c *column) words() bool { return c.text() || c.uuid }

// rational reports whether the values are floating-point numbers.
func (c *column) rational() bool { return c.kind == format.Float || c.kind == format.Double || c.half }

// width returns the size of a plain value in bytes. It is 0 for text, and for booleans, which take a bit.
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
