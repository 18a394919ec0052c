package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/internal/input"
)

// The library believes what headers of pages say of sizes, and allocates. So the pages of a
// column are looked at before it reads them: they must lie within the file, have as many
// values as the row group has rows, and decompress to what they say, within the limit.

// pageChecker looks at pages.
type pageChecker struct {
	r    io.ReaderAt
	size int64 // of the file
	mem  *input.Memory

	compressed, text []byte // room for those of a page
	z                *zstd.Decoder
}

// headerRoom is more than the header of a page takes, statistics included.
const headerRoom = 1 << 16

// chunk checks the pages of a column of a row group of so many rows; nullable says that they
// have levels, which tell rows without a value.
func (p *pageChecker) chunk(m *format.ColumnMetaData, rows int64, nullable bool) error {
	at := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < at {
		at = d
	}
	end := at + m.TotalCompressedSize
	if at < 4 || m.TotalCompressedSize < 0 || end < at || end > p.size {
		return fmt.Errorf("found a column of %d bytes from %d on in a file of %d bytes", m.TotalCompressedSize, at, p.size)
	}
	if m.NumValues != rows {
		return fmt.Errorf("found %d values in a row group of %d rows", m.NumValues, rows)
	}
	buf := make([]byte, 1<<10)
	for values := int64(0); values < rows; {
		if at >= end {
			return fmt.Errorf("found %d values in the pages of a row group of %d rows", values, rows)
		}
		h, n, err := p.header(buf, at, end)
		if err != nil {
			return err
		}
		at += n
		if err := p.page(h, m.Codec, at, end); err != nil {
			return err
		}
		if err := p.runs(h, m.Codec, at, nullable); err != nil {
			return err
		}
		at += int64(h.CompressedPageSize)
		switch {
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			values += int64(h.DataPageHeader.V.NumValues)
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			values += int64(h.DataPageHeaderV2.V.NumValues)
			if v := &h.DataPageHeaderV2.V; v.NumNulls < 0 || v.NumNulls > v.NumValues {
				return fmt.Errorf("found a page of %d values of which %d are null", v.NumValues, v.NumNulls)
			}
		}
	}
	return nil
}

// header reads the header of the page at a place, and its length.
func (p *pageChecker) header(buf []byte, at, end int64) (*format.PageHeader, int64, error) {
	for {
		n, err := p.r.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		var protocol thrift.CompactProtocol
		r := protocol.NewReaderFromBytes(buf[:n])
		h := new(format.PageHeader)
		if err = thrift.NewDecoder(r).Decode(h); err == nil {
			return h, int64(r.BytesRead()), nil
		}
		if n < len(buf) || len(buf) >= headerRoom {
			return nil, 0, fmt.Errorf("found no header of a page at byte %d (%w)", at, err)
		}
		buf = make([]byte, headerRoom)
	}
}

// page checks a page whose content begins at a place.
func (p *pageChecker) page(h *format.PageHeader, codec format.CompressionCodec, at, end int64) error {
	size, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	var values int64
	switch h.Type {
	case format.DataPage:
		values = int64(h.DataPageHeader.V.NumValues)
	case format.DataPageV2:
		v := &h.DataPageHeaderV2.V
		values = int64(v.NumValues)
		levels := int64(v.DefinitionLevelsByteLength) + int64(v.RepetitionLevelsByteLength)
		if v.DefinitionLevelsByteLength < 0 || v.RepetitionLevelsByteLength < 0 || levels > size || levels > plain {
			return fmt.Errorf("found levels of %d bytes in a page of %d", levels, size)
		}
		if v.IsCompressed.Valid && !v.IsCompressed.V {
			codec = format.Uncompressed
		}
		at, size, plain = at+levels, size-levels, plain-levels
	case format.DictionaryPage:
		values = int64(h.DictionaryPageHeader.V.NumValues)
	}
	if size < 0 || plain < 0 || values < 0 || size > end-at {
		return fmt.Errorf("found a page of %d values and %d bytes, %d without compression, where %d are left", values, size, plain, end-at)
	}
	need := 2*plain + 16*values
	if err := p.mem.Take(need, "a page's values"); err != nil {
		return err
	}
	p.mem.Give(need)
	return p.payload(codec, at, size, plain)
}

