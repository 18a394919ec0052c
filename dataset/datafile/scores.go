package datafile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/letor"
	"github.com/listwise/listwise/internal/compress"
	"github.com/listwise/listwise/internal/input"
)

// ReadScores reads a file of one finite decimal number a line, the scores of the
// documents of a file in their order; want is how many there should be, or
// negative if any number will do. Blank lines may stand only at the end. The file
// may be compressed as a data set's; "-" is the standard input. Errors in the
// content are of type [*dataset.SyntaxError].
//
// The file is read once, and no further than the first score too many. Of the
// options, Context and MaxBytes count.
func ReadScores(path string, want int, opts dataset.Options) ([]float64, error) {
	if path == "-" {
		return readScores(os.Stdin, "standard input", want, opts)
	}
	f, err := input.Await(input.Context(opts), func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.IsDir() {
		return nil, &dataset.SyntaxError{File: path, Found: "a directory", Expected: "a file"}
	}
	return readScores(f, path, want, opts)
}

// readScores reads scores from a stream.
func readScores(r io.Reader, name string, want int, opts dataset.Options) ([]float64, error) {
	return input.Await(input.Context(opts), func() ([]float64, error) {
		b := bufio.NewReaderSize(r, 1<<16)
		head, err := b.Peek(magicSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if byMagic(head) != nil {
			return nil, &dataset.SyntaxError{File: name, Found: "a binary data set", Expected: "one score a line"}
		}
		return letor.ReadScores(b, compress.Detect(head, name), name, want, opts)
	})
}
