package datafile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/letor"
)

// Some folds are written as a whole, from memory. Data with weights, which text cannot represent, become caches:
// train.lwd, vali.lwd and test.lwd. Tables, whose ids may not be valid in text, become tables of the same kind.

// wholeEnding returns the ending of the names of such files, or "" if lines are copied.
func wholeEnding(path string, weighted bool) string {
	switch {
	case weighted:
		return ".lwd"
	case IsTable(path):
		return byName(path).endings[0]
	}
	return ""
}

// withEnding is the name of a fold's file with an ending, "" for its own.
func withEnding(part, ending string) string {
	if ending == "" {
		return part
	}
	return strings.TrimSuffix(part, ".txt") + ending
}

// foldWhole writes the folds of a file whose queries have these parts.
func foldWhole(dir, path string, part map[string]int, division dataset.Division, ending string, opts dataset.Options, observe FoldObserver) (folds []FoldSize, err error) {
	d, err := Open(path, anyText(path, opts, nil))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	parts := make([][]int, division.Parts())
	for i := range d.Queries {
		p, ok := part[d.Queries[i].ID]
		if !ok {
			return nil, dataset.ErrChanged
		}
		parts[p] = append(parts[p], i)
	}
	return writeWhole(dir, d, parts, division, ending, opts, observe)
}

// rotateWhole writes the folds of parts that are files.
func rotateWhole(dir string, paths []string, division dataset.Division, ending string, opts dataset.Options, observe FoldObserver) (folds []FoldSize, err error) {
	var sets []*dataset.Dataset
	for _, path := range paths {
		d, err := Open(path, anyText(path, opts, nil))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		sets = append(sets, d)
	}
	all, err := dataset.Concat(sets...)
	if err != nil {
		return nil, err
	}
	parts, at := make([][]int, len(sets)), 0
	for p, d := range sets {
		for range d.Queries {
			parts[p] = append(parts[p], at)
			at++
		}
	}
	return writeWhole(dir, all, parts, division, ending, opts, observe)
}

// writeWhole writes the folds of parts of the queries of d.
func writeWhole(dir string, d *dataset.Dataset, parts [][]int, division dataset.Division, ending string, opts dataset.Options, observe FoldObserver) ([]FoldSize, error) {
	folds := make([]FoldSize, division.Folds())
	var done int64
	for f, fold := range division.Rotate(parts) {
		name := foldDir(dir, f)
		if err := os.MkdirAll(name, 0o777); err != nil {
			return nil, err
		}
		for i, file := range []struct {
			queries []int
			size    *Size
		}{{fold.Train, &folds[f].Train}, {fold.Vali, &folds[f].Vali}, {fold.Test, &folds[f].Test}} {
			if err := input.Context(opts).Err(); err != nil {
				return nil, err
			}
			own := d.Subset(file.queries)
			if err := Write(filepath.Join(name, withEnding(foldParts[i], ending)), own, letor.Options{}); err != nil {
				return nil, err
			}
			*file.size = Size{len(own.Queries), own.Docs()}
			done += int64(own.Docs())
			observe.call("writing the folds, documents", done, int64(len(folds)*d.Docs()))
		}
	}
	return folds, nil
}
