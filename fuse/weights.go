package fuse

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/ascent"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/measure"
)

// Equal returns the same weight for each of n systems, their sum being 1.
func Equal(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1 / float64(n)
	}
	return w
}

// Scores returns the fused scores, one a row of d; systems[s] are system s's.
func (r Rule) Scores(d *dataset.Dataset, systems [][]float64, weights []float64) []float64 {
	fused := make([]float64, d.Docs())
	r.each(d, systems, func(q *dataset.Query, votes [][]float64) {
		Add(fused[q.Start:q.Start+q.Len()], votes, weights)
	})
	return fused
}

// each calls f with the votes on every query, which are valid during the call.
func (r Rule) each(d *dataset.Dataset, systems [][]float64, f func(q *dataset.Query, votes [][]float64)) {
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

// Tuning says how weights are chosen.
type Tuning struct {
	Measure  measure.Measure // an Averager; its tie-neutral mean chooses between starts
	Restarts int             // starts from random weights, besides that from equal ones
	Seed     uint64
}

// tolerance is the gain of the measure below which a climb ends.
const tolerance = 1e-4

// Weights chooses weights, none below 0 and summing to 1, by coordinate ascent of
// the measure on validation data, to which systems gave these scores. It returns
// them with the tie-neutral mean of the measure. Data on which no order matters are
// an error.
func (t Tuning) Weights(ctx context.Context, r Rule, valid *dataset.Dataset, systems [][]float64) (weights []float64, value float64, err error) {
	data := t.data(r, valid, systems)
	if data.Queries() == 0 {
		return nil, 0, fmt.Errorf("found no query on which %s depends on the order, expected at least one", t.Measure.Name())
	}
	search := ascent.Exact
	if pairs(valid) > manyPairs {
		search = ascent.Steps
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	consider := func(w []float64) {
		v, _ := ranker.Mean(valid, r.Scores(valid, systems, w), t.Measure)
		if weights == nil || v > value {
			weights, value = slices.Clone(w), v
		}
	}
	consider(Equal(len(systems)))
	for start := range 1 + t.Restarts {
		rng := random.Stream(t.Seed, "fuse", strconv.Itoa(start))
		w := Equal(len(systems))
		for i := range w {
			if start > 0 {
				w[i] = rng.ExpFloat64()
			}
		}
		c := ascent.Climber{Search: search, NonNegative: true, Tolerance: tolerance, Order: func(_ int, columns []int) {
			rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		}}
		result, err := c.Climb(ctx, data, w)
		if err != nil {
			return nil, 0, err
		}
		consider(result.W)
	}
	return weights, value, nil
}

// manyPairs is the number of pairs of documents from which on the exact search would
// take long.
const manyPairs = 4 << 20

func pairs(d *dataset.Dataset) int {
	n := 0
	for i := range d.Queries {
		n += d.Queries[i].Len() * d.Queries[i].Len()
	}
	return n
}

// data has a column of votes for every system.
func (t Tuning) data(r Rule, d *dataset.Dataset, systems [][]float64) *ascent.Data {
	data := ascent.NewData(len(systems), t.Measure)
	var x []float32
	r.each(d, systems, func(q *dataset.Query, votes [][]float64) {
		x = x[:0]
		for i := range q.Len() {
			for s := range votes {
				x = append(x, float32(votes[s][i]))
			}
		}
		data.Add(q.Grades, x)
	})
	return data
}
