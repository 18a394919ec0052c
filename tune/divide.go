package tune

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
)

// HeldOut is one of how many parts is for validation where there is but one division.
const HeldOut = 5

// Divide makes folds of one data set, whole queries drawn by the seed, without test data: every
// query is for validation in one of the folds; with one fold, every fifth is.
func Divide(d *dataset.Dataset, folds int, seed uint64) ([]Fold, error) {
	if folds < 1 {
		return nil, fmt.Errorf("found %d folds, expected at least 1", folds)
	}
	parts := folds
	if folds == 1 {
		parts = min(HeldOut, len(d.Queries))
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
		f := &divided[k]
		f.Name = fmt.Sprintf("Fold%d", k+1)
		f.Train, f.Valid = without(d, valid, k)
		f.Test = f.Valid
	}
	return divided, nil
}

// HoldOut divides the queries of a data set into parts, whole queries drawn by the seed, and returns
// those of one part, from 1, for validation, and the others to learn from. The folds of Divide are
// such divisions.
func HoldOut(d *dataset.Dataset, part, parts int, seed uint64) (train, valid *dataset.Dataset, err error) {
	if parts < 2 || parts > len(d.Queries) {
		return nil, nil, fmt.Errorf("found %d queries, expected at least %d, one a part", len(d.Queries), max(2, parts))
	}
	if part < 1 || part > parts {
		return nil, nil, fmt.Errorf("found part %d, expected one from 1 to %d", part, parts)
	}
	drawn, err := dataset.Parts(d, parts, random.Stream(seed, "fold", ""))
	if err != nil {
		return nil, nil, err
	}
	train, valid = without(d, drawn, part-1)
	return train, valid, nil
}

// without returns the queries of all parts but one, in their order, and those of this one.
func without(d *dataset.Dataset, parts [][]int, k int) (rest, part *dataset.Dataset) {
	var others []int
	for p, queries := range parts {
		if p != k {
			others = append(others, queries...)
		}
	}
	slices.Sort(others)
	return d.Subset(others), d.Subset(parts[k])
}
