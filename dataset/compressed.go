package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is how a file's bytes hold its text.
type encoding int

const (
	plainText encoding = iota
	gzipped
	zstandard
	binaryCache
)

var magics = []struct {
	bytes    string
	encoding encoding
	suffix   string
}{
	{"\x1f\x8b", gzipped, ".gz"},
	{"\x28\xb5\x2f\xfd", zstandard, ".zst"},
	{cacheMagic, binaryCache, ""},
}

// detect tells the encoding from a file's first bytes. The name decides only
// when the file is too short to tell: a .gz file of one byte is a truncated one,
// whereas text may be called whatever it likes.
func detect(head []byte, name string) encoding {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return m.encoding
		}
		short := len(head) < len(m.bytes) && strings.HasPrefix(m.bytes, string(head))
		if short && m.suffix != "" && strings.HasSuffix(name, m.suffix) {
			return m.encoding
		}
	}
	return plainText
}

// decompressor reads the text of a compressed file and puts its errors in terms
// of the file.
type decompressor struct {
	text  io.Reader
	file  *countingReader
	close func()
	err   error
}

// decompress opens the text of a file of any encoding but the cache's.
func decompress(r io.Reader, e encoding) (io.ReadCloser, error) {
	if e == plainText {
		return io.NopCloser(r), nil
	}
	file := &countingReader{r: r}
	d := &decompressor{file: file}
	var err error
	if e == gzipped {
		d.text, err = gzip.NewReader(bufio.NewReaderSize(file, 1<<16))
		d.close = func() {}
	} else {
		// 128 MiB is the largest window the zstd command makes unless told
		// otherwise; reading one block after the other keeps memory down.
		var z *zstd.Decoder
		z, err = zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
		d.text, d.close = z, func() { z.Close() }
	}
	if err != nil {
		return nil, d.explain(err)
	}
	return d, nil
}

// Read repeats an error for ever and returns it alone.
func (d *decompressor) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.text.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = d.explain(err)
	}
	d.err = err
	if n > 0 {
		err = nil
	}
	return n, err
}

func (d *decompressor) Close() error {
	d.close()
	return nil
}

// explain turns what a decompressor says of damaged data into a SyntaxError, of
// which the reader of lines fills in the place. Errors of the disk stay.
func (d *decompressor) explain(err error) error {
	if d.file.err != nil && !errors.Is(d.file.err, io.EOF) {
		return d.file.err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	e := &SyntaxError{Expected: "the rest of the compressed data", Err: err}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Found = fmt.Sprintf("the file's end after %d bytes in the midst of compressed data", d.file.n)
	} else {
		e.Found = fmt.Sprintf("damaged compressed data (%v) within the first %d bytes", err, d.file.n)
	}
	return e
}

// countingReader counts the bytes read and keeps the reader's error.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

// held are bytes kept in memory in blocks of heldBlock bytes (the last may be
// shorter), which grow without being copied.
type held struct {
	blocks [][]byte
	size   int64
}

const heldBlock = 1 << 18

// readAll reads r to its end. look, if not nil, sees the first block, and its error
// ends the reading.
func readAll(ctx context.Context, r io.Reader, mem *memory, look func(first []byte) error) (*held, error) {
	m := new(held)
	for {
		if err := mem.take(heldBlock, "bytes of a stream"); err != nil {
			return nil, err
		}
		block, err := readBlock(r, len(m.blocks) == 0)
		m.blocks = append(m.blocks, block)
		m.size += int64(len(block))
		if len(m.blocks) == 1 && look != nil {
			if err := look(block); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			mem.give(heldBlock - int64(len(block)))
			return m, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
}

// readBlock reads heldBlock bytes, or less with an error. A first block grows
// as needed, since it is often the only one.
func readBlock(r io.Reader, first bool) (block []byte, err error) {
	size := heldBlock
	if first {
		size = 1 << 10
	}
	block = make([]byte, 0, size)
	for len(block) < heldBlock && err == nil {
		if len(block) == cap(block) {
			block = slices.Grow(block, len(block))
		}
		var n int
		n, err = r.Read(block[len(block):min(cap(block), heldBlock)])
		block = block[:len(block)+n]
	}
	return block, err
}

// ReadAt implements io.ReaderAt.
func (m *held) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < m.size {
		k := copy(p[n:], m.blocks[off/heldBlock][off%heldBlock:])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
