package letor

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// Whatever the number of workers, the size of chunks and the compression, a text
// gives the documents that reading it line by line gives.
func TestReadAgreesWithNaiveReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		missing := rapid.SampledFrom([]dataset.Missing{dataset.MissingError, dataset.MissingZero, dataset.MissingMin}).Draw(t, "policy")
		text := datatest.DrawText(t, missing != dataset.MissingError)
		docs, features := datatest.ReadNaively(t, text, missing)
		gz, zst := datatest.Gzip(text), datatest.Zstd(text)
		var first *dataset.Dataset
		for _, workers := range []int{1, 2, 3, 7} {
			for _, chunk := range []int64{1, 7, 64, 1000} {
				for i, data := range [][]byte{[]byte(text), gz, zst} {
					if i > 0 && chunk != 7 {
						continue // decompressors take long to set up
					}
					d, err := readCut(bytes.NewReader(data), "f", dataset.Options{Missing: missing, Workers: workers}, chunk, 0)
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first = d
						datatest.CheckAgainst(t, d, docs, features)
					}
					if diff := datatest.Same(first, d); diff != "" {
						t.Fatalf("%d workers, chunks of %d bytes: %s", workers, chunk, diff)
					}
				}
			}
		}
	})
}

// Whatever the number of workers and the size of chunks, the first wrong line is
// reported.
func TestFirstErrorIsReported(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for i := range rapid.IntRange(2, 40).Draw(t, "lines") {
			lines = append(lines, fmt.Sprintf("1 qid:%d 1:0.5 2:3", i/5))
		}
		bad := rapid.SliceOfNDistinct(rapid.IntRange(0, len(lines)-1), 1, min(4, len(lines)), rapid.ID[int]).Draw(t, "bad")
		for _, i := range bad {
			lines[i] = rapid.SampledFrom([]string{"x", "1 qid:1 2:1 1:1", "1 qid:1 999999999:1", "1 1:1", "1 qid:1 3:inf"}).Draw(t, "wrong")
		}
		want := fmt.Sprintf("f:%d: found ", slices.Min(bad)+1)
		text := strings.Join(lines, "\n")
		gz := datatest.Gzip(text)
		var first string
		for _, workers := range []int{1, 2, 3, 7} {
			for _, chunk := range []int64{1, 20, 100, 1000} {
				for _, data := range [][]byte{[]byte(text), gz} {
					_, err := readCut(bytes.NewReader(data), "f", dataset.Options{Workers: workers}, chunk, 0)
					if err == nil || !strings.HasPrefix(err.Error(), want) {
						t.Fatalf("error is %v, want %s…", err, want)
					}
					if first == "" {
						first = err.Error()
					}
					if err.Error() != first {
						t.Fatalf("%d workers, chunks of %d bytes: %v, before: %s", workers, chunk, err, first)
					}
				}
			}
		}
	})
}
