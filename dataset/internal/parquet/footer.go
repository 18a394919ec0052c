package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
)

// Magic is the text at the beginning and at the end of a Parquet file.
const Magic = "PAR1"

// describe reads the metadata at the end of a file. Their memory is counted.
func describe(in *input.Input) (*format.FileMetaData, error) {
	end := make([]byte, 8)
	if in.Size < 12 {
		return nil, fmt.Errorf("found a file of %d bytes", in.Size)
	}
	if _, err := in.R.ReadAt(end, in.Size-8); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(end))
	switch {
	case string(end[4:]) == "PARE":
		return nil, errEncrypted
	case string(end[4:]) != Magic:
		return nil, errors.New("found no end of a Parquet file")
	case size > in.Size-12:
		return nil, fmt.Errorf("found a description of %d bytes in a file of %d", size, in.Size)
	}
	if err := in.Mem.Take(2*size, "the description of a Parquet file"); err != nil {
		return nil, err
	}
	text := make([]byte, size)
	if _, err := in.R.ReadAt(text, in.Size-8-size); err != nil {
		return nil, err
	}
	w := walker{text: text}
	if err := w.structure(0); err != nil {
		return nil, fmt.Errorf("found a description that cannot be decoded: %w", err)
	}
	if err := in.Mem.Take(w.size, "the description of a Parquet file"); err != nil {
		return nil, err
	}
	m := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), text, m); err != nil {
		return nil, fmt.Errorf("found a description that cannot be decoded: %w", err)
	}
	if m.EncryptionAlgorithm.Value != nil {
		return nil, errEncrypted
	}
	return m, nil
}

// writerName identifies files of this package. schemaKey is the key of the schema's checksum in the metadata.
// The metadata as a whole have no checksum, so damage could change the names of features unnoticed.
const (
	writerName = "listwise"
	schemaKey  = "listwise.schema"
)

// schemaSum returns the checksum of a schema.
func schemaSum(schema []format.SchemaElement) string {
	h := crc32.NewIEEE()
	for i := range schema {
		e := &schema[i]
		fmt.Fprintf(h, "%q %d %d %d %d %d\n", e.Name, e.NumChildren.V, e.Type.V, e.TypeLength.V, e.RepetitionType.V, e.ConvertedType.V)
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// checkSchema returns an error if the schema has a checksum that does not match. It ignores checksums in files
// of other writers, which may have copied them from a file of this package.
func checkSchema(m *format.FileMetaData) error {
	for _, kv := range m.KeyValueMetadata {
		if kv.Key == schemaKey && m.CreatedBy == writerName && kv.Value != schemaSum(m.Schema) {
			return errors.New("found a schema whose checksum is another than the file says")
		}
	}
	return nil
}

var errEncrypted = &dataset.SyntaxError{Found: "an encrypted Parquet file", Expected: "one that is not encrypted"}

// A walker checks a structure in Thrift's compact protocol before the library decodes the structure. The
// library would allocate as many elements as the header of a list claims.
type walker struct {
	text []byte
	size int64 // memory of the decoded elements
}

// The types of the protocol.
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

var errThrift = errors.New("it ends too soon, or nests too deep")

// maxDepth is the largest accepted depth of nested structures. Valid metadata are less deep.
const maxDepth = 32

// structure checks the fields of a structure.
func (w *walker) structure(depth int) error {
	if depth > maxDepth {
		return errThrift
	}
	for {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 {
			if _, err := w.number(); err != nil { // number of the field
				return err
			}
		}
		if kind := head & 15; kind == thriftTrue || kind == thriftFalse {
			continue // the type is the value
		}
		if err := w.value(head&15, depth); err != nil {
			return err
		}
	}
}

// value checks a value.
func (w *walker) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := w.number()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftBinary:
		n, err := w.number()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		return w.list(depth)
	case thriftStruct:
		return w.structure(depth + 1)
	}
	return fmt.Errorf("it has a value of type %d", kind) // metadata contain no maps
}

// list checks the elements of a list. An element has at least one byte.
func (w *walker) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.number(); err != nil {
			return err
		}
	}
	if n > uint64(len(w.text)) {
		return errThrift
	}
	w.size += int64(n) * elementSize(head&15, depth)
	for range n {
		if err := w.value(head&15, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// elementSize returns an upper bound of the memory of a list element. The large structures occur only at the
// top level and in row groups.
func elementSize(kind byte, depth int) int64 {
	if kind == thriftStruct && depth <= 2 {
		return int64(unsafe.Sizeof(format.ColumnChunk{}))
	}
	return 64
}

func (w *walker) byte() (byte, error) {
	if len(w.text) == 0 {
		return 0, errThrift
	}
	b := w.text[0]
	w.text = w.text[1:]
	return b, nil
}

func (w *walker) number() (uint64, error) {
	v, n := binary.Uvarint(w.text)
	if n <= 0 {
		return 0, errThrift
	}
	w.text = w.text[n:]
	return v, nil
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.text)) {
		return errThrift
	}
	w.text = w.text[n:]
	return nil
}
