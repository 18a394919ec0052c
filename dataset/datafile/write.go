package datafile

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/cache"
	"github.com/listwise/listwise/dataset/letor"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/compress"
)

// IsCache reports whether Write would write a cache under this name: those
// end in .lwd.
func IsCache(path string) bool { return strings.HasSuffix(path, ".lwd") }

// Write writes the data set in the format that the end of the name asks for:
// .lwd means a cache, .gz and .zst compressed text, anything else text, for which
// the options hold; Observe holds for all. The file appears when it is complete.
// [Open] reads it.
func Write(path string, d *dataset.Dataset, opts letor.Options) error {
	if IsCache(path) {
		return cache.WriteObserved(path, d, opts.Observe)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		kind := compress.ByName(path)
		if kind == compress.Plain {
			return letor.Write(w, d, opts)
		}
		z, err := compress.Writer(w, kind)
		if err != nil {
			return err
		}
		return writeThrough(z, d, opts)
	})
}

// writeThrough writes text to a compressor and closes it.
func writeThrough(z io.WriteCloser, d *dataset.Dataset, opts letor.Options) error {
	w := bufio.NewWriterSize(z, 1<<16)
	err := letor.Write(w, d, opts)
	if err == nil {
		err = w.Flush()
	}
	return errors.Join(err, z.Close())
}
