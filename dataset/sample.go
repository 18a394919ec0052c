package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/random"
)

// SampleQueries returns which queries are in a sample of about the given share, 0 < share ≤ 1. A query's id and
// the seed alone decide whether it is in. So other queries do not matter, and files of one query set have the
// same sample. A sample of a smaller share is a part of the sample of a larger share. The function is safe for
// concurrent use.
func SampleQueries(share float64, seed uint64) func(id string) bool {
	if share >= 1 {
		return func(string) bool { return true }
	}
	least := uint64(math.Ldexp(share, 64))
	return func(id string) bool { return draw(id, seed) < least }
}

// Sampled reports whether the data are a sample by a seed of other data. It compares the largest draw of their
// queries with its distribution; it is wrong once in a million data sets. Another sample by that seed would have
// more of them than its share.
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

// draw is what decides whether a query is in a sample.
func draw(id string, seed uint64) uint64 {
	return random.Stream(seed, "sample of queries", id).Uint64()
}

// CheckKept returns a [*SampleError] if a sample of the queries has nothing to learn from: no query, or none
// with a weight above 0. The total number of queries is 0 if it is not known. weights are the queries', or nil
// if all are 1.
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
