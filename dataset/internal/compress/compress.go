// Package compress reads and writes text that may be compressed, by gzip or
// zstandard. Start reading at [Detect].
package compress

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/listwise/listwise/dataset"
)

// Encoding is how a file's bytes hold its text.
type Encoding int

// The encodings.
const (
	Plain Encoding = iota // as it is
	Gzip
	Zstandard

	// Reader refuses these:
	XZ
	Bzip2
	LZ4
	Zip
)

// unread names the encodings that are not read, and what makes text of them.
var unread = map[Encoding][2]string{
	XZ: {"xz", "xz -dc"}, Bzip2: {"bzip2", "bzip2 -dc"}, LZ4: {"LZ4", "lz4 -dc"}, Zip: {"zip", "unzip -p"},
}

var magics = []struct {
	bytes    string
	encoding Encoding
	suffix   string
}{
	{"\x1f\x8b", Gzip, ".gz"},
	{"\x28\xb5\x2f\xfd", Zstandard, ".zst"},
	{"\xfd7zX", XZ, ".xz"},
	{"BZh", Bzip2, ".bz2"},
	{"\x04\x22\x4d\x18", LZ4, ".lz4"},
	{"PK\x03\x04", Zip, ".zip"},
}

// Detect returns the encoding by a file's first bytes. The name decides only
// when the file is too short for that: a .gz file of one byte is a truncated one,
// whereas text may have any name.
func Detect(head []byte, name string) Encoding {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return m.encoding
		}
		short := len(head) < len(m.bytes) && strings.HasPrefix(m.bytes, string(head))
		if short && strings.HasSuffix(name, m.suffix) {
			return m.encoding
		}
	}
	return Plain
}

// decompressor reads the text of a compressed file and puts its errors in terms
// of the file.
type decompressor struct {
	text   io.Reader
	file   *countingReader
	window uint64 // the largest of zstandard that is read
	memory int64  // as Reader has it
	close  func()
	err    error
}

// leastWindow is read with any amount of memory, as RFC 8878 expects of every decoder. mostWindow is the largest
// window that the zstd command writes and reads by default.
const (
	leastWindow = 8 << 20
	mostWindow  = 128 << 20
)

// windowIn returns the largest window that is read within a memory limit in bytes. Reading holds one and a half;
// they are a quarter of the memory at most, since what else is read is not counted with them.
func windowIn(memory int64) uint64 {
	return uint64(max(leastWindow, min(mostWindow, memory/6)))
}

// Reader returns the text of a file of the encoding. memory is the limit in bytes, of which a window may take a
// part. Errors about damaged data and too large a window are of type [*dataset.SyntaxError], without the file's
// name.
func Reader(r io.Reader, e Encoding, memory int64) (io.ReadCloser, error) {
	if e == Plain {
		return io.NopCloser(r), nil
	}
	if other, ok := unread[e]; ok {
		return nil, &dataset.SyntaxError{Found: "data compressed by " + other[0], Expected: "text, plain or compressed by gzip or zstandard (" + other[1] + " FILE decompresses it, and - reads the result from standard input)"}
	}
	file := &countingReader{r: r}
	d := &decompressor{file: file, memory: memory, window: windowIn(memory)}
	var err error
	if e == Gzip {
		d.text, err = gzip.NewReader(bufio.NewReaderSize(file, 1<<16))
		d.close = func() {}
	} else {
		var z *zstd.Decoder // reading one block after the other keeps memory down
		z, err = zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(d.window))
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
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return d.tooWide()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	e := &dataset.SyntaxError{Expected: "the rest of the compressed data", Err: err}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Found = fmt.Sprintf("the file's end after %d bytes in the midst of compressed data", d.file.n)
	} else {
		e.Found = fmt.Sprintf("damaged compressed data (%v) within the first %d bytes", err, d.file.n)
	}
	return e
}

// tooWide is the error about a window of zstandard.
func (d *decompressor) tooWide() error {
	size := func(n float64) string { return fmt.Sprintf("%.3g MiB", n/(1<<20)) }
	e := &dataset.SyntaxError{Found: "zstandard data with a window of more than " + size(float64(d.window)), Expected: "at most that (only zstd --long=28 and more make larger ones)"}
	if d.window < mostWindow {
		e.Expected = fmt.Sprintf("at most that in %s of memory (zstd makes a smaller one by --zstd=wlog=…), or raise the limit", size(float64(d.memory)))
		e.Err = dataset.ErrTooLarge
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

// HeadSize is the number of bytes by which [Detect] distinguishes all encodings.
const HeadSize = 4

// ByName returns the encoding that the end of a file's name asks for.
func ByName(path string) Encoding {
	for _, m := range magics {
		if strings.HasSuffix(path, m.suffix) {
			return m.encoding
		}
	}
	return Plain
}

// Writer returns a writer of text to a compressed file; closing it leaves w open. The
// bytes written are the same on any machine.
func Writer(w io.Writer, e Encoding) (io.WriteCloser, error) {
	if e == Gzip {
		return gzip.NewWriter(w), nil
	}
	if other, ok := unread[e]; ok {
		return nil, fmt.Errorf("found a name that asks for compression by %s, expected one that ends in .gz or .zst, or in neither", other[0])
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
}
