package parquet

import (
	"errors"
	"io"
	"math"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/dataset/table"
)

// A file has the columns query (text), grade (double), doc (text, if documents have
// identifiers) and one for each feature (float, null where missing), compressed by zstandard.
// The library sorts columns by name and would do so with these; the schema keeps the order.

// groupBytes is about how much memory a row group takes while it is written.
const groupBytes = 64 << 20

// NewWriter returns a writer of a file that [Read] reads.
func NewWriter(w io.Writer, c stream.Contents) (stream.Writer, error) {
	return newWriter(w, c, &parquet.Zstd)
}

func newWriter(w io.Writer, c stream.Contents, codec compress.Codec) (*writer, error) {
	if c.Weighted {
		return nil, errors.New("found weights of queries or documents, expected none: Parquet files are written without; a cache (.lwd) keeps them")
	}
	names, err := table.ColumnNames(c)
	if err != nil {
		return nil, err
	}
	columns := []parquet.Field{
		&field{parquet.Encoded(parquet.String(), &parquet.RLEDictionary), "query"},
		&field{parquet.Leaf(parquet.DoubleType), "grade"},
	}
	if c.DocIDs {
		columns = append(columns, &field{parquet.Optional(parquet.String()), "doc"})
	}
	z := &writer{first: len(columns), features: c.Features, docIDs: c.DocIDs}
	for _, name := range names {
		columns = append(columns, &field{parquet.Optional(parquet.Leaf(parquet.FloatType)), name})
	}
	z.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("listwise", &root{parquet.Group{}, columns}), parquet.Compression(codec), parquet.DataPageVersion(1), parquet.CreatedBy("listwise", "", ""))
	z.columns = z.w.ColumnWriters()
	if len(z.columns) != len(columns) {
		return nil, errors.New("found other columns in the schema than are written")
	}
	z.values = make([][]parquet.Value, len(columns))
	z.group = max(blockRows, groupBytes/(4*c.Features+64))
	return z, nil
}

// root is the schema, whose columns stay in their order.
type root struct {
	parquet.Group

	columns []parquet.Field
}

// Fields implements parquet.Node.
func (r *root) Fields() []parquet.Field { return r.columns }

// field is a column of a schema.
type field struct {
	parquet.Node

	name string
}

// Name implements parquet.Field.
func (f *field) Name() string { return f.name }

// Value implements parquet.Field. Documents are no Go values, and it is not called.
func (f *field) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// writer writes a file, column by column some rows at a time.
type writer struct {
	w        *parquet.GenericWriter[any]
	columns  []*parquet.ColumnWriter
	values   [][]parquet.Value // of the rows at hand
	first    int               // the first feature's column
	features int
	docIDs   bool

	rows, group int // of the row group: those written, and as many as there should be
}

// Document implements stream.Writer.
func (z *writer) Document(query, id string, grade float64, row []float32) error {
	if err := table.CheckIDs(query, id); err != nil {
		return err
	}
	v := z.values
	v[0] = append(v[0], parquet.ByteArrayValue([]byte(query)).Level(0, 0, 0))
	v[1] = append(v[1], parquet.DoubleValue(grade).Level(0, 0, 1))
	if z.docIDs {
		if id == "" {
			v[2] = append(v[2], parquet.NullValue().Level(0, 0, 2))
		} else {
			v[2] = append(v[2], parquet.ByteArrayValue([]byte(id)).Level(0, 1, 2))
		}
	}
	for k, x := range row {
		at := z.first + k
		if math.IsNaN(float64(x)) {
			v[at] = append(v[at], parquet.NullValue().Level(0, 0, at))
		} else {
			v[at] = append(v[at], parquet.FloatValue(x).Level(0, 1, at))
		}
	}
	if len(v[0]) < blockRows {
		return nil
	}
	return z.flush()
}

// flush gives the rows at hand to the columns, and ends a row group that is large enough.
func (z *writer) flush() error {
	for k, c := range z.columns {
		if _, err := c.WriteRowValues(z.values[k]); err != nil {
			return err
		}
	}
	z.rows += len(z.values[0])
	for k := range z.values {
		z.values[k] = z.values[k][:0]
	}
	if z.rows < z.group {
		return nil
	}
	z.rows = 0
	return z.w.Flush()
}

// Close implements stream.Writer.
func (z *writer) Close() error { return errors.Join(z.flush(), z.w.Close()) }
