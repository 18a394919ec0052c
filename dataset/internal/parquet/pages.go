package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// Sizes in page headers are checked, and counted against the memory limit, before memory is allocated.

// pages reads the pages of one column of a row group, in order.
type pages struct {
	r        io.ReaderAt
	at, end  int64
	codec    format.CompressionCodec
	nullable bool
	left     int64 // rows of the row group in the pages not yet read
	skew     int   // bytes of levels before the values of the last page, used to align the values of the next
}

// page is a dictionary page or a data page.
type page struct {
	dictionary bool
	rows       int // number of values of a dictionary page
	encoding   format.Encoding
	codec      format.CompressionCodec
	levels     []byte // definition levels, which mark null rows; nil without nulls
	text       []byte // encoded values, decompressed
	at, size   int64  // position and number of bytes in the file, without levels read before
	sum, want  uint32 // CRC-32 of the bytes read so far, and of the page by its header; want is 0 if the header has none
}

// A buffer is reused memory that counts toward the memory limit.
type buffer struct {
	bytes []byte
	mem   *memory.Account
}

// spare is the number of bytes after the content of a buffer that a decompressor may overwrite, for
// speed.
const spare = 32

// room returns n bytes of the buffer, with spare bytes of capacity after them. It overwrites the
// earlier content.
func (b *buffer) room(n int64) ([]byte, error) {
	if need := n + spare; int64(cap(b.bytes)) < need {
		if err := b.mem.Take(need-int64(cap(b.bytes)), "a page's values"); err != nil {
			return nil, err
		}
		b.bytes = make([]byte, need)
	}
	return b.bytes[:n], nil
}

// release gives the memory back.
func (b *buffer) release() {
	b.mem.Give(int64(cap(b.bytes)))
	b.bytes = nil
}

// begin returns the position of the first page of a column in the file.
func begin(m *format.ColumnMetaData) int64 {
	if d := m.DictionaryPageOffset; d > 0 && d < m.DataPageOffset {
		return d
	}
	return m.DataPageOffset
}

// open prepares p to read the pages of a column chunk. It returns an error if the metadata are
// inconsistent or the compression is unsupported.
func (p *pages) open(m *format.ColumnMetaData, rows, size int64) error {
	p.at, p.codec, p.left = begin(m), m.Codec, rows
	p.end = p.at + m.TotalCompressedSize
	if p.at < 4 || m.TotalCompressedSize < 0 || p.end < p.at || p.end > size {
		return fmt.Errorf("found a column of %d bytes from %d on in a file of %d bytes", m.TotalCompressedSize, p.at, size)
	}
	switch p.codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Zstd, format.Brotli, format.Lz4, format.Lz4Raw:
	default:
		return &refusal{"unsupported compression by " + p.codec.String(), "none, snappy, gzip, zstandard, brotli or LZ4"}
	}
	if m.NumValues != rows {
		return fmt.Errorf("found %d values in a row group of %d rows", m.NumValues, rows)
	}
	return nil
}

// headerRoom is the largest size of a page header that is accepted. Headers are smaller, even with
// statistics.
const headerRoom = 1 << 16

// header reads the header of the next page.
func (p *pages) header() (*format.PageHeader, error) {
	if p.at >= p.end {
		return nil, errEnd
	}
	for size := int64(1 << 8); ; size = headerRoom {
		buf := make([]byte, min(size, p.end-p.at))
		if _, err := p.r.ReadAt(buf, p.at); err != nil {
			return nil, err
		}
		var protocol thrift.CompactProtocol
		r := protocol.NewReaderFromBytes(buf)
		h := new(format.PageHeader)
		err := thrift.NewDecoder(r).Decode(h)
		if err == nil {
			p.at += int64(r.BytesRead())
			return h, nil
		}
		if int64(len(buf)) < size || size == headerRoom {
			return nil, fmt.Errorf("found no header of a page at byte %d (%w)", p.at, err)
		}
	}
}

// errEnd is the error for a column with fewer values than its row group has rows.
var errEnd = errors.New("found fewer values than rows of its row group")

