package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/tune"
)

// source has the flags that name the data: a folder with folds, the files of one fold, or one file
// to divide.
type source struct {
	data  string
	files tune.Files
	folds int
}

func (s *source) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&s.data, "data", "", "`folder` with folds, or a file to divide into folds")
	fl.StringVar(&s.files.Train, "train", "", "training data `file`, instead of --data")
	fl.StringVar(&s.files.Valid, "valid", "", "validation data `file`, with --train")
	fl.StringVar(&s.files.Test, "test", "", "test data `file`, with --train")
	addWhole(fl, &s.folds, "folds", 5, 1, "`number` of folds to divide a file into")
}

// require returns an error if the data are named twice or not at all.
func (s *source) require(cmd *cobra.Command) error {
	if s.files == (tune.Files{}) {
		return required(cmd, "data")
	}
	if s.data != "" {
		return usageErrorf("--data %s: expected either it, a folder, or the files --train, --valid and --test", s.data)
	}
	return required(cmd, "train", "valid")
}

func (s *source) isFile() bool { return s.data != "" && exists(s.data) && !isFolder(s.data) }

// read reads the data: the folds, or a single file as whole. left is the memory in bytes that
// remains after the data and the copies that folds make. more is the number of further copies of
// all queries. If the copies do not fit into memory, the data are read query by query.
func (s *source) read(ctx context.Context, env *environment, opts dataset.Options, more int) (folds []tune.Fold, whole *dataset.Dataset, left int64, err error) {
	const data, parts = 3, 4 // data may take three quarters of the memory
	copies := s.copies(more)
	b := &tune.Bounded{Options: opts, Features: max(1, int64(data*float64(opts.MaxBytes)/parts/copies))}
	switch {
	case s.isFile():
		if whole, err = openFolds(ctx, env, b, s.data, func() (*dataset.Dataset, error) { return b.Open(s.data) }); err != nil {
			return nil, nil, 0, inputFault("data", s.data, someData, hintAtMemory(err))
		}
		env.warnings(whole)
		left, err = leftBesideCopies(opts.MaxBytes, copies, whole)
		return nil, whole, left, err
	case s.data != "":
		folds, err = openFolds(ctx, env, b, s.data, func() ([]tune.Fold, error) { return b.ReadFolds(s.data) })
		err = folderFault(s.data, hintAtMemory(err))
	default:
		folds, err = openFolds(ctx, env, b, s.files.Train, func() ([]tune.Fold, error) { return b.ReadFiles(s.files) })
		err = filesFault(s.files, hintAtMemory(err))
	}
	if err != nil {
		return nil, nil, 0, err
	}
	sets := dataOf(folds)
	env.warnings(sets...)
	left, err = leftBesideCopies(opts.MaxBytes, copies, sets...)
	return folds, nil, left, err
}

// inFolds divides a file that was read as a whole into folds.
func (s *source) inFolds(whole *dataset.Dataset, seed uint64) ([]tune.Fold, error) {
	folds, err := tune.Divide(whole, s.folds, seed)
	if err != nil {
		return nil, usageErrorf("--data %s: %w", s.data, err)
	}
	return folds, nil
}

// copies returns the largest number of copies of the data, including the data themselves. more is
// the number of further copies of all queries. In a folder, each fold contains all queries.
func (s *source) copies(more int) float64 {
	if s.isFile() {
		return float64(1 + s.folds + more)
	}
	folds := 1
	if s.data != "" {
		if files, err := tune.FilesOf(s.data); err == nil {
			folds = max(1, len(files))
		}
	}
	return 1 + float64(more)/float64(folds)
}

// leftBesideCopies returns the part of a memory limit that remains after the data, their copies,
// and the state of their queries.
func leftBesideCopies(bytes int64, copies float64, sets ...*dataset.Dataset) (int64, error) {
	held, queries := 0.0, 0
	for _, d := range sets {
		queries += len(d.Queries)
		if d.Streamed() {
			parallel.Spare(readers)
		} else {
			held += float64(copies * float64(featureBytes(d)))
		}
	}
	known := float64(memory.ReadQueryBytes * copies * float64(queries))
	if left := float64(bytes) - held - known; left >= 1 {
		return int64(left), nil
	}
	return 0, hintAtMemory(&dataset.SyntaxError{
		File: "the data", Found: fmt.Sprintf("%d queries, of which what is known, in some %.0f copies, takes %s of memory", queries, copies, memory.Bytes(known)),
		Expected: "less than " + memory.Bytes(float64(bytes)) + ", or raise the limit", Err: dataset.ErrTooLarge,
	})
}
