package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Fold is one division of a data set's queries, given by their indices.
type Fold struct {
	Train, Vali, Test []int
}

// Parts divides the queries of d at random into k parts whose sizes differ by at
// most one, each in ascending order. There must be at least k queries.
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

// Rotate makes K folds of K parts as LETOR does of its five: fold f trains on
// parts f, f+1, …, f+K−3, validates on part f+K−2 and tests on part f+K−1, counted
// around. Every part is the test part of one fold. A train part lists its parts
// one after the other, each in its own order. K is at least MinFolds.
func Rotate(parts [][]int) []Fold {
	folds := make([]Fold, len(parts))
	for f := range folds {
		train, vali, test := rotation(len(parts), f)
		for _, p := range train {
			folds[f].Train = append(folds[f].Train, parts[p]...)
		}
		folds[f].Vali = slices.Clone(parts[vali])
		folds[f].Test = slices.Clone(parts[test])
	}
	return folds
}

// Folds divides the queries of d at random into k parts and rotates them into k
// folds, k at least MinFolds and at most the number of queries.
func Folds(d *Dataset, k int, rng *rand.Rand) ([]Fold, error) {
	if err := CheckFolds(k); err != nil {
		return nil, err
	}
	parts, err := Parts(d, k, rng)
	if err != nil {
		return nil, err
	}
	return Rotate(parts), nil
}

// CheckFolds returns an error if k is less than MinFolds.
func CheckFolds(k int) error {
	if k < MinFolds {
		return fmt.Errorf("%d folds: expected %d or more, to train, validate and test on different parts", k, MinFolds)
	}
	return nil
}

// rotation returns which of k parts fold f (from 0) trains, validates and tests
// on.
func rotation(k, f int) (train []int, vali, test int) {
	if k < MinFolds {
		panic(fmt.Sprintf("dataset: rotation of %d parts", k))
	}
	for i := range k - 2 {
		train = append(train, (f+i)%k)
	}
	return train, (f + k - 2) % k, (f + k - 1) % k
}