// gzipRatio is the most by which gzip compresses.
const gzipRatio = 1032

// payload checks that compressed bytes hold as many as they should.
func (p *pageChecker) payload(codec format.CompressionCodec, at, size, plain int64) error {
	if size == 0 && plain == 0 {
		return nil
	}
	switch codec {
	case format.Uncompressed:
		if size != plain {
			return fmt.Errorf("found %d bytes without compression, expected %d", size, plain)
		}
		return nil
	case format.Snappy:
		head := make([]byte, min(size, binary.MaxVarintLen64))
		if _, err := p.r.ReadAt(head, at); err != nil {
			return err
		}
		if n, used := binary.Uvarint(head); used <= 0 || n != uint64(plain) {
			return fmt.Errorf("found compressed data of %d bytes, expected %d", n, plain)
		}
		return nil
	case format.Zstd:
		return p.zstd(at, size, plain)
	case format.Gzip:
		if plain > gzipRatio*size {
			return fmt.Errorf("found compressed data of %d bytes, expected %d", size, plain)
		}
		n, err := p.length(codec, at, size, plain)
		if err == nil && n != plain {
			err = fmt.Errorf("found other compressed data, expected %d bytes", plain)
		}
		return err
	default:
		return fmt.Errorf("found compression by %v, expected none, snappy, gzip or zstd", codec)
	}
}

// zstd checks that the frames of zstandard at a place say that they hold so many bytes; a
// frame that says so is not decompressed to more.
func (p *pageChecker) zstd(at, size, plain int64) error {
	end, sum := at+size, int64(0)
	for at < end {
		var h zstd.Header
		head := make([]byte, min(end-at, zstd.HeaderMaxSize))
		if _, err := p.r.ReadAt(head, at); err != nil {
			return err
		}
		if err := h.Decode(head); err != nil {
			return fmt.Errorf("found damaged compressed data (%w)", err)
		}
		if h.Skippable {
			at += int64(h.HeaderSize) + int64(h.SkippableSize)
			continue
		}
		if !h.HasFCS {
			return p.unsaid(end-size, size, plain)
		}
		sum += int64(min(h.FrameContentSize, 1<<40))
		at += int64(h.HeaderSize)
		for last := false; !last; {
			var block [3]byte
			if at+3 > end {
				return errors.New("found compressed data that end too soon")
			}
			if _, err := p.r.ReadAt(block[:], at); err != nil {
				return err
			}
			b := uint32(block[0]) | uint32(block[1])<<8 | uint32(block[2])<<16
			last = b&1 != 0
			if at += 3; b>>1&3 == 1 { // one byte, repeated
				at++
			} else {
				at += int64(b >> 3)
			}
		}
		if h.HasCheckSum {
			at += 4
		}
	}
	if at != end || sum != plain {
		return fmt.Errorf("found compressed data of %d bytes, expected %d", sum, plain)
	}
	return nil
}

// unsaid decompresses data that do not say how much they hold, to see.
func (p *pageChecker) unsaid(at, size, plain int64) error {
	n, err := p.length(format.Zstd, at, size, plain)
	if err == nil && n != plain {
		err = fmt.Errorf("found compressed data of other than %d bytes", plain)
	}
	return err
}

// length returns the number of bytes that compressed data hold, or one more than expected if
// they hold more.
func (p *pageChecker) length(codec format.CompressionCodec, at, size, plain int64) (int64, error) {
	if codec == format.Gzip && size*gzipRatio <= maxGzip {
		return plain, nil // it cannot do harm
	}
	z, err := p.decompressor(codec, at, size)
	if err != nil {
		return 0, err
	}
	defer z.Close() //nolint:errcheck // only read
	n, err := io.Copy(io.Discard, io.LimitReader(z, plain+1))
	if err != nil {
		return 0, fmt.Errorf("found damaged compressed data (%w)", err)
	}
	return n, nil
}

// maxGzip is how many bytes gzip may hold without their being counted first.
const maxGzip = 1 << 28
