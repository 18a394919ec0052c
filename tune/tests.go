package tune

import (
	"path/filepath"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// ReadTests is ReadFolds for measuring only. It reads only the test data of every fold; the other parts
// need not exist. A folder that holds test itself is one fold.
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
