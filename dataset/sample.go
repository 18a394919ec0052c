package dataset

import (
	"fmt"
	"math"
	"slices"
)

// SampleQueries returns which queries are in a sample: about the share of all, 0 < share ≤ 1, by
// a hash of the query's id and the seed alone. So a query is in it or not whatever other queries
// there are, files of one query set have the same sample, and a sample of a smaller share is a
// part of that of a larger. The function is safe for concurrent use.
func SampleQueries(share float64, seed uint64) func(id string) bool {
	if share >= 1 {
		return func(string) bool { return true }
	}
	least := uint64(math.Ldexp(share, 64))
	return func(id string) bool { return sampleHash(id, seed) < least }
}

// CheckKept returns an error if a sample of the queries of so many is nothing to learn from: has
// none of them, or none with a weight above 0. weights are the queries', or nil if all are 1.
func CheckKept(kept, of int, weights []float64) error {
	switch {
	case kept == 0:
		return fmt.Errorf("found none of the %d queries in the sample, expected one at least", of)
	case weights != nil && !slices.ContainsFunc(weights, func(w float64) bool { return w > 0 }):
		return fmt.Errorf("found weights of 0 of the %d queries in the sample, expected one at least that is not", kept)
	}
	return nil
}

// sampleHash is FNV-1a of the id from a start that the seed gives, finished as SplitMix64 is.
func sampleHash(id string, seed uint64) uint64 {
	h := finish(seed + 0x9e3779b97f4a7c15)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return finish(h)
}

func finish(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