// next reads the next dictionary or data page into the buffer and skips other pages.
func (p *pages) next(d *decompressor, into *buffer) (*page, error) {
	for {
		h, err := p.header()
		if err != nil {
			return nil, err
		}
		size, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if size < 0 || plain < 0 || size > p.end-p.at {
			return nil, fmt.Errorf("found a page of %d bytes, %d without compression, where %d are left", size, plain, p.end-p.at)
		}
		g := &page{at: p.at, size: size, want: uint32(h.CRC), codec: p.codec}
		p.at += size
		switch {
		case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
			v := &h.DictionaryPageHeader.V
			g.dictionary, g.rows, g.encoding = true, int(v.NumValues), v.Encoding
			if g.rows < 0 || int64(g.rows) > 8*plain {
				return nil, fmt.Errorf("found a dictionary of %d values in %d bytes", g.rows, plain)
			}
			return g, p.read(g, plain, d, into)
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			v := &h.DataPageHeader.V
			g.rows, g.encoding = int(v.NumValues), v.Encoding
			if p.nullable && v.DefinitionLevelEncoding != format.RLE {
				return nil, &refusal{"unsupported levels encoded as " + v.DefinitionLevelEncoding.String(), "RLE"}
			}
			return g, p.first(g, plain, d, into)
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			return g, p.second(g, &h.DataPageHeaderV2.V, plain, d, into)
		}
	}
}

// count subtracts the rows of a page from p.left.
func (p *pages) count(g *page) error {
	if g.rows < 0 || int64(g.rows) > p.left {
		return fmt.Errorf("found a page of %d values where %d rows are left", g.rows, p.left)
	}
	p.left -= int64(g.rows)
	return nil
}

// first reads a data page of version 1. Levels and values are compressed together.
func (p *pages) first(g *page, plain int64, d *decompressor, into *buffer) error {
	if err := p.count(g); err != nil {
		return err
	}
	err := p.read(g, plain, d, into)
	if err == nil && p.nullable {
		g.levels, g.text, err = splitLevels(g.text)
		p.skew = 4 + len(g.levels)
	}
	return err
}

// second reads a data page of version 2. The levels precede the compressed values and are not
// compressed.
func (p *pages) second(g *page, v *format.DataPageHeaderV2, plain int64, d *decompressor, into *buffer) error {
	g.rows, g.encoding = int(v.NumValues), v.Encoding
	levels, repeated := int64(v.DefinitionLevelsByteLength), int64(v.RepetitionLevelsByteLength)
	if levels < 0 || repeated < 0 || levels+repeated > min(g.size, plain) {
		return fmt.Errorf("found levels of %d and %d bytes in a page of %d", levels, repeated, g.size)
	}
	if v.IsCompressed.Valid && !v.IsCompressed.V {
		g.codec = format.Uncompressed
	}
	if err := p.count(g); err != nil {
		return err
	}
	if all := levels + repeated; all > 0 {
		head := make([]byte, all)
		if _, err := p.r.ReadAt(head, g.at); err != nil {
			return err
		}
		g.sum, g.at, g.size, plain = crc32.ChecksumIEEE(head), g.at+all, g.size-all, plain-all
		if p.nullable && levels > 0 {
			g.levels = head[repeated:]
		}
	}
	return p.read(g, plain, d, into)
}

// read reads and decompresses the part of a page from g.at on, and verifies the page's checksum.
func (p *pages) read(g *page, plain int64, d *decompressor, into *buffer) (err error) {
	if g.codec == format.Uncompressed && g.size != plain {
		return fmt.Errorf("found %d bytes without compression, expected %d", g.size, plain)
	}
	if g.text, err = into.room(plain + 3); err != nil {
		return err
	}
	g.text = g.text[-p.skew&3:][:plain]
	if err = d.read(p.r, g, g.text); err == nil && g.want != 0 && g.sum != g.want {
		err = errSum
	}
	return err
}

var errSum = errors.New("found a page whose checksum is another than its header says")

var errLevels = errors.New("found levels longer than their page")

// splitLevels divides the content of a data page of version 1 into definition levels and values. The
// levels follow their length, 4 bytes.
func splitLevels(text []byte) (levels, values []byte, err error) {
	if len(text) < 4 || int64(binary.LittleEndian.Uint32(text)) > int64(len(text)-4) {
		return nil, nil, errLevels
	}
	n := 4 + int(binary.LittleEndian.Uint32(text))
	return text[4:n], text[n:], nil
}

// decompressor decompresses pages, one at a time.
type decompressor struct {
	buffer // the compressed bytes

	z      *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
}

// brotliBytes is the largest memory of the brotli decompressor.
const brotliBytes = 17 << 20

// release gives the memory back.
func (d *decompressor) release() {
	d.buffer.release()
	if d.brotli != nil {
		d.mem.Give(brotliBytes)
		d.brotli = nil
	}
}

