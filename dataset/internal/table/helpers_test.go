package table

import (
	"io"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
)

// reader reads an input as a kind of table.
type reader func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error)

func csvReader(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	return ReadCSV(in, opts, ',')
}

// readCut reads a stream in chunks of so many bytes, the usual number if 0.
func readCut(r io.Reader, read reader, opts dataset.Options, chunk int64) (*dataset.Dataset, error) {
	in, err := input.Hold(r, "f", opts, nil)
	if err != nil {
		return nil, err
	}
	in.Chunk = chunk
	return read(in, opts)
}

// checkCuts reads text in one piece, and again in chunks of several sizes, by two workers and
// compressed, which must not matter.
func checkCuts(t *testing.T, text string, read reader, opts dataset.Options) (*dataset.Dataset, error) {
	t.Helper()
	opts.Workers = 1
	d, err := readCut(strings.NewReader(text), read, opts, 0)
	opts.Workers = 2
	for _, chunk := range []int64{1, 7, 40, 0} {
		for _, compressed := range []bool{false, true} {
			data := text
			if compressed {
				data = string(datatest.Gzip(text))
			}
			again, otherErr := readCut(strings.NewReader(data), read, opts, chunk)
			if (err == nil) != (otherErr == nil) || err != nil && err.Error() != otherErr.Error() {
				t.Fatalf("%q: error is %v, with chunks of %d bytes (compressed: %v) %v", text, err, chunk, compressed, otherErr)
			}
			if err == nil {
				if diff := datatest.Same(d, again); diff != "" {
					t.Fatalf("%q with chunks of %d bytes: %s", text, chunk, diff)
				}
			}
		}
	}
	return d, err
}
