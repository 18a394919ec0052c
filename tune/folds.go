// Package tune chooses hyperparameters on validation data and measures the chosen models on test data,
// fold by fold, as LETOR prescribes.
//
// Start reading at [Run]. A setting is a choice of values for the hyperparameters of a method. An
// entry is a method with the settings to try. A job is one training: of one setting on one fold.
// folds.go finds and reads the data. The package must not depend on how any method learns.
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
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/internal/parallel"
)

// Fold is one division of a data set. Methods learn on Train, package tune chooses settings on
// Valid, and it measures the chosen model on Test.
type Fold struct {
	Name         string           // empty means "Fold1" for the first fold, and so on
	Train, Valid *dataset.Dataset // with the same features
	Test         *dataset.Dataset // nil means Valid
}

// Tested reports whether there are test data. Without test data, Test is Valid. The chosen settings
// are then measured on the data on which they were chosen.
func (f *Fold) Tested() bool { return f.Test != f.Valid }

// LayoutError reports that the folds in a folder are not in LETOR's layout.
type LayoutError struct {
	Dir     string // the folder
	Problem string // what was found in it
}

// Error implements error.
func (e *LayoutError) Error() string {
	return fmt.Sprintf("%s: %s; expected Fold1, Fold2, … each with train.txt, vali.txt and test.txt, or one fold's files themselves", e.Dir, e.Problem)
}

// ReadFolds reads the folders Fold1, Fold2, … in dir, in LETOR's layout. Each contains the files
// train.txt, vali.txt and test.txt. The files may be compressed (train.txt.gz, train.txt.zst) or
// binary caches (train.lwd, which take precedence). vali may also be called valid or validation.
// All data sets get the same number of features, the largest number in any file. If dir itself
// contains train and vali, it is a single fold, called Fold1, and need not contain test. For any
// other layout, ReadFolds returns a *LayoutError.
func ReadFolds(dir string, opts dataset.Options) ([]Fold, error) {
	return readFolds(dir, opener(opts))
}

// opener returns a function that opens files in parallel.
func opener(opts dataset.Options) openFunc {
	return func(sets []*dataset.Dataset, paths []string) error { return openAll(sets, paths, opts) }
}

// openFunc opens the files at paths as sets.
type openFunc func(sets []*dataset.Dataset, paths []string) error

// readFolds implements [ReadFolds]. It opens the files by open.
func readFolds(dir string, open openFunc) ([]Fold, error) {
	if files, ok := flat(dir); ok {
		return readFiles(files, open)
	}
	names, err := foldNames(dir)
	if err != nil {
		return nil, err
	}
	folds := make([]Fold, len(names))
	sets := make([]*dataset.Dataset, 3*len(names))
	paths := make([]string, len(sets))
	for i, name := range names {
		for j, parts := range partNames {
			if paths[3*i+j], err = partPath(filepath.Join(dir, name), parts); err != nil {
				return nil, err
			}
		}
	}
	if err := open(sets, paths); err != nil {
		return nil, err
	}
	for i, name := range names {
		folds[i] = Fold{Name: name, Train: sets[3*i], Valid: sets[3*i+1], Test: sets[3*i+2]}
	}
	return folds, nil
}

// observeAll returns one observer per file. Each call of an observer passes the sums of done and
// total over all files to observe.
func observeAll(paths []string, observe func(done, total int64)) []func(done, total int64) {
	observers := make([]func(done, total int64), len(paths))
	if observe == nil {
		return observers
	}
	var mu sync.Mutex
	done, total := make([]int64, len(paths)), make([]int64, len(paths))
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil {
			total[i] = 2 * info.Size() // an estimate until the total is known
		}
		observers[i] = func(d, t int64) {
			mu.Lock()
			defer mu.Unlock()
			done[i], total[i] = max(done[i], d), t
			var allDone, all int64
			for k := range done {
				allDone, all = allDone+done[k], all+total[k]
			}
			observe(allDone, all)
		}
	}
	return observers
}

