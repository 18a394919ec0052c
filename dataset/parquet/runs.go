package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// A few bytes can stand for any number of values: as a run of one value, or as a count before
// differences. The library allocates what they say, so it is added up before.

// runs checks the counts in a page whose content begins at a place.
func (p *pageChecker) runs(h *format.PageHeader, codec format.CompressionCodec, at int64, nullable bool) error {
	size, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	var encoding format.Encoding
	var values int
	levels := int64(-1) // bytes of levels before the values; negative: they say so
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		v := &h.DataPageHeader.V
		encoding, values = v.Encoding, int(v.NumValues)
		if !nullable {
			levels = 0
		} else if v.DefinitionLevelEncoding != format.RLE {
			return fmt.Errorf("found levels encoded as %v, expected RLE", v.DefinitionLevelEncoding)
		}
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		encoding, values, levels = v.Encoding, int(v.NumValues), 0
		n := int64(v.DefinitionLevelsByteLength)
		text, err := p.prefix(format.Uncompressed, at+int64(v.RepetitionLevelsByteLength), n, n)
		if err != nil {
			return err
		}
		if nullable && n > 0 {
			if err := checkRuns(text, 1, values); err != nil {
				return err
			}
		}
		n += int64(v.RepetitionLevelsByteLength)
		at, size, plain = at+n, size-n, plain-n
		if v.IsCompressed.Valid && !v.IsCompressed.V {
			codec = format.Uncompressed
		}
	default:
		return nil
	}
	return p.content(&content{codec: codec, at: at, size: size, plain: plain, levels: levels, encoding: encoding, values: values})
}

// content is what a page has behind its header and, in version 2, its levels.
type content struct {
	codec           format.CompressionCodec
	at, size, plain int64
	levels          int64
	encoding        format.Encoding
	values          int
}

// content checks the counts of a page's content.
func (p *pageChecker) content(c *content) error {
	all := false // must be decompressed
	switch c.encoding {
	case format.Plain, format.ByteStreamSplit:
		if c.levels == 0 {
			return nil
		}
	case plainDictionary, format.RLEDictionary:
		all = true
	case format.RLE:
		return errors.New("found true and false in runs, which the decoder takes for others, expected plain ones (pages of version 1) or numbers")
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
	default:
		return fmt.Errorf("found values encoded as %v, expected plain ones, a dictionary, differences or split streams", c.encoding)
	}
	need := min(c.plain, 1<<10)
	if all {
		need = c.plain
	}
	text, err := p.prefix(c.codec, c.at, c.size, need)
	if err != nil || len(text) == 0 {
		return err
	}
	if c.levels < 0 {
		if len(text) < 4 || int64(binary.LittleEndian.Uint32(text)) > c.plain-4 {
			return errors.New("found levels longer than their page")
		}
		end := 4 + int(binary.LittleEndian.Uint32(text))
		if end+deltaHeader > len(text) && int64(len(text)) < c.plain {
			if text, err = p.prefix(c.codec, c.at, c.size, min(c.plain, int64(end+deltaHeader))); err != nil {
				return err
			}
		}
		if end > len(text) {
			return errors.New("found levels longer than their page")
		}
		if err := checkRuns(text[4:end], 1, c.values); err != nil {
			return err
		}
		text = text[end:]
	}
	return c.counts(text)
}

// plainDictionary is the encoding that files of version 1 name for values of a dictionary.
const plainDictionary format.Encoding = 2

// deltaHeader is the most that stands before differences: four numbers.
const deltaHeader = 4 * binary.MaxVarintLen64

// counts checks those before the values.
func (c *content) counts(text []byte) error {
	switch c.encoding {
	case plainDictionary, format.RLEDictionary:
		if len(text) == 0 {
			return nil
		}
		return checkRuns(text[1:], int(text[0]), c.values)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		var numbers [3]uint64 // values of a block, its parts, all values
		for i := range numbers {
			v, n := binary.Uvarint(text)
			if n <= 0 {
				return errors.New("found no count before differences")
			}
			numbers[i], text = v, text[n:]
		}
		if numbers[0] > 1<<16 || numbers[1] == 0 || numbers[1] > numbers[0] || numbers[2] > uint64(c.values) {
			return fmt.Errorf("found %d differences in %d parts of blocks of %d, expected %d", numbers[2], numbers[1], numbers[0], c.values)
		}
	}
	return nil
}

// checkRuns adds up runs of numbers of so many bits.
func checkRuns(text []byte, bits, values int) error {
	if bits > 32 {
		return fmt.Errorf("found numbers of %d bits", bits)
	}
	sum := uint64(0)
	for len(text) > 0 {
		head, n := binary.Uvarint(text)
		if n <= 0 {
			return errors.New("found no length of a run")
		}
		count, size := head>>1, uint64((bits+7)/8)
		if head&1 != 0 { // groups of eight
			size = count * uint64(bits)
			count *= 8
		}
		if head > 1<<40 || size > uint64(len(text)-n) {
			return errors.New("found a run longer than its page")
		}
		if sum += count; sum > uint64(values)+7 {
			return fmt.Errorf("found runs of %d values, expected %d", sum, values)
		}
		text = text[uint64(n)+size:]
	}
	return nil
}

// prefix returns the first bytes of the content of a page.
func (p *pageChecker) prefix(codec format.CompressionCodec, at, size, need int64) ([]byte, error) {
	if need <= 0 {
		return nil, nil
	}
	switch codec {
	case format.Snappy:
		compressed := p.room(&p.compressed, size)
		if _, err := p.r.ReadAt(compressed, at); err != nil {
			return nil, err
		}
		n, err := snappy.DecodedLen(compressed)
		if err != nil {
			return nil, fmt.Errorf("found damaged compressed data (%w)", err)
		}
		text, err := snappy.Decode(p.room(&p.text, int64(n)), compressed)
		if err != nil {
			return nil, fmt.Errorf("found damaged compressed data (%w)", err)
		}
		return text, nil
	case format.Uncompressed:
		text := p.room(&p.text, min(need, size))
		_, err := p.r.ReadAt(text, at)
		return text, err
	}
	z, err := p.decompressor(codec, at, size)
	if err != nil {
		return nil, err
	}
	defer z.Close() //nolint:errcheck // only read
	text := p.room(&p.text, need)
	n, err := io.ReadFull(z, text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("found damaged compressed data (%w)", err)
	}
	return text[:n], nil
}

// room returns n bytes of a buffer.
func (p *pageChecker) room(buf *[]byte, n int64) []byte {
	if int64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	return (*buf)[:n]
}

// decompressor returns what compressed data at a place hold.
func (p *pageChecker) decompressor(codec format.CompressionCodec, at, size int64) (io.ReadCloser, error) {
	r := io.NewSectionReader(p.r, at, size)
	if codec == format.Gzip {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("found damaged compressed data (%w)", err)
		}
		return z, nil
	}
	if p.z == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		p.z = z
	}
	if err := p.z.Reset(r); err != nil {
		return nil, fmt.Errorf("found damaged compressed data (%w)", err)
	}
	return io.NopCloser(p.z), nil
}
