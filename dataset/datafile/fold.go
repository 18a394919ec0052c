package datafile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/random"
)

// The files of folds are copies of the source's lines, not of the parsed data. So numbers keep their digits,
// comments and missing values stay, and LETOR's own parts give LETOR's own folds byte for byte. A cache has no
// lines, so its data are formatted as text.

// Size is the size of a part of a fold.
type Size struct {
	Queries   int `json:"queries"`   // number of queries
	Documents int `json:"documents"` // number of their documents
}

func (s Size) plus(t Size) Size { return Size{s.Queries + t.Queries, s.Documents + t.Documents} }

// FoldSize is the size of a fold's three parts.
type FoldSize struct {
	Train Size `json:"train"` // training data
	Vali  Size `json:"vali"`  // validation data
	Test  Size `json:"test"`  // test data
}

// Rotate rotates K part files into K folds; see [dataset.Rotate]. K must be at least [dataset.MinFolds]. Below
// dir, which it creates, it writes train.txt, vali.txt and test.txt in each of the folders Fold1 to FoldK. Data
// with weights become caches (train.lwd). Without weights, if the first part is a table, the files are tables
// of its kind (train.csv).
//
// Parts may have any format that [Open] reads, but must be regular files, because each is read several times.
// Compressed parts are decompressed. Lines of LETOR text are copied. Other formats are read with the options
// and written as LETOR text, unless the files are caches or tables. Every file appears complete or not at all.
//
// Rotate returns the sizes of the folds. It is an error if a query is in two parts. Cancelling ctx stops before
// the next file. If observe is not nil, it is called with the progress.
func Rotate(ctx context.Context, dir string, parts []string, opts dataset.Options, observe FoldObserver) (folds []FoldSize, err error) {
	if err := dataset.CheckFolds(len(parts)); err != nil {
		return nil, err
	}
	return RotateBy(ctx, dir, parts, dataset.LETORDivision(len(parts)), opts, observe)
}

// RotateBy does the work of Rotate with any division of len(parts) parts; see [dataset.Division.Rotate].
func RotateBy(ctx context.Context, dir string, parts []string, division dataset.Division, opts dataset.Options, observe FoldObserver) (folds []FoldSize, err error) {
	opts.Context = ctx
	if err := division.Validate(); err != nil {
		return nil, err
	}
	if len(parts) != division.Parts() {
		return nil, fmt.Errorf("%d parts: expected %d", len(parts), division.Parts())
	}
	defer removeEmpty(dir, division.Folds(), &err)()
	sizes, weighted, err := checkParts(parts, opts, observe)
	if err != nil {
		return nil, err
	}
	if ending := wholeEnding(parts[0], weighted); ending != "" {
		return rotateWhole(dir, parts, division, ending, opts, observe)
	}
	return writeFolds(dir, parts, sizes, division, opts, observe)
}

// Fold divides the queries of a file at random, by the seed, into k parts. It then writes k folds below dir, as
// Rotate does, and returns their sizes. The file must be a regular file, of any format that [Open] reads. All
// documents of a query go to the same part, in their order. Lines without a document are omitted. A file that is
// not LETOR text is read with the options.
func Fold(ctx context.Context, dir, path string, k int, seed uint64, opts dataset.Options, observe FoldObserver) (folds []FoldSize, err error) {
	if err := dataset.CheckFolds(k); err != nil {
		return nil, err
	}
	return Divide(ctx, dir, path, dataset.LETORDivision(k), seed, opts, observe)
}

