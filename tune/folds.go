// Package tune chooses hyperparameters on validation data and measures what was
// chosen on test data, fold by fold, as LETOR prescribes.
//
// Start reading at [Run]; folds.go finds the data. The package must not know how
// any method learns.
package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
)

// Fold is one division of a data set: learn on Train, choose on Valid, measure
// on Test.
type Fold struct {
	Name               string // "Fold1"
	Train, Valid, Test *dataset.Dataset
}

// LayoutError tells that a folder does not hold folds.
type LayoutError struct{ Dir, Problem string }

func (e *LayoutError) Error() string {
	return fmt.Sprintf("%s: %s; expected Fold1, Fold2, … each with train.txt, vali.txt and test.txt", e.Dir, e.Problem)
}

// ReadFolds reads Fold1 … FoldK of a folder in LETOR's layout. The files may be
// compressed (.gz, .zst) or binary caches (.lwd); vali may also be called valid.
// All get the same number of features, the largest found.
func ReadFolds(dir string, opts dataset.Options) ([]Fold, error) {
	names, err := foldNames(dir)
	if err != nil {
		return nil, err
	}
	folds := make([]Fold, len(names))
	sets := make([]*dataset.Dataset, 3*len(names))
	paths := make([]string, len(sets))
	for i, name := range names {
		for j, parts := range [][]string{{"train"}, {"vali", "valid", "validation"}, {"test"}} {
			if paths[3*i+j], err = partPath(filepath.Join(dir, name), parts); err != nil {
				return nil, err
			}
		}
	}
	errs := make([]error, len(sets))
	parallel.For(len(sets), 0, func(_, i int) {
		o := opts
		o.Workers = 1
		sets[i], errs[i] = dataset.Open(paths[i], o)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	widest := 0
	for _, d := range sets {
		widest = max(widest, d.Features)
	}
	opts.Features = widest
	for i, d := range sets {
		if d.Features == widest {
			continue
		}
		if sets[i], err = dataset.Open(paths[i], opts); err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		folds[i] = Fold{Name: name, Train: sets[3*i], Valid: sets[3*i+1], Test: sets[3*i+2]}
	}
	return folds, nil
}

// foldNames returns the folders Fold1 … FoldK of dir in order.
func foldNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "Fold")
		if n, err := strconv.Atoi(rest); ok && err == nil && e.IsDir() {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil, &LayoutError{dir, "found no folder Fold1"}
	}
	slices.Sort(numbers)
	names := make([]string, len(numbers))
	for i, n := range numbers {
		if n != i+1 {
			return nil, &LayoutError{dir, fmt.Sprintf("found Fold%d but no Fold%d", n, i+1)}
		}
		names[i] = "Fold" + strconv.Itoa(n)
	}
	return names, nil
}

// partPath finds the file of one part under the first of its names that exists.
func partPath(dir string, names []string) (string, error) {
	for _, name := range names {
		for _, ext := range []string{".lwd", ".txt", ".txt.gz", ".txt.zst"} {
			path := filepath.Join(dir, name+ext)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			} else if !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	return "", &LayoutError{dir, "found no " + names[0] + ".txt"}
}
