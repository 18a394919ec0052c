package letor

import (
	"bytes"
	"math"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// fuzzOptions keep what a few bytes of input can ask for small.
var fuzzOptions = dataset.Options{MaxFeature: 200, Workers: 1}

// checkAnyText reads bytes that may be anything. Chunks and workers must not
// matter, and what is read must survive being written.
func checkAnyText(t *testing.T, data []byte, missing dataset.Missing) {
	opts := fuzzOptions
	opts.Missing = missing
	d, err := readFrom(bytes.NewReader(data), "f", opts)
	for _, chunk := range []int64{1, 13} {
		opts.Workers = 2
		again, otherErr := readCut(bytes.NewReader(data), "f", opts, chunk, 0)
		if (err == nil) != (otherErr == nil) || err != nil && err.Error() != otherErr.Error() {
			t.Fatalf("error is %v, with chunks of %d bytes %v", err, chunk, otherErr)
		}
		if err == nil {
			if diff := datatest.Same(d, again); diff != "" {
				t.Fatalf("with chunks of %d bytes: %s", chunk, diff)
			}
		}
	}
	if err != nil {
		return
	}
	datatest.CheckFinite(t, d)
	for _, g := range d.Grades() {
		if !(g >= 0) || math.IsInf(g, 1) {
			t.Fatalf("grade %v", g)
		}
	}
	var text bytes.Buffer
	if err := Write(&text, d, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := readFrom(&text, "f", fuzzOptions)
	if err != nil {
		t.Fatal(err)
	}
	if diff := datatest.SameDocuments(d, again); diff != "" {
		t.Fatalf("through text: %s", diff)
	}
	cached := throughCache(t, d)
	cached.Warnings = d.Warnings
	if diff := datatest.Same(d, cached); diff != "" {
		t.Fatalf("through the cache: %s", diff)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{
		"2 qid:1 1:0.5 2:1 #docid = a\n", "1 qid:a 1:nan 3:0\n0 qid:b 2:-1e-3\r\n1 qid:a\n", "\ufeff# c\n\n0.5 qid:1 1:0.123456 2:0 3:1.000000 # docid = é",
		"1 qid:1 0:1", "1 qid:1 2:1 1:1", "1 qid:1 999:1", "x", "1 qid: 1:1", "1 qid:1 1:1e39", "1 qid:1 1:", string(datatest.Gzip("1 qid:1 1:2")),
		"1\tqid:1\t1:0.1234567890123 2:12345678\n", "0 qid:1 1:1.\n0 qid:1 1:.5 2:NULL",
	} {
		f.Add([]byte(s), byte(0))
		f.Add([]byte(s), byte(dataset.MissingMin))
	}
	f.Fuzz(func(t *testing.T, data []byte, missing byte) {
		checkAnyText(t, data, dataset.Missing(missing%3))
	})
}

func FuzzCompressed(f *testing.F) {
	const text = "1 qid:1 1:0.5 2:3 # docid = 7\n0 qid:1 1:0.25\n0 qid:2 1:0\n"
	for _, data := range [][]byte{datatest.Gzip(text), datatest.Zstd(text)} {
		f.Add(data)
		f.Add(data[:len(data)-3])
	}
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, magic := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd"} {
			if bytes.HasPrefix(data, []byte(magic)) {
				checkAnyText(t, data, dataset.MissingZero)
			}
		}
	})
}
