package cache

import (
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
)

// openFile reads a file.
func openFile(path string, opts dataset.Options) (d *dataset.Dataset, err error) {
	err = input.With(path, opts, nil, func(in *input.Input) (err error) {
		d, err = Read(in, opts)
		return err
	})
	return d, err
}

// readFrom reads a stream.
func readFrom(r io.Reader, name string, opts dataset.Options) (*dataset.Dataset, error) {
	in, err := input.Hold(r, name, opts, nil)
	if err != nil {
		return nil, err
	}
	return Read(in, opts)
}
