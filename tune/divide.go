package tune

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
)

// heldOut is one of how many parts is for validation where there is but one division.
const heldOut = 5

// Divide makes folds of one data set, whole queries drawn by the seed, without test data: every
// query is for validation in one of the folds; with one fold, every fifth is.
func Divide(d *dataset.Dataset, folds int, seed uint64) ([]Fold, error) {
	if folds < 1 {
		return nil, fmt.Errorf("found %d folds, expected at least 1", folds)
	}
	parts := folds
	if folds == 1 {
		parts = min(heldOut, len(d.Queries))
	}
	if parts < 2 || parts > len(d.Queries) {
		return nil, fmt.Errorf("found %d queries, expected at least %d, one a part", len(d.Queries), max(2, parts))
	}
	valid, err := dataset.Parts(d, parts, random.Stream(seed, "fold", ""))
	if err != nil {
		return nil, err
	}
	divided := make([]Fold, folds)
	for k := range divided {
		var rest []int
		for p, queries := range valid {
			if p != k {
				rest = append(rest, queries...)
			}
		}
		slices.Sort(rest)
		f := &divided[k]
		f.Name = fmt.Sprintf("Fold%d", k+1)
		f.Train, f.Valid = d.Subset(rest), d.Subset(valid[k])
		f.Test = f.Valid
	}
	return divided, nil
}
