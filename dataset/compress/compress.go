// Package compress reads and writes text that is plain or compressed by gzip or zstandard. Start reading at
// [Detect].
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

// Encoding is the compression of a file.
type Encoding int

// The encodings.
const (
	Plain Encoding = iota // not compressed
	Gzip
	Zstandard

	// Reader refuses these:
	XZ
	Bzip2
	LZ4
	Zip
)

// unread names the encodings that are not supported, and commands that decompress them.
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

// Detect returns the encoding of a file by its first bytes. The name matters only if the file is too short for
// this. A .gz file of one byte is a truncated one, whereas text may have any name.
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

// decompressor reads the text of a compressed file. Its errors describe the file.
type decompressor struct {
	text   io.Reader
	file   *countingReader
	window uint64 // largest accepted window of zstandard
	memory int64  // memory limit in bytes
	close  func()
	err    error
}

// leastWindow is accepted with any memory limit, as RFC 8878 expects of every decoder. mostWindow is the
// largest window that the zstd command writes and reads by default.
const (
	leastWindow = 8 << 20
	mostWindow  = 128 << 20
)

// windowIn returns the largest window that is accepted within a memory limit in bytes. The decoder needs one
// and a half windows. They may take a quarter of the limit, because their memory is not counted otherwise.
func windowIn(memory int64) uint64 {
	return uint64(max(leastWindow, min(mostWindow, memory/6)))
}

// Reader returns the text of a file with the encoding. memory is the memory limit in bytes, which bounds the
// window of zstandard. Errors about damaged data and too large a window are of type [*dataset.SyntaxError],
// without the file's name.
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

// Read implements io.Reader. It returns an error without bytes, and repeats it in later calls.
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

// explain turns a decompressor's error about damaged data into a SyntaxError, in which the reader of lines
// sets the line. It returns errors of the disk unchanged.
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

// tooWide returns the error about a window of zstandard that is too large.
func (d *decompressor) tooWide() error {
	size := func(n float64) string { return fmt.Sprintf("%.3g MiB", n/(1<<20)) }
	e := &dataset.SyntaxError{Found: "zstandard data with a window of more than " + size(float64(d.window)), Expected: "at most that (only zstd --long=28 and more make larger ones)"}
	if d.window < mostWindow {
		e.Expected = fmt.Sprintf("at most that in %s of memory (zstd makes a smaller one by --zstd=wlog=…), or raise the limit", size(float64(d.memory)))
		e.Err = dataset.ErrTooLarge
	}
	return e
}

// countingReader counts the bytes read and stores the last error.
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

// ByName returns the encoding that the suffix of a file's name means.
func ByName(path string) Encoding {
	for _, m := range magics {
		if strings.HasSuffix(path, m.suffix) {
			return m.encoding
		}
	}
	return Plain
}

// Writer returns a writer that compresses text. Closing it does not close w. The bytes written are the same on
// any machine.
func Writer(w io.Writer, e Encoding) (io.WriteCloser, error) {
	if e == Gzip {
		return gzip.NewWriter(w), nil
	}
	if other, ok := unread[e]; ok {
		return nil, fmt.Errorf("found a name that asks for compression by %s, expected one that ends in .gz or .zst, or in neither", other[0])
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
}
