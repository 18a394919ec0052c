package datafile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/atomicfile"
)

// TextOptions are options for writing text. All fields are optional:
//
//   - Sparse omits features that are 0 from LETOR text.
//   - Observe, a func(done, total int), is called after every query with the number of queries written and the
//     total.
//   - MaxBytes limits the memory of writers of other formats, in bytes. They use a temporary file beyond it.
type TextOptions = letor.WriteOptions

// WriteText writes the data set as LETOR text.
func WriteText(w io.Writer, d *dataset.Dataset, opts TextOptions) error {
	return letor.Write(w, d, opts)
}

// WriteScores writes scores, one per line. [ReadScores] reads them.
func WriteScores(w io.Writer, scores []float64) error { return letor.WriteScores(w, scores) }

// WriteCache writes a cache to a file of any name.
func WriteCache(path string, d *dataset.Dataset) error { return cache.Write(path, d) }

// IsCache reports whether Write would write a cache under this name, which ends in .lwd.
func IsCache(path string) bool { return strings.HasSuffix(path, ".lwd") }

// Write writes the data set in the format that the ending of the name selects. .lwd is a cache. .csv, .tsv,
// .jsonl and .parquet are tables. Any other ending means LETOR text. opts.Sparse applies to LETOR text alone,
// opts.Observe to all formats. After the ending of text, .gz or .zst selects compression. The file appears
// when it is complete. [Open] reads it. Documents without features, such as TREC judgements, are an error,
// because none of these formats can represent them.
func Write(path string, d *dataset.Dataset, opts TextOptions) error {
	if d.Features == 0 {
		return noFeatures(path)
	}
	if IsCache(path) && d.Streamed() {
		return writeStreamed(path, d, opts)
	}
	if IsCache(path) {
		return cache.WriteObserved(path, d, opts.Observe)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return WriteTo(w, path, d, opts) })
}

// writeStreamed writes a cache of documents whose features are read query by query.
func writeStreamed(path string, d *dataset.Dataset, opts TextOptions) error {
	s, err := stream.Survey(stream.File{Source: stream.Of(d), Name: path, Mem: memory.New(path, dataset.Options{})}, false)
	if err != nil {
		return err
	}
	p, err := stream.Join(context.Background(), []*stream.Surveyed{s}, dataset.MissingKeep)
	if err != nil {
		return err
	}
	return cache.WriteStream(path, p, opts.Observe)
}

// WriteTo does the work of [Write] for a stream of text. The ending of the name selects the format and the
// compression.
func WriteTo(w io.Writer, name string, d *dataset.Dataset, opts TextOptions) error {
	if d.Features == 0 {
		return noFeatures(name)
	}
	return compressed(w, name, func(w io.Writer) error {
		t, err := newWriter(w, name, stream.ContentsOf(d), opts)
		if err != nil {
			return err
		}
		return stream.Write(t, d, opts.Observe)
	})
}

// noFeatures returns the error about documents without features.
func noFeatures(out string) error {
	return &dataset.SyntaxError{File: out, Found: "documents without features to write", Expected: "at least one feature: judgements alone have no format but TREC's"}
}

// newWriter returns a writer of text in the format that the ending of a name selects.
func newWriter(w io.Writer, path string, c stream.Contents, opts TextOptions) (stream.Writer, error) {
	if f := byName(path); f != nil && f.write != nil {
		if f.magic != "" && compress.ByName(path) != compress.Plain {
			return nil, fmt.Errorf("%s: found a name that asks for compression, expected one that ends in %s: that is compressed within", path, f.endings[0])
		}
		c.MaxBytes = opts.MaxBytes
		return f.write(w, c)
	}
	return letor.NewWriter(w, c, opts)
}

// IsTable reports whether Write would write a table under this name.
func IsTable(path string) bool {
	f := byName(path)
	return f != nil && f.write != nil
}

// KeepsUnjudged reports whether Write under this name writes documents without a judgement as such: with an empty
// grade. Only tables of text have empty grades.
func KeepsUnjudged(path string) bool {
	f := byName(path)
	return f != nil && f.write != nil && f.magic == ""
}

// compressed has fn write text through the compressor that the ending of a name selects.
func compressed(w io.Writer, name string, fn func(io.Writer) error) error {
	kind := compress.ByName(name)
	if kind == compress.Plain {
		return fn(w)
	}
	z, err := compress.Writer(w, kind)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return errors.Join(through(z, fn), z.Close())
}