// Divide does the work of Fold with any division; see [dataset.Division.Rotate].
func Divide(ctx context.Context, dir, path string, division dataset.Division, seed uint64, opts dataset.Options, observe FoldObserver) (folds []FoldSize, err error) {
	opts.Context = ctx
	if err := division.Validate(); err != nil {
		return nil, err
	}
	k := division.Parts()
	defer removeEmpty(dir, division.Folds(), &err)()
	part, sizes, names, weighted, err := assignParts(path, k, seed, opts, observe)
	if err != nil {
		return nil, err
	}
	if ending := wholeEnding(path, weighted); ending != "" {
		return foldWhole(dir, path, part, division, ending, opts, observe)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	docs := 0
	for _, s := range sizes {
		docs += s.Documents
	}
	scratch, remove, err := atomicfile.Folder(dir)
	if err != nil {
		return nil, err
	}
	defer remove()
	parts := make([]string, k)
	for p := range parts {
		parts[p] = filepath.Join(scratch, fmt.Sprintf("S%d.txt", p+1))
	}
	observe.call("dividing "+path, 0, 0)
	if err := splitFile(path, part, names, docs, parts, opts); err != nil {
		return nil, err
	}
	return writeFolds(dir, parts, sizes, division, opts, observe)
}

// FoldObserver is called with the progress of a stage. The unit is bytes, or the unit that the name of the
// stage states. total is 0 if unknown. It may be called from several goroutines.
type FoldObserver func(stage string, done, total int64, bytes bool)

func (o FoldObserver) call(stage string, done, total int64) {
	if o != nil {
		o(stage, done, total, false)
	}
}

// FoldNames returns all names below dir that the files of k folds of path may have.
func FoldNames(dir string, k int, path string) []string {
	endings := []string{"", wholeEnding(path, false), wholeEnding(path, true)}
	var names []string
	for f := range k {
		for _, part := range foldParts {
			for i, ending := range endings {
				if i == 0 || ending != "" {
					names = append(names, filepath.Join(foldDir(dir, f), withEnding(part, ending)))
				}
			}
		}
	}
	return names
}

// foldParts are the names of a fold's files.
var foldParts = [...]string{"train.txt", "vali.txt", "test.txt"}

// foldDir returns the folder of fold f, counted from 0.
func foldDir(dir string, f int) string { return filepath.Join(dir, fmt.Sprintf("Fold%d", f+1)) }

// anyText returns options that accept all valid text. Missing values are copied, not used.
func anyText(path string, opts dataset.Options, observe FoldObserver) dataset.Options {
	opts.Missing = dataset.MissingKeep
	if observe != nil {
		opts.Observe = func(done, total int64) { observe("reading "+path, done, total, true) }
	}
	return opts
}

// assignParts divides the queries of a file. It returns the part of each query id, the sizes of the parts, the
// names of features or nil, and whether some weight is not 1.
func assignParts(path string, k int, seed uint64, opts dataset.Options, observe FoldObserver) (part map[string]int, sizes []Size, names []string, weighted bool, err error) {
	d, err := Open(path, anyText(path, opts, observe))
	if err != nil {
		return nil, nil, nil, false, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if n := len(d.Queries); n < k {
		return nil, nil, nil, false, &dataset.SyntaxError{File: path, Found: fmt.Sprintf("%d queries", n), Expected: fmt.Sprintf("%d or more for as many parts", k)}
	}
	parts, err := dataset.Parts(d, k, random.Stream(seed, "fold", ""))
	if err != nil {
		return nil, nil, nil, false, err
	}
	part = make(map[string]int, len(d.Queries))
	sizes = make([]Size, k)
	for p, queries := range parts {
		for _, i := range queries {
			q := &d.Queries[i]
			part[q.ID] = p
			sizes[p] = sizes[p].plus(Size{1, q.Len()})
		}
	}
	return part, sizes, d.FeatureNames, d.Weighted(), nil
}

// checkParts reads the parts. It returns their sizes and whether some weight is not 1. It is an error if a
// part is invalid, if a query is in two parts, or if names of features differ.
func checkParts(parts []string, opts dataset.Options, observe FoldObserver) (sizes []Size, weighted bool, err error) {
	sizes = make([]Size, len(parts))
	from := make(map[string]string)
	var names []string
	for p, path := range parts {
		if err := input.Context(opts).Err(); err != nil {
			return nil, false, err
		}
		d, err := Open(path, anyText(path, opts, observe))
		if err != nil {
			return nil, false, err
		}
		for i := range d.Queries {
			id := d.Queries[i].ID
			if other, ok := from[id]; ok {
				err = &dataset.SyntaxError{File: path, Found: fmt.Sprintf("query %q, which is in %s too", id, other), Expected: "every query in one part"}
				break
			}
			from[id] = path
		}
		if p > 0 && err == nil && !slices.Equal(d.FeatureNames, names) {
			err = &dataset.SyntaxError{File: path, Found: "other names of features than in " + parts[0], Expected: "the same in all parts"}
		}
		names = d.FeatureNames
		sizes[p], weighted = Size{len(d.Queries), d.Docs()}, weighted || d.Weighted()
		if err := errors.Join(err, d.Close()); err != nil {
			return nil, false, err
		}
	}
	return sizes, weighted, nil
}

// removeEmpty returns a function that removes new folders if they are empty and *err is not nil.
func removeEmpty(dir string, k int, err *error) func() {
	var made []string
	for f := range k {
		made = append(made, foldDir(dir, f))
	}
	made = slices.DeleteFunc(append(made, dir), func(path string) bool {
		_, missing := os.Lstat(path)
		return missing == nil
	})
	return func() {
		if *err == nil {
			return
		}
		for _, path := range made {
			_ = os.Remove(path) // fails if the folder is not empty
		}
	}
}

// writeFolds writes the folds of the parts and returns their sizes.
func writeFolds(dir string, parts []string, sizes []Size, division dataset.Division, opts dataset.Options, observe FoldObserver) ([]FoldSize, error) {
	folds := make([]FoldSize, division.Folds())
	var done, total int64 // in documents; each fold contains every part once
	for _, s := range sizes {
		total += int64(len(folds) * s.Documents)
	}
	numbers := make([][]int, len(parts)) // for each part, a list of its number alone
	for p := range numbers {
		numbers[p] = []int{p}
	}
	for f, fold := range division.Rotate(numbers) {
		name := foldDir(dir, f)
		if err := os.MkdirAll(name, 0o777); err != nil {
			return nil, err
		}
		for _, file := range []struct {
			name  string
			parts []int
			size  *Size
		}{
			{foldParts[0], fold.Train, &folds[f].Train},
			{foldParts[1], fold.Vali, &folds[f].Vali},
			{foldParts[2], fold.Test, &folds[f].Test},
		} {
			err := atomicfile.Write(filepath.Join(name, file.name), func(w io.Writer) error {
				for _, p := range file.parts {
					if err := copyText(w, parts[p], opts); err != nil {
						return err
					}
					*file.size = file.size.plus(sizes[p])
					done += int64(sizes[p].Documents)
					observe.call("writing the folds, documents", done, total)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return folds, nil
}

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

// withEnding returns the name of a fold's file with another ending. It returns part if the ending is "".
func withEnding(part, ending string) string {
	if ending == "" {
		return part
	}
	return strings.TrimSuffix(part, ".txt") + ending
}

// foldWhole writes the folds of a file. part has the part of each query id.
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

// rotateWhole writes the folds of part files.
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

// writeWhole writes the folds of d. parts has the indices of each part's queries.
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
			if err := Write(filepath.Join(name, withEnding(foldParts[i], ending)), own, letor.WriteOptions{}); err != nil {
				return nil, err
			}
			*file.size = Size{len(own.Queries), own.Docs()}
			done += int64(own.Docs())
			observe.call("writing the folds, documents", done, int64(len(folds)*d.Docs()))
		}
	}
	return folds, nil
}
