package parquet

import (
	"bytes"

	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
)

// written returns a data set as a file, in row groups of so many rows, the usual number if 0.
func written(t rapid.TB, d *dataset.Dataset, group int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := newWriter(&b, stream.ContentsOf(d), format.Uncompressed)
	if err != nil {
		t.Fatal(err)
	}
	if group > 0 {
		w.group = group
	}
	if err := stream.Write(w, d, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readBytes reads a file.
func readBytes(data []byte, opts dataset.Options) (*dataset.Dataset, error) {
	in, err := input.Hold(bytes.NewReader(data), "f.parquet", opts, nil)
	if err != nil {
		return nil, err
	}
	return Read(in, opts)
}
