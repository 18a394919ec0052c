package tune

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// Bounded reads folds as the functions [ReadFolds] and [ReadFiles] do, with a limit on the features
// in memory. If the features of a file would exceed the limit, it streams the file, as
// Options.Stream does. It reads one file after the other, each with all workers. Reading a file may
// take up to half of Options.MaxBytes in addition.
type Bounded struct {
	Options  dataset.Options // how to read the files
	Features int64           // largest memory, in bytes, for the features of all data sets together

	held int64
}

// ReadFolds reads the folds of a folder as the function [ReadFolds] does.
func (b *Bounded) ReadFolds(dir string) ([]Fold, error) { return readFolds(dir, b.openAll) }

// ReadFiles reads a fold from its files as the function [ReadFiles] does.
func (b *Bounded) ReadFiles(files Files) ([]Fold, error) { return readFiles(files, b.openAll) }

// Open reads one file.
func (b *Bounded) Open(path string) (*dataset.Dataset, error) { return b.open(path, b.Options) }

func (b *Bounded) openAll(sets []*dataset.Dataset, paths []string) error {
	observers := observeAll(paths, b.Options.Observe)
	for i, path := range paths {
		o := b.Options
		o.Observe = observers[i]
		var err error
		if sets[i], err = b.open(path, o); err != nil {
			return err
		}
	}
	return widen(sets, b.Options, func(i int, o dataset.Options) (*dataset.Dataset, error) {
		b.held -= heldBytes(sets[i])
		if err := sets[i].Close(); err != nil {
			return nil, err
		}
		return b.open(paths[i], o)
	})
}

// open reads a file into memory if its features fit into the limit. Otherwise it streams the file.
func (b *Bounded) open(path string, o dataset.Options) (*dataset.Dataset, error) {
	rest := b.Features - b.held
	o.Stream, o.Unheld = true, likelyBytes(path) > rest
	if o.MaxBytes = dataset.MemoryLimit(o.MaxBytes); b.Features < o.MaxBytes/2 {
		o.MaxBytes /= 2
	} else {
		o.MaxBytes = max(1, o.MaxBytes-b.held)
	}
	d, err := datafile.Open(path, o)
	if err == nil && heldBytes(d) > rest { // a short text may have many features
		if err = d.Close(); err == nil {
			o.Unheld = true
			d, err = datafile.Open(path, o)
		}
	}
	if err == nil {
		b.held += heldBytes(d)
	}
	return d, err
}

// openInTurn opens the files at paths as sets, one after the other, without streaming. It returns
// an error if their features together exceed Options.MaxBytes. The features of cache files are
// mapped into memory and do not count.
func openInTurn(sets []*dataset.Dataset, paths []string, opts dataset.Options) error {
	observers := observeAll(paths, opts.Observe)
	limit, held := dataset.MemoryLimit(opts.MaxBytes), make([]int64, len(paths))
	open := func(i int, o dataset.Options) (*dataset.Dataset, error) {
		held[i] = 0
		rest := limit
		for _, n := range held {
			rest -= n
		}
		o.Observe, o.MaxBytes = observers[i], max(1, rest)
		d, err := datafile.Open(paths[i], o)
		if err != nil {
			if errors.Is(err, dataset.ErrTooLarge) && rest < limit {
				err = fmt.Errorf("%d files of features that take more than %.4g MiB of memory together: %w", len(paths), float64(limit)/(1<<20), err)
			}
			return nil, err
		}
		if !strings.HasSuffix(paths[i], ".lwd") {
			held[i] = heldBytes(d)
		}
		return d, nil
	}
	for i := range paths {
		var err error
		if sets[i], err = open(i, opts); err != nil {
			return err
		}
	}
	return widen(sets, opts, func(i int, o dataset.Options) (*dataset.Dataset, error) {
		if err := sets[i].Close(); err != nil {
			return nil, err
		}
		return open(i, o)
	})
}

// heldBytes returns the number of bytes of a data set's features in memory.
func heldBytes(d *dataset.Dataset) int64 {
	if d == nil || d.Streamed() {
		return 0
	}
	return 4 * int64(d.Docs()) * int64(d.Features)
}

// likelyBytes estimates, from file sizes, the memory for the features of a file or of a folder of
// shards. It returns 0 if a size is unknown.
func likelyBytes(path string) (bytes int64) {
	info, err := os.Stat(path)
	if err != nil {
		return 0 // opening the file reports the error
	}
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return 0
		}
		for _, e := range entries {
			if i, err := e.Info(); err == nil && !i.IsDir() {
				bytes += i.Size()
			}
		}
		return bytes
	}
	const compressed, packed = 8, 2 // usual upper bounds of the growth of compressed text and of packed numbers
	switch {
	case strings.HasSuffix(path, ".gz"), strings.HasSuffix(path, ".zst"):
		return compressed * info.Size()
	case strings.HasSuffix(path, ".parquet"):
		return packed * info.Size()
	}
	return info.Size()
}
