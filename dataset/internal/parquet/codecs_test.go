package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// frame returns LZ4 as Hadoop writes it: two blocks, the first of two parts.
func frame(t *testing.T, text []byte) []byte {
	t.Helper()
	var out []byte
	third := len(text) / 3
	for i, block := range [][][]byte{{text[:third], text[third : 2*third]}, {text[2*third:]}} {
		size := 2 * third
		if i == 1 {
			size = len(text) - 2*third
		}
		out = binary.BigEndian.AppendUint32(out, uint32(size))
		for _, part := range block {
			packed, err := parquet.Lz4Raw.Encode(nil, part)
			if err != nil {
				t.Fatal(err)
			}
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(packed))), packed...)
		}
	}
	return out
}

// Claim: what another program compresses is read by every codec, and an error if it is longer or shorter than the
// header of its page says, of which no more than that is decompressed.
func TestCodecs(t *testing.T) {
	text := bytes.Repeat([]byte("some text, some more text; "), 4000)
	encode := func(codec interface {
		Encode(dst, src []byte) ([]byte, error)
	}) []byte {
		data, err := codec.Encode(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, test := range []struct {
		name  string
		codec format.CompressionCodec
		data  []byte
	}{
		{"snappy", format.Snappy, encode(&parquet.Snappy)},
		{"gzip", format.Gzip, encode(&parquet.Gzip)},
		{"zstandard", format.Zstd, encode(&parquet.Zstd)},
		{"brotli", format.Brotli, encode(&parquet.Brotli)},
		{"LZ4", format.Lz4Raw, encode(&parquet.Lz4Raw)},
		{"LZ4 of Hadoop", format.Lz4, frame(t, text)},
		{"LZ4 without frames", format.Lz4, encode(&parquet.Lz4Raw)},
	} {
		d := decompressor{buffer: buffer{mem: memory.New("f", dataset.Options{})}}
		for n, ok := range map[int]bool{len(text): true, len(text) - 1: false, len(text) + 1: false, 10: false} {
			out := make([]byte, n, n+spare)
			err := d.decompress(test.codec, test.data, out)
			if (err == nil) != ok || ok && !bytes.Equal(out, text) {
				t.Errorf("%s to %d bytes of %d: %v", test.name, n, len(text), err)
			}
		}
		for n := range 40 { // data that end too soon
			if err := d.decompress(test.codec, test.data[:n], make([]byte, len(text), len(text)+spare)); err == nil {
				t.Errorf("%s: no error about %d bytes of %d", test.name, n, len(test.data))
			}
		}
		d.release()
	}
}

// Claim: the window of brotli is counted.
func TestBrotliIsCounted(t *testing.T) {
	data, err := parquet.Brotli.Encode(nil, []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	d := decompressor{buffer: buffer{mem: memory.New("f", dataset.Options{MaxBytes: 1 << 20})}}
	if err := d.decompress(format.Brotli, data, make([]byte, 4)); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("error %v, expected that it is too large", err)
	}
}
