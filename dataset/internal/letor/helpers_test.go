package letor

import (
	"bytes"
	"io"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
)

// The tests read as dataset/datafile does, which builds on this package.

// openFile reads a file.
func openFile(path string, opts dataset.Options) (d *dataset.Dataset, err error) {
	err = input.With(path, opts, look(opts), func(in *input.Input) (err error) {
		d, err = Read(in, opts)
		return err
	})
	return d, err
}

// readFrom reads a stream.
func readFrom(r io.Reader, name string, opts dataset.Options) (*dataset.Dataset, error) {
	return readCut(r, name, opts, 0, 0)
}

// readCut reads a stream in chunks of so many bytes and lines of at most so many, the
// usual numbers if 0.
func readCut(r io.Reader, name string, opts dataset.Options, chunk int64, line int) (*dataset.Dataset, error) {
	in, err := input.Hold(r, name, opts, look(opts))
	if err != nil {
		return nil, err
	}
	in.Chunk, in.Line = chunk, line
	return Read(in, opts)
}

func look(opts dataset.Options) input.Look {
	return func(first []byte, name string) error { return FirstError(first, name, opts) }
}

// readAt reads what is no file but can be read at any place.
func readAt(r io.ReaderAt, size int, name string, opts dataset.Options, chunk int64) (*dataset.Dataset, error) {
	return Read(&input.Input{R: r, Size: int64(size), Name: name, Mem: memory.New(name, opts), Chunk: chunk}, opts)
}

// throughCache returns d written as a cache and read from memory.
func throughCache(t testing.TB, d *dataset.Dataset) *dataset.Dataset {
	t.Helper()
	var b bytes.Buffer
	if err := cache.Encode(&b, d); err != nil {
		t.Fatal(err)
	}
	in, err := input.Hold(&b, "f", dataset.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := cache.Read(in, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return again
}
