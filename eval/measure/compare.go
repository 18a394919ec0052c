package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/eval/stats"
)

// Compare compares systems by a measure, one result for each system, as [CompareRuns] does.
func Compare(m Measure, c stats.Config, systems ...*Result) (*stats.Comparison, error) {
	runs := make([][]*Result, len(systems))
	for i := range systems {
		runs[i] = systems[i : i+1]
	}
	return CompareRuns(m, c, runs...)
}

// CompareRuns compares systems by a measure on the queries that count, as [stats.CompareRuns] does.
// systems[i] contains the results of the runs of system i. The results of several folds are compared
// after [Pool]. The queries are weighted by their weights; c.Weights must be nil. If c.Range is zero, it
// is [RangeOf] the measure.
//
// CompareRuns returns an error if the results are not of the same queries in the same order, with the
// same weights, tie policy and relevance threshold. It also returns an error if a query is in a result
// twice, for example in two pooled folds. Such a query would count twice and make differences look more
// certain than they are. [EvaluateLists] numbers queries from 1 in every call, so pass it the lists of
// all folds at once. A query that counts for one system must count for all.
func CompareRuns(m Measure, c stats.Config, systems ...[]*Result) (*stats.Comparison, error) {
	if c.Weights != nil {
		return nil, errors.New("found weights in the configuration, expected none: the results have the weights of their queries")
	}
	if c.Range == (stats.Interval{}) {
		c.Range = RangeOf(m)
	}
	var first *Result
	runs := make([][][]float64, len(systems))
	for i, results := range systems {
		for r, result := range results {
			if result == nil {
				return nil, fmt.Errorf("system %d, run %d: found no result, expected one", i+1, r+1)
			}
			err := result.has(m)
			if err == nil && first == nil {
				first, err = result, result.eachOnce()
			}
			if err == nil {
				err = first.comparable(result, m)
			}
			if err != nil {
				return nil, fmt.Errorf("system %d, run %d: %w", i+1, r+1, err)
			}
			values, weights := result.countedBy(m)
			runs[i], c.Weights = append(runs[i], values), weights
		}
	}
	if first != nil && first.Counted(m) < 2 {
		of := ""
		if Family(m) != "" {
			of = " under the convention " + ConventionOf(m).Name()
		}
		return nil, fmt.Errorf("found %d queries with a value of %s%s, expected at least two", first.Counted(m), m.Name(), of)
	}
	return stats.CompareRuns(runs, c)
}

// countedBy returns the values of a measure on the queries that count, and the weights of these
// queries, or nil if all are 1.
func (r *Result) countedBy(m Measure) (values, weights []float64) {
	for q, v := range r.PerQuery(m) {
		if math.IsNaN(v) {
			continue
		}
		values = append(values, v)
		if r.weights != nil {
			weights = append(weights, r.weights[q])
		}
	}
	return values, weights
}

// has returns an error if the result has no values of a measure.
func (r *Result) has(m Measure) error {
	if r.find(m) < 0 {
		return r.lacks(m)
	}
	return nil
}

// eachOnce returns an error if a query is in the result twice.
func (r *Result) eachOnce() error {
	at := make(map[string]int, len(r.queries))
	for i, id := range r.queries {
		if other, ok := at[id]; ok {
			return fmt.Errorf("found query %s as query %d and %d, expected each query once", id, other+1, i+1)
		}
		at[id] = i
	}
	return nil
}

// comparable returns an error unless the values of a measure in both results are of the same queries
// and computed alike.
func (r *Result) comparable(other *Result, m Measure) error {
	own, theirs := r.measures[r.find(m)], other.measures[other.find(m)]
	switch {
	case r.ties != other.ties:
		return fmt.Errorf("found ties %s, expected %s as in the first result", other.ties, r.ties)
	case !equal(own, theirs):
		return fmt.Errorf("found %s, expected %s as in the first result", inFull(withChoice(theirs)), inFull(withChoice(own)))
	case len(r.queries) != len(other.queries):
		return fmt.Errorf("found %d queries, expected %d as in the first result", len(other.queries), len(r.queries))
	case r.weights == nil && other.weights != nil || !slices.Equal(r.weights, other.weights):
		return errors.New("found other weights of queries than in the first result, expected the same")
	}
	a, b := r.PerQuery(m), other.PerQuery(m)
	for i, id := range r.queries {
		if other.queries[i] != id {
			return fmt.Errorf("found query %s in place %d, expected query %s as in the first result", other.queries[i], i+1, id)
		}
		if (a[i] == a[i]) != (b[i] == b[i]) {
			return fmt.Errorf("query %s has a value of %s in one result and none in another, expected the same queries to count", id, m.Name())
		}
	}
	return nil
}
