package slicing

import (
	"fmt"

	"github.com/listwise/listwise/eval/stats"
)

// Compared contains the results of systems on a slice.
type Compared struct {
	By, Slice string
	None      bool   // the queries have no value for the key
	Queries   int    // number of queries in the slice
	Means     []Mean // one per system

	// Comparison contains the tests. It is nil if fewer than two queries count. The p values are
	// corrected by Holm's procedure over all pairs of systems and all slices of all divisions. MaxT is
	// NaN.
	*stats.Comparison
}

// Compare compares systems on every slice by [stats.CompareRuns]. runs[i][r][q] is the value of run r
// of system i on query q, where q counts the queries of all data sets. The value is NaN in all runs if
// the query does not count. weights has an element per query; nil means 1. Compare ignores c.Weights.
func Compare(runs [][][]float64, weights []float64, divisions []*Division, c stats.Config) ([]Compared, error) {
	var all []Compared
	var tested []*stats.Comparison
	for _, d := range divisions {
		for i := range d.Slices {
			s := &d.Slices[i]
			one := Compared{By: d.By, Slice: s.Name, None: s.None, Queries: len(s.Queries)}
			if err := one.test(s, runs, weights, c); err != nil {
				return nil, fmt.Errorf("%s %s: %w", d.By, s.Name, err)
			}
			if one.Comparison != nil {
				tested = append(tested, one.Comparison)
			}
			all = append(all, one)
		}
	}
	stats.CorrectTogether(tested...)
	return all, nil
}

// test sets the means and the comparison of systems on a slice.
func (o *Compared) test(s *Slice, runs [][][]float64, weights []float64, c stats.Config) (err error) {
	picked, counted := make([][][]float64, len(runs)), 0
	for i, own := range runs {
		for _, v := range own {
			var kept []float64
			kept, c.Weights = s.pick(v, weights)
			picked[i], counted = append(picked[i], kept), len(kept)
		}
	}
	if counted >= 2 && len(runs) >= 2 {
		if o.Comparison, err = stats.CompareRuns(picked, c); err != nil {
			return err
		}
		for _, system := range o.Systems {
			o.Means = append(o.Means, Mean{system.Mean, system.Interval, system.Interval != stats.Unbounded, counted})
		}
		return nil
	}
	for _, own := range runs {
		m, err := s.Of(averages(own), weights, c)
		if err != nil {
			return err
		}
		o.Means = append(o.Means, m)
	}
	return nil
}

// averages returns the mean over runs for each query.
func averages(runs [][]float64) []float64 {
	if len(runs) == 1 {
		return runs[0]
	}
	means := make([]float64, len(runs[0]))
	for _, run := range runs {
		for q, v := range run {
			means[q] += v / float64(len(runs))
		}
	}
	return means
}
