package slicing

import (
	"math"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

// Mean is the weighted mean of a measure over the queries of a slice that count.
type Mean struct {
	Mean     float64 // NaN if no query counts
	Interval stats.Interval
	Known    bool // Interval is valid: at least two queries count and, if they are few, their values are not all equal
	Counted  int
}

// Of returns the mean over the slice. values has an element per query of all data sets, which is NaN if
// the query does not count. weights has the same length; nil means 1. The interval is that of
// [stats.Compare] with the same Config. Of ignores c.Weights.
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

// pick returns the values and the weights of the slice's queries that count.
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
