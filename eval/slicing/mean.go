package slicing

import (
	"math"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

// Mean is the mean of a measure over the queries of a slice that count, by their weights.
type Mean struct {
	Mean     float64 // NaN if no query counts
	Interval stats.Interval
	Known    bool // there is an interval: two queries count at least, and few are not all equal
	Counted  int
}

// Of returns the mean over the slice. values has an element per query of all data sets, NaN where a
// query does not count. weights has the same length; nil means 1. The interval is as in
// [stats.Compare] with the same Config; its Weights are not used.
func (s *Slice) Of(values, weights []float64, c stats.Config) (Mean, error) {
	own, w := s.pick(values, weights)
	m := Mean{Mean: measure.WeightedMean(own, w), Counted: len(own)}
	if len(own) < 2 {
		return m, nil
	}
	c.Weights = w
	of, err := stats.MeanOf(own, c)
	m.Interval, m.Known = of.Interval, err == nil && of.Interval != stats.Unbounded
	return m, err
}

// pick returns the values of the slice's queries that count, and their weights.
func (s *Slice) pick(values, weights []float64) (own, w []float64) {
	for _, q := range s.Queries {
		if math.IsNaN(values[q]) {
			continue
		}
		own = append(own, values[q])
		if weights != nil {
			w = append(w, weights[q])
		}
	}
	return own, w
}
