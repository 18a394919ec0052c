package tune

import (
	"path/filepath"

	"github.com/listwise/listwise/dataset"
)

// onlyFold is the name of a fold without a folder of its own.
const onlyFold = "Fold1"

// partNames are the names that the files of a fold's parts may have, without endings.
var partNames = [3][]string{{"train"}, {"vali", "valid", "validation"}, {"test"}}

// Files are the files of one fold; Test may be empty.
type Files struct{ Train, Valid, Test string }

// ReadFiles reads one fold, called Fold1, from files of any format. All parts get the same number of
// features, the largest found. Without a test file the validation data replace it, see [Fold.Tested].
func ReadFiles(files Files, opts dataset.Options) ([]Fold, error) {
	return readFiles(files, opener(opts))
}

// readFiles is ReadFiles with a function that opens files.
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

// ReadParts reads files of any format, all with the same number of features, the largest found.
func ReadParts(paths []string, opts dataset.Options) ([]*dataset.Dataset, error) {
	sets := make([]*dataset.Dataset, len(paths))
	return sets, openAll(sets, paths, opts)
}

// flat returns the files of a folder that is a single fold.
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

// FilesOf returns the files of the folds of a folder, as ReadFolds reads them.
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
