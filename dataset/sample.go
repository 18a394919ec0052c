package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/random"
)

// SampleQueries returns a function that reports whether a query is in a sample. The sample has about the given
// share of the queries, 0 < share ≤ 1. Membership depends only on the query's id and the seed, so files of one
// query set have the same sample. A sample of a smaller share is a part of the sample of a larger share. The
// function is safe for concurrent use.
func SampleQueries(share float64, seed uint64) func(id string) bool {
	if share >= 1 {
		return func(string) bool { return true }
	}
	least := uint64(math.Ldexp(share, 64))
	return func(id string) bool { return draw(id, seed) < least }
}

// Sampled reports whether the data are a sample that SampleQueries drew with this seed. Another sample with
// the seed would contain more than its share of these queries. Sampled compares the largest draw of the
// queries with its distribution in data that are no sample. It is wrong once in a million data sets.
func (d *Dataset) Sampled(seed uint64) bool {
	largest := uint64(0)
	for i := range d.Queries {
		largest = max(largest, draw(d.Queries[i].ID, seed))
	}
	const once = 1e-6
	chance, u := 1.0, math.Ldexp(float64(largest), -64)
	for range d.Queries {
		if chance *= u; chance < once {
			return true
		}
	}
	return false
}

// draw returns the number that decides whether a query is in a sample.
func draw(id string, seed uint64) uint64 {
	return random.Stream(seed, "sample of queries", id).Uint64()
}

// CheckKept returns a [*SampleError] if a sample has no query, or none with a weight above 0. kept is the
// number of queries in the sample. The argument of is the total number of queries, or 0 if unknown. weights
// are the weights of the queries, or nil if all are 1.
func CheckKept(kept, of int, weights []float64) error {
	switch {
	case kept == 0 && of == 0:
		return &SampleError{"no query in the sample", "one at least"}
	case kept == 0:
		return &SampleError{fmt.Sprintf("none of the %d queries in the sample", of), "one at least"}
	case weights != nil && !slices.ContainsFunc(weights, func(w float64) bool { return w > 0 }):
		return &SampleError{fmt.Sprintf("weights of 0 of the %d queries in the sample", kept), "one at least that is not"}
	}
	return nil
}