// openAll opens the files at paths as sets, such that all data sets have the same features and
// names. It reads small files in parallel, and large files one after the other. If opts.Stream is
// set, it keeps features of up to half of MaxBytes in memory and streams the remaining files.
// Otherwise it returns an error if the features exceed the limit. If several files have errors, it
// returns the error of the first of these files.
func openAll(sets []*dataset.Dataset, paths []string, opts dataset.Options) error {
	likely, most := int64(0), dataset.MemoryLimit(opts.MaxBytes)
	for _, path := range paths {
		likely += likelyBytes(path)
	}
	switch {
	case opts.GradesOnly || likely <= most/4:
	case opts.Stream:
		b := &Bounded{Options: opts, Features: most / 2}
		return b.openAll(sets, paths)
	default:
		return openInTurn(sets, paths, opts)
	}
	errs := make([]error, len(sets))
	observers := observeAll(paths, opts.Observe)
	parallel.For(len(sets), opts.Workers, func(_, i int) {
		o := opts
		o.Workers, o.Observe = 1, observers[i]
		sets[i], errs[i] = datafile.Open(paths[i], o)
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return widen(sets, opts, func(i int, o dataset.Options) (*dataset.Dataset, error) {
		if err := sets[i].Close(); err != nil {
			return nil, err
		}
		return datafile.Open(paths[i], o)
	})
}

// widen makes all data sets have the same features and names. It reads the file of a data set again
// if the data set lacks features or names of another one. again closes data set i and opens its
// file with the options o.
func widen(sets []*dataset.Dataset, opts dataset.Options, again func(i int, o dataset.Options) (*dataset.Dataset, error)) error {
	opts.FeatureNames = allNames(sets)
	for _, d := range sets {
		opts.MinFeatures = max(opts.MinFeatures, d.Features, len(opts.FeatureNames))
	}
	for i, d := range sets {
		if d.Features == opts.MinFeatures && slices.Equal(d.FeatureNames, opts.FeatureNames) {
			continue
		}
		var err error
		if sets[i], err = again(i, opts); err != nil {
			return err
		}
	}
	return nil
}

// allNames returns the names of the features of all data sets, in the order of their first appearance. It
// returns nil if a data set has no names.
func allNames(sets []*dataset.Dataset) []string {
	var names []string
	known := make(map[string]bool)
	for _, d := range sets {
		if d.FeatureNames == nil {
			return nil
		}
		for _, name := range d.FeatureNames {
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// foldNames returns the names Fold1, Fold2, … of the folders in dir, in this order.
func foldNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "Fold")
		n, err := strconv.Atoi(rest)
		if !ok || err != nil || rest != strconv.Itoa(n) {
			continue
		}
		// Folds may be symbolic links to folders.
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
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

// partPath returns the path of a part of a fold, such as the training data. names are the possible
// names of its file without ending, which partPath tries in order.
func partPath(dir string, names []string) (string, error) {
	for _, name := range names {
		if path := filepath.Join(dir, name); datafile.IsSharded(path) {
			return path, nil
		}
		for _, ext := range datafile.Endings() {
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

// onlyFold is the name of a fold that has no folder of its own.
const onlyFold = "Fold1"

// partNames are the possible names of the files of a fold's parts, without endings.
var partNames = [3][]string{{"train"}, {"vali", "valid", "validation"}, {"test"}}

// Files are the paths of one fold's files.
type Files struct {
	Train string // training data
	Valid string // validation data
	Test  string // test data; may be empty
}

// ReadFiles reads one fold, called Fold1, from files of any format. All data sets get the same
// number of features, the largest number in any file. Without a test file, the validation data are
// also the test data, see [Fold.Tested].
func ReadFiles(files Files, opts dataset.Options) ([]Fold, error) {
	return readFiles(files, opener(opts))
}

// readFiles implements [ReadFiles]. It opens the files by open.
func readFiles(files Files, open openFunc) ([]Fold, error) {
	paths := []string{files.Train, files.Valid}
	if files.Test != "" {
		paths = append(paths, files.Test)
	}
	sets := make([]*dataset.Dataset, len(paths))
	if err := open(sets, paths); err != nil {
		return nil, err
	}
	return []Fold{{Name: onlyFold, Train: sets[0], Valid: sets[1], Test: sets[len(sets)-1]}}, nil
}

// ReadParts reads files of any format as data sets with the same number of features, the largest
// number in any file.
func ReadParts(paths []string, opts dataset.Options) ([]*dataset.Dataset, error) {
	sets := make([]*dataset.Dataset, len(paths))
	return sets, openAll(sets, paths, opts)
}

// flat returns the files of a folder that contains the files of a single fold. ok is false for any
// other folder.
func flat(dir string) (files Files, ok bool) {
	if hasFolds(dir) {
		return files, false
	}
	for i, path := range []*string{&files.Train, &files.Valid, &files.Test} {
		found, err := partPath(dir, partNames[i])
		if err != nil && i < 2 {
			return Files{}, false
		}
		*path = found
	}
	return files, true
}

func hasFolds(dir string) bool {
	names, err := foldNames(dir)
	return err == nil && len(names) > 0
}

// FilesOf returns the files that [ReadFolds] reads from a folder.
func FilesOf(dir string) ([]Files, error) {
	if files, ok := flat(dir); ok {
		return []Files{files}, nil
	}
	names, err := foldNames(dir)
	if err != nil {
		return nil, err
	}
	all := make([]Files, len(names))
	for k, name := range names {
		for i, path := range []*string{&all[k].Train, &all[k].Valid, &all[k].Test} {
			if *path, err = partPath(filepath.Join(dir, name), partNames[i]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// ReadTests reads only the test data of every fold. The folder has the layout of [ReadFolds], but
// training and validation data need not exist. If dir itself contains test, it is a single fold.
func ReadTests(dir string, opts dataset.Options) ([]Fold, error) {
	if path, err := partPath(dir, partNames[2]); err == nil && !hasFolds(dir) {
		test, err := datafile.Open(path, opts)
		if err != nil {
			return nil, err
		}
		return []Fold{{Name: onlyFold, Test: test}}, nil
	}
	names, err := foldNames(dir)
	if err != nil {
		return nil, err
	}
	paths, sets := make([]string, len(names)), make([]*dataset.Dataset, len(names))
	for i, name := range names {
		if paths[i], err = partPath(filepath.Join(dir, name), []string{"test"}); err != nil {
			return nil, err
		}
	}
	if err := openAll(sets, paths, opts); err != nil {
		return nil, err
	}
	folds := make([]Fold, len(names))
	for i, name := range names {
		folds[i] = Fold{Name: name, Test: sets[i]}
	}
	return folds, nil
}
