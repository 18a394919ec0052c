package parquet

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/internal/parallel"
)

// sheet writes a flat table. Callers add pages to its columns. endGroup writes these pages to the file as a
// row group.
type sheet struct {
	w       io.Writer
	at      int64 // bytes written
	columns []*sheetColumn
	packers []packer     // one for each worker
	rooms   []pageValues // one for each worker
	meta    format.FileMetaData
	pagesOfGroup
}

// sheetColumn is a column of a sheet.
type sheetColumn struct {
	name       string
	kind       format.Type
	nullable   bool
	dictionary bool // values are texts, stored as indices in a dictionary

	codec  format.CompressionCodec
	values int64      // number of values in the row group, nulls included
	nulls  int64      // number of nulls in the row group
	pages  []keptPage // pages of the row group
	size   int64      // length of these pages without compression

	places map[string]uint32 // index of each text in the dictionary
	texts  []byte            // plain texts of the dictionary
}

// packer encodes pages, one at a time.
type packer struct {
	zstd *zstd.Encoder
	body []byte // reused memory for a page
}

// pageValues are the values of a page.
type pageValues struct {
	rows    int
	present []uint32 // for each row, 1, or 0 for null; nil if no row is null
	plain   []byte   // plain values
	places  []uint32 // indices in the dictionary instead, if the column has one
}

// newSheet returns a sheet with these columns, which it writes to w.
func newSheet(w io.Writer, codec format.CompressionCodec, columns []*sheetColumn) *sheet {
	s := &sheet{w: w, columns: columns}
	workers := parallel.Workers(0, len(columns))
	s.packers, s.rooms = make([]packer, workers), make([]pageValues, workers)
	s.meta = format.FileMetaData{Version: 1, CreatedBy: writerName}
	s.meta.Schema = append(s.meta.Schema, format.SchemaElement{Name: "listwise", NumChildren: thrift.New(int32(len(columns)))})
	for _, c := range columns {
		c.codec = codec
		e := format.SchemaElement{Name: c.name, Type: thrift.New(c.kind), RepetitionType: thrift.New(format.Required)}
		if c.nullable {
			e.RepetitionType = thrift.New(format.Optional)
		}
		if c.kind == format.ByteArray {
			e.ConvertedType = thrift.New(deprecated.UTF8)
			e.LogicalType.Value = new(format.StringType)
		}
		s.meta.Schema = append(s.meta.Schema, e)
	}
	s.meta.KeyValueMetadata = []format.KeyValue{{Key: schemaKey, Value: schemaSum(s.meta.Schema)}}
	return s
}

// write writes to the file and advances s.at.
func (s *sheet) write(b []byte) error {
	n, err := s.w.Write(b)
	s.at += int64(n)
	return err
}

// place returns the index of a text in the dictionary. It adds the text if it is new.
func (c *sheetColumn) place(text string) uint32 {
	if c.places == nil {
		c.places = make(map[string]uint32)
	}
	k, known := c.places[text]
	if !known {
		k = uint32(len(c.places))
		c.places[text] = k
		c.texts = appendText(c.texts, text)
	}
	return k
}

// appendText appends a plain text: its length, 4 bytes, and its bytes.
func appendText(b []byte, text string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
}

// page returns the bytes of a page with the values v.
func (c *sheetColumn) page(v *pageValues, p *packer) ([]byte, error) {
	h := format.PageHeader{Type: format.DataPage}
	data := format.DataPageHeader{NumValues: int32(v.rows), DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}
	body := p.body[:0]
	if c.nullable {
		body = append(body, 0, 0, 0, 0)
		if v.present == nil {
			body = append(binary.AppendUvarint(body, uint64(v.rows)<<1), 1)
		} else {
			body = appendRuns(body, v.present, 1)
			for _, one := range v.present {
				data.Statistics.NullCount += int64(1 - one)
			}
		}
		binary.LittleEndian.PutUint32(body, uint32(len(body)-4))
	}
	if c.dictionary {
		width := uint(bits.Len(uint(max(0, len(c.places)-1))))
		data.Encoding = format.RLEDictionary
		body = appendRuns(append(body, byte(width)), v.places, width)
	} else {
		body = append(body, v.plain...)
	}
	p.body = body
	c.values += int64(v.rows)
	c.nulls += data.Statistics.NullCount
	h.DataPageHeader = thrift.New(data)
	return p.pack(c, &h, body)
}

