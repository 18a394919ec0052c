package dataset

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/listwise/listwise/internal/atomicfile"
)

// IsCacheName tells whether WriteFile would write a cache under this name: those
// end in .lwd.
func IsCacheName(path string) bool { return strings.HasSuffix(path, ".lwd") }

// WriteFile writes the data set in the format that the end of the name asks for:
// .lwd means a cache, .gz and .zst compressed text, anything else text, for which
// the options hold; Observe holds for all. The file appears when it is complete. [Open] reads it.
func WriteFile(path string, d *Dataset, opts TextOptions) error {
	if IsCacheName(path) {
		return writeCache(path, d, opts.Observe)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		switch {
		case strings.HasSuffix(path, ".gz"):
			return writeThrough(gzip.NewWriter(w), d, opts)
		case strings.HasSuffix(path, ".zst"):
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) // the same bytes on any machine
			if err != nil {
				return err
			}
			return writeThrough(z, d, opts)
		}
		return WriteText(w, d, opts)
	})
}

// writeThrough writes text to a compressor and closes it.
func writeThrough(z io.WriteCloser, d *Dataset, opts TextOptions) error {
	w := bufio.NewWriterSize(z, 1<<16)
	err := WriteText(w, d, opts)
	if err == nil {
		err = w.Flush()
	}
	return errors.Join(err, z.Close())
}
