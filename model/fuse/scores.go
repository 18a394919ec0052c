package fuse

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
)

// Equal returns n equal weights with the sum 1.
func Equal(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1 / float64(n)
	}
	return w
}

// Scores returns the fused score of each row of d. systems[s] contains system s's scores. A document
// that no system retrieved gets [dataset.NotRetrieved].
func (r Rule) Scores(d *dataset.Dataset, systems [][]float64, weights []float64) []float64 {
	fused := make([]float64, d.Docs())
	r.Each(d, systems, func(q *dataset.Query, votes [][]float64) {
		Add(fused[q.Start:q.Start+q.Len()], votes, weights)
	})
	for row := range fused {
		if !slices.ContainsFunc(systems, func(s []float64) bool { return !isAbsent(s[row]) }) {
			fused[row] = dataset.NotRetrieved
		}
	}
	return fused
}

// Each calls f with the votes on every query, which are valid during the call. If d has no features,
// its documents come from judgements and runs, so each system may rank only some of them.
func (r Rule) Each(d *dataset.Dataset, systems [][]float64, f func(q *dataset.Query, votes [][]float64)) {
	r.partial = d.Features == 0
	for s, scores := range systems {
		if len(scores) != d.Docs() {
			panic(fmt.Sprintf("fuse: %d scores of system %d for %d documents", len(scores), s, d.Docs()))
		}
	}
	votes := make([][]float64, len(systems))
	for i := range d.Queries {
		q := &d.Queries[i]
		for s, scores := range systems {
			votes[s] = append(votes[s][:0], scores[q.Start:q.Start+q.Len()]...)
		}
		r.Votes(votes)
		f(q, votes)
	}
}
