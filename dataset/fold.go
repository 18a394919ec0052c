package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Fold is a division of a data set's queries for training, validation and test.
type Fold struct {
	Train, Vali, Test []int // indices of the queries, from 0
}

// Parts divides the queries of d at random into k parts whose sizes differ by at
// most one, each in ascending order. It returns an error unless k is from 1 to the number of queries.
func Parts(d *Dataset, k int, rng *rand.Rand) ([][]int, error) {
	n := len(d.Queries)
	if k < 1 || k > n {
		return nil, fmt.Errorf("%d parts of %d queries: expected 1 to %d parts", k, n, n)
	}
	order := rng.Perm(n)
	parts := make([][]int, k)
	for p := range parts {
		parts[p] = order[p*n/k : (p+1)*n/k : (p+1)*n/k]
		slices.Sort(parts[p])
	}
	return parts, nil
}

// MinFolds is the smallest number of parts that Rotate can turn into folds.
const MinFolds = 3

// Division states on how many parts of the data a fold trains, validates and tests, such as 2, 2 and 1 of five
// parts.
type Division struct {
	Train, Vali, Test int // numbers of parts, at least 1; Test divides their sum
}

// LETORDivision returns LETOR's division of k parts: k−2 for training, one for validation and one for test. k
// must be at least [MinFolds].
func LETORDivision(k int) Division { return Division{k - 2, 1, 1} }

// Parts returns the number of parts.
func (d Division) Parts() int { return d.Train + d.Vali + d.Test }

// Folds returns the number of folds. Every part is tested in one of them.
func (d Division) Folds() int { return d.Parts() / d.Test }

// Validate returns an error for a division that cannot test every part once.
func (d Division) Validate() error {
	switch {
	case d.Train < 1 || d.Vali < 1 || d.Test < 1:
		return fmt.Errorf("division %d+%d+%d: expected 1 part or more each to train, validate and test on", d.Train, d.Vali, d.Test)
	case d.Parts()%d.Test != 0:
		return fmt.Errorf("division %d+%d+%d: expected test parts that divide the %d parts, to test each once", d.Train, d.Vali, d.Test, d.Parts())
	}
	return nil
}

// Rotate makes K folds of K parts, as LETOR does for K = 5. Fold f trains on parts f, f+1, …, f+K−3, validates
// on part f+K−2 and tests on part f+K−1, modulo K. Every part is the test part of one fold. A fold's training
// queries are in this order of its parts. K must be at least MinFolds.
func Rotate(parts [][]int) []Fold { return LETORDivision(len(parts)).Rotate(parts) }

// Rotate makes folds of d.Parts() parts. The first fold trains on the first parts, validates on the next parts
// and tests on the last. Every further fold begins d.Test parts later, modulo the number of parts. The queries
// of several parts are in the order of the parts. Rotate panics if the division is invalid or does not fit
// parts.
func (d Division) Rotate(parts [][]int) []Fold {
	if err := d.Validate(); err != nil || d.Parts() != len(parts) {
		panic(fmt.Sprintf("dataset: division %+v of %d parts: %v", d, len(parts), err))
	}
	folds := make([]Fold, d.Folds())
	for f := range folds {
		at := f * d.Test
		next := func(count int) (queries []int) {
			for range count {
				queries = append(queries, parts[at%len(parts)]...)
				at++
			}
			return queries
		}
		folds[f] = Fold{Train: next(d.Train), Vali: next(d.Vali), Test: next(d.Test)}
	}
	return folds
}

// Folds divides the queries of d at random into k parts and rotates them into k folds. It returns an error
// unless k is at least MinFolds and at most the number of queries.
func Folds(d *Dataset, k int, rng *rand.Rand) ([]Fold, error) {
	if err := CheckFolds(k); err != nil {
		return nil, err
	}
	return LETORDivision(k).Divide(d, rng)
}

// Divide divides the queries of data at random into parts and rotates them into folds. It returns an error for
// an invalid division, and for fewer queries than parts.
func (d Division) Divide(data *Dataset, rng *rand.Rand) ([]Fold, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	parts, err := Parts(data, d.Parts(), rng)
	if err != nil {
		return nil, err
	}
	return d.Rotate(parts), nil
}

// CheckFolds returns an error if k is less than MinFolds.
func CheckFolds(k int) error {
	if k < MinFolds {
		return fmt.Errorf("%d folds: expected %d or more, to train, validate and test on different parts", k, MinFolds)
	}
	return nil
}
