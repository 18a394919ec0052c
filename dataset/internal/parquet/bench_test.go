package parquet

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// benchFile returns a file of the library's writer: 120,000 documents of 136 features, half of them
// of few different values, in pages of 256 kB, or as places in dictionaries.
func benchFile(b *testing.B, codec compress.Codec, dictionary bool) []byte {
	b.Helper()
	const docs, features = 120_000, 136
	group := parquet.Group{"query": parquet.Encoded(parquet.String(), &parquet.RLEDictionary), "grade": parquet.Leaf(parquet.DoubleType), "doc": parquet.String()}
	node := parquet.Optional(parquet.Leaf(parquet.FloatType))
	for j := range features {
		if group[name(j)] = node; dictionary && j%2 == 1 {
			group[name(j)] = parquet.Encoded(node, &parquet.RLEDictionary)
		}
	}
	schema := parquet.NewSchema("bench", group)
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, schema, parquet.Compression(codec), parquet.DataPageVersion(1))
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([][]parquet.Value, features+3)
	at := func(name string) int {
		leaf, _ := schema.Lookup(name)
		return leaf.ColumnIndex
	}
	add := func(column int, v parquet.Value, level int) {
		values[column] = append(values[column], v.Level(0, level, column))
	}
	for i := range docs {
		add(at("query"), parquet.ByteArrayValue([]byte("q"+strconv.Itoa(i/120))), 0)
		add(at("doc"), parquet.ByteArrayValue([]byte("d"+strconv.Itoa(i))), 0)
		add(at("grade"), parquet.DoubleValue(float64(rng.IntN(5))), 0)
		for j := range features {
			v := float32(rng.NormFloat64())
			if j%2 == 1 {
				v = float32(rng.IntN(1000)) / 1000
			}
			add(at(name(j)), parquet.FloatValue(v), 1)
		}
		if len(values[0]) < 1<<10 && i < docs-1 {
			continue
		}
		for k, c := range w.ColumnWriters() {
			if _, err := c.WriteRowValues(values[k]); err != nil {
				b.Fatal(err)
			}
			values[k] = values[k][:0]
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// name is that of a feature.
func name(j int) string { return "f" + strconv.Itoa(1000+j) }

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // it cannot fail
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkReadRatio compares reading a file into a matrix, by processor time, with the
// library's decoding of all its pages and nothing else (x-pages), and with that and reading their
// values one column after the other (x-values): a plain page is its values, so that decoding it is
// next to nothing. Each is measured in turn with the others.
func BenchmarkReadRatio(b *testing.B) {
	for _, c := range []struct {
		name       string
		codec      compress.Codec
		dictionary bool
	}{{"plain", &parquet.Uncompressed, false}, {"snappy", &parquet.Snappy, false}, {"zstd", &parquet.Zstd, false}, {"dictionary", &parquet.Zstd, true}} {
		b.Run(c.name, func(b *testing.B) {
			data := benchFile(b, c.codec, c.dictionary)
			var ratios, byValues, ours []float64
			for b.Loop() {
				start := processorTime()
				decodePages(b, data, false)
				pages := processorTime() - start
				start = processorTime()
				decodePages(b, data, true)
				values := processorTime() - start
				start = processorTime()
				visitAll(b, data)
				own := processorTime() - start
				ratios, byValues = append(ratios, float64(own)/float64(pages)), append(byValues, float64(own)/float64(values))
				ours = append(ours, float64(4*136*120_000)/1e6/own.Seconds())
			}
			slices.Sort(ratios)
			slices.Sort(byValues)
			slices.Sort(ours)
			b.ReportMetric(ratios[len(ratios)/2], "x-pages")
			b.ReportMetric(byValues[len(byValues)/2], "x-values")
			b.ReportMetric(ours[len(ours)/2], "features-MB/cpu-s")
			b.ReportMetric(float64(len(data))/1e6, "MB")
		})
	}
}

// decodePages has the library decode all pages and, if values is set, read the values in them.
func decodePages(b *testing.B, data []byte, values bool) {
	b.Helper()
	buffer := make([]parquet.Value, 4096)
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		b.Fatal(err)
	}
	for _, g := range f.RowGroups() {
		for _, c := range g.ColumnChunks() {
			pages := c.Pages()
			for {
				page, err := pages.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				if values {
					readValues(b, page, buffer)
				}
				parquet.Release(page)
			}
			_ = pages.Close()
		}
	}
}

// readValues reads the values of a page.
func readValues(b *testing.B, page parquet.Page, values []parquet.Value) {
	b.Helper()
	r := page.Values()
	var err error
	for err == nil {
		_, err = r.ReadValues(values)
	}
	if !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
}

// visitAll surveys and visits a file's documents, as conversion does.
func visitAll(b *testing.B, data []byte) {
	b.Helper()
	opts := dataset.Options{}
	src, err := Stream(&input.Input{R: bytes.NewReader(data), Size: int64(len(data)), Name: "f", Mem: memory.New("f", opts)}, opts)
	if err != nil {
		b.Fatal(err)
	}
	shape, err := src.Survey(func([]stream.Run) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	docs := 0
	err = src.Each(shape.Features, func(p *stream.Batch) error { docs += len(p.Grades); return nil })
	if err != nil || docs != 120_000 {
		b.Fatal(docs, err)
	}
}
