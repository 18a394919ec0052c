package ensemble

import (
	"context"
	"fmt"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/ascent"
	"github.com/listwise/listwise/model/fuse"
)

// Tuning controls how weights are chosen. The zero value chooses them once, by MAP.
type Tuning struct {
	Measure measure.Measure // an Averager; nil means map
	Draws   int             // number of bootstrap samples of the queries; 0 means that the queries themselves are used once
	Seed    uint64

	// Observe, if not nil, is called before every sample with the number of finished samples and
	// the total.
	Observe func(done, total int)
}

// measure returns Measure or, if it is nil, MAP.
func (t Tuning) measure() measure.Measure {
	if t.Measure == nil {
		return measure.MustParse("map", measure.Convention{})
	}
	return t.Measure
}

// tolerance is the gain of the measure below which coordinate ascent stops.
const tolerance = 1e-4

// Weights chooses non-negative weights with sum 1 on validation data. systems has the scores of
// each system. Weights also returns the mean of the measure on the validation data with these
// weights, where tied documents contribute their expected value. It runs coordinate ascent from
// equal weights on each bootstrap sample of the queries, and returns the mean of the resulting
// weights (bagging; Breiman, Machine Learning 24, 1996). So similar systems get similar weights,
// whereas a single ascent on few queries would choose some of these systems by chance. Means use
// the queries' weights. Weights returns an error if all rankings of the data have the same value.
func (t Tuning) Weights(ctx context.Context, r fuse.Rule, valid *dataset.Dataset, systems [][]float64) (weights []float64, value float64, err error) {
	t.Measure = measure.For(t.measure(), valid)
	if _, ok := t.Measure.(measure.Averager); !ok {
		return nil, 0, fmt.Errorf("found the measure %s, expected one that has an expected value under ties (measure.Averager)", t.Measure.Name())
	}
	queries := columns(r, valid, systems)
	weights = make([]float64, len(systems))
	climbs := 0.0
	for draw := range max(1, t.Draws) {
		tell(t.Observe, draw, max(1, t.Draws))
		rng := random.Stream(t.Seed, "fuse", strconv.Itoa(draw))
		data := ascent.NewData(len(systems), t.Measure)
		for i := range queries {
			if t.Draws > 0 {
				i = rng.IntN(len(queries))
			}
			data.AddWeighted(queries[i].grades, queries[i].x, queries[i].weight)
		}
		if data.Queries() == 0 {
			continue
		}
		c := ascent.Climber{NonNegative: true, Tolerance: tolerance, Order: func(_ int, columns []int) {
			rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		}}
		result, err := c.Climb(ctx, data, fuse.Equal(len(systems)))
		if err != nil {
			return nil, 0, err
		}
		for s, w := range result.W {
			weights[s] += w
		}
		climbs++
	}
	if climbs == 0 {
		return nil, 0, measure.CheckVaries(t.Measure, valid)
	}
	for s := range weights {
		weights[s] /= climbs
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	value, _ = ranker.Mean(valid, r.Scores(valid, systems, weights), t.Measure)
	return weights, value, nil
}

// voted is a query with the votes of all systems. A vote is the score that the fusion rule makes of
// a system's score, before weighting. x has one row per document and one column per system.
type voted struct {
	grades []float64
	weight float64
	x      []float32
}

func columns(r fuse.Rule, d *dataset.Dataset, systems [][]float64) []voted {
	var queries []voted
	r.Each(d, systems, func(q *dataset.Query, votes [][]float64) {
		if q.Weight() == 0 {
			return
		}
		v := voted{grades: q.Grades, weight: q.Weight()}
		for i := range q.Len() {
			for s := range votes {
				v.x = append(v.x, float32(votes[s][i]))
			}
		}
		queries = append(queries, v)
	})
	return queries
}
