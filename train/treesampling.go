package train

import (
	"math"

	"github.com/listwise/listwise/internal/random"
)

// bag returns the documents of the queries that teach a tree, nil for all.
func (r *treeRounds) bag(round string) []uint32 {
	n := max(1, int(math.Round(r.QueryFraction*float64(len(r.queries)))))
	if n == len(r.queries) {
		return nil
	}
	in := make([]bool, len(r.queries))
	for _, q := range random.Stream(r.seed, "queries of a tree", round).Perm(len(r.queries))[:n] {
		in[q] = true
	}
	var rows []uint32
	row := uint32(0)
	for q := range r.data.Queries {
		docs := uint32(r.data.Queries[q].Len())
		for i := range docs {
			if in[q] {
				rows = append(rows, row+i)
			}
		}
		row += docs
	}
	return rows
}

// barred returns the features that a tree has no splits by, nil for none.
func (r *treeRounds) barred(round string) []bool {
	features := r.data.Features
	n := max(1, int(math.Round(r.FeatureFraction*float64(features))))
	if n == features {
		return nil
	}
	barred := make([]bool, features)
	for _, f := range random.Stream(r.seed, "features of a tree", round).Perm(features)[n:] {
		barred[f] = true
	}
	return barred
}
