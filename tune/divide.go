package tune

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
)

// HeldOut is the number of parts into which [Divide] divides data for a single fold. One of the
// parts is the validation data.
const HeldOut = 5

// Divide makes folds without test data from one data set. It divides the queries at random by the
// seed. With several folds, every query is a validation query in exactly one fold. With one fold, a
// fifth of the queries are validation queries.
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

// HoldOut divides the queries of a data set at random, by the seed, into the given number of parts.
// It returns part number part, counted from 1, for validation, and all other queries for training.
// The folds of [Divide] are such divisions.
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

// without returns the queries of all parts except part k, in the order of d, and the queries of
// part k.
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