// pack compresses body and returns it with its header.
func (p *packer) pack(c *sheetColumn, h *format.PageHeader, body []byte) ([]byte, error) {
	packed := body
	switch c.codec {
	case format.Snappy:
		packed = snappy.Encode(nil, body)
	case format.Zstd:
		if p.zstd == nil {
			z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<18))
			if err != nil {
				return nil, err
			}
			p.zstd = z
		}
		packed = p.zstd.EncodeAll(body, nil)
	}
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(body)), int32(len(packed))
	h.CRC = int32(crc32.ChecksumIEEE(packed))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	if err != nil {
		return nil, err
	}
	c.size += int64(len(head) + len(body))
	return append(head, packed...), nil
}

// endGroup writes a row group with the pages so far.
func (s *sheet) endGroup() error {
	g := format.RowGroup{NumRows: s.columns[0].values, FileOffset: s.at, Ordinal: int16(len(s.meta.RowGroups))}
	if g.NumRows == 0 {
		return nil
	}
	if s.at == 0 {
		if err := s.write([]byte(Magic)); err != nil {
			return err
		}
		g.FileOffset = s.at
	}
	for _, c := range s.columns {
		m, err := s.endColumn(c)
		if err != nil {
			return err
		}
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: *m})
		g.TotalByteSize += m.TotalUncompressedSize
		g.TotalCompressedSize += m.TotalCompressedSize
	}
	s.forget()
	s.meta.NumRows += g.NumRows
	s.meta.RowGroups = append(s.meta.RowGroups, g)
	return nil
}

// endColumn writes a column of a row group and removes its pages.
func (s *sheet) endColumn(c *sheetColumn) (*format.ColumnMetaData, error) {
	m := &format.ColumnMetaData{Type: c.kind, PathInSchema: []string{c.name}, Codec: c.codec, NumValues: c.values}
	m.Encoding = []format.Encoding{format.Plain, format.RLE}
	m.Statistics.NullCount = c.nulls
	from := s.at
	m.DataPageOffset = from
	if c.dictionary {
		m.Encoding = append(m.Encoding, format.RLEDictionary)
		h := format.PageHeader{Type: format.DictionaryPage}
		h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: int32(len(c.places))})
		page, err := s.packers[0].pack(c, &h, c.texts)
		if err == nil {
			err = s.write(page)
		}
		if err != nil {
			return nil, err
		}
		m.DictionaryPageOffset, m.DataPageOffset = from, s.at
	}
	for _, kept := range c.pages {
		b, err := s.read(kept)
		if err == nil {
			err = s.write(b)
		}
		if err != nil {
			return nil, err
		}
	}
	m.TotalCompressedSize, m.TotalUncompressedSize = s.at-from, c.size
	c.values, c.nulls, c.size, c.pages = 0, 0, 0, nil
	clear(c.places)
	c.texts = c.texts[:0]
	return m, nil
}

// close writes the last row group and the metadata.
func (s *sheet) close() (err error) {
	defer func() { err = errors.Join(err, s.pagesOfGroup.close()) }()
	if err := s.endGroup(); err != nil {
		return err
	}
	if s.at == 0 {
		if err := s.write([]byte(Magic)); err != nil {
			return err
		}
	}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &s.meta)
	if err != nil {
		return err
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	return s.write(append(b, Magic...))
}

// each adds a page to every column, concurrently. fill sets the values of the page of a column.
func (s *sheet) each(fill func(column int, v *pageValues)) error {
	faults := make([]error, len(s.columns))
	parallel.For(len(s.columns), len(s.packers), func(worker, k int) {
		v := &s.rooms[worker]
		fill(k, v)
		c := s.columns[k]
		made, err := c.page(v, &s.packers[worker])
		if err == nil {
			c.pages, err = s.keep(c.pages, made)
		}
		faults[k] = err
	})
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