// read reads the bytes of a page from g.at on and decompresses them to text, which they must fill
// exactly. It adds the bytes read to the checksum g.sum.
func (d *decompressor) read(r io.ReaderAt, g *page, text []byte) (err error) {
	data := text
	if g.codec != format.Uncompressed {
		if data, err = d.room(g.size); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		if _, err := r.ReadAt(data, g.at); err != nil {
			return err
		}
	}
	if g.want != 0 {
		g.sum = crc32.Update(g.sum, crc32.IEEETable, data)
	}
	if g.codec == format.Uncompressed || len(text) == 0 {
		return nil
	}
	err = d.decompress(g.codec, data, text)
	if err == nil || errors.Is(err, dataset.ErrTooLarge) {
		return err
	}
	return fmt.Errorf("found damaged compressed data (%w)", err)
}

// decompress decompresses data to text, and returns an error if the result does not fill text exactly.
func (d *decompressor) decompress(codec format.CompressionCodec, data, text []byte) error {
	n := 0
	switch codec {
	case format.Snappy:
		size, err := snappy.DecodedLen(data)
		if err != nil || size != len(text) {
			return errors.Join(err, fmt.Errorf("%d bytes, expected %d", size, len(text)))
		}
		_, err = snappy.Decode(text, data)
		return err
	case format.Gzip:
		return d.unzip(data, text)
	case format.Brotli:
		if d.brotli == nil {
			if err := d.mem.Take(brotliBytes, "a window of brotli"); err != nil {
				return err
			}
			d.brotli = new(brotli.Reader)
		}
		if err := d.brotli.Reset(bytes.NewReader(data)); err != nil {
			return err
		}
		return exactly(d.brotli, text)
	case format.Lz4: // some files use this codec for LZ4_RAW data
		if err := unframe(data, text); err == nil {
			return nil
		}
		fallthrough
	case format.Lz4Raw:
		var err error
		if n, err = lz4.UncompressBlock(data, text); err != nil {
			return err
		}
	case format.Zstd:
		if d.z == nil {
			z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
			if err != nil {
				return err
			}
			d.z = z
		}
		out, err := d.z.DecodeAll(data, text[:0:min(len(text)+spare/2, cap(text))])
		if err != nil {
			return err
		}
		n = len(out)
	}
	if n != len(text) {
		return fmt.Errorf("%d bytes, expected %d", n, len(text))
	}
	return nil
}

// unzip does the work of decompress for gzip.
func (d *decompressor) unzip(data, text []byte) (err error) {
	r := bytes.NewReader(data)
	if d.gzip == nil {
		d.gzip, err = gzip.NewReader(r)
	} else {
		err = d.gzip.Reset(r)
	}
	if err != nil {
		d.gzip = nil
		return err
	}
	return exactly(d.gzip, text)
}

// exactly reads r to its end into text, and returns an error if the content does not fill text exactly.
func exactly(r io.Reader, text []byte) error {
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return errors.Join(err, fmt.Errorf("more than %d bytes", len(text)))
	}
	return nil
}

// unframe decompresses LZ4 data with Hadoop's framing to text. The data are a sequence of blocks. A block
// consists of its uncompressed size and one or more chunks. A chunk consists of its compressed size and LZ4
// data of this size. Sizes are big-endian, 4 bytes.
func unframe(data, text []byte) error {
	part := func() (n int64, err error) {
		if len(data) < 4 {
			return 0, io.ErrUnexpectedEOF
		}
		n = int64(binary.BigEndian.Uint32(data))
		data = data[4:]
		return n, nil
	}
	for len(text) > 0 {
		left, err := part()
		if err != nil {
			return err
		}
		if left == 0 || left > int64(len(text)) {
			return fmt.Errorf("a block of %d bytes, expected at most %d", left, len(text))
		}
		for left > 0 {
			size, err := part()
			if err != nil {
				return err
			}
			if size > int64(len(data)) {
				return io.ErrUnexpectedEOF
			}
			n, err := lz4.UncompressBlock(data[:size], text[:left])
			if err != nil {
				return err
			}
			if n == 0 {
				return errors.New("an empty part of a block")
			}
			data, text, left = data[size:], text[n:], left-int64(n)
		}
	}
	if len(data) > 0 {
		return fmt.Errorf("%d bytes behind the last block", len(data))
	}
	return nil
}
