package app

import (
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/tune"
)

// details are the results of compare, tune and auto that only functions return: the values of each
// query and, for each measure, the tests of differences.
type details struct {
	Queries  []string       `json:"queries"`
	Folds    []string       `json:"folds,omitempty"` // fold of each query; nil without folds
	Values   []valuesJSON   `json:"values"`
	Compared []comparedJSON `json:"compared"` // by measure
}

// valuesJSON contains the values of a measure for one run of a system. A query that does not count has
// null.
type valuesJSON struct {
	Measure string `json:"measure"`
	System  string `json:"system"`
	Run     int    `json:"run"` // from 1
	Values  []any  `json:"values"`
}

// The tests of tune and auto take fewer draws than compare's defaults, since they are only a summary.
const summaryPermutations, summaryResamples = 10_000, 2_000

// detail adds the values of the systems' runs by a measure and their comparison, which is nil if fewer
// than two queries count.
func (c *comparison) detail(d *details, m measure.Measure, compared *stats.Comparison) {
	d.Queries = c.systems[0].runs[0].result.Queries()
	one := measured{name: m.Name(), deviations: c.deviations(m), Comparison: compared}
	if compared == nil {
		one.Comparison = new(stats.Comparison)
	}
	for _, s := range c.systems {
		for k, r := range s.runs {
			values := mapped(r.result.PerQuery(m), number)
			d.Values = append(d.Values, valuesJSON{m.Name(), s.name, k + 1, values})
		}
		if compared == nil {
			one.Systems = append(one.Systems, stats.System{Mean: s.runs[0].result.Mean(m), Interval: stats.Unbounded})
		}
	}
	d.Compared = append(d.Compared, c.measuredJSON(&one))
}

// ofFolds adds the values of systems with one run on each fold. results[i][k] is the result of system
// i on fold k, and compared has the comparison of the systems by each measure, or nil.
func (d *details) ofFolds(names, folds []string, results [][]*measure.Result, compared []*stats.Comparison) {
	c := new(comparison)
	for i, name := range names {
		c.systems = append(c.systems, &contestant{name: name, runs: []run{{result: measure.Pool(results[i]...)}}})
	}
	if len(folds) > 1 {
		for k, fold := range folds {
			for range results[0][k].Queries() {
				d.Folds = append(d.Folds, fold)
			}
		}
	}
	for i, m := range c.systems[0].runs[0].result.Measures() {
		c.detail(d, m, compared[i])
	}
}

// ofTuning adds the results of tune.
func (d *details) ofTuning(r *tune.Result, seed uint64) error {
	var names []string
	var results [][]*measure.Result
	for i := range r.Rows {
		names = append(names, r.Rows[i].Entry.Name)
		results = append(results, mapped(r.Rows[i].Folds, func(f tune.FoldResult) *measure.Result { return f.Test }))
	}
	first, err := r.Rows[0].Pooled()
	if err != nil {
		return err
	}
	compared := make([]*stats.Comparison, len(first.Measures()))
	for i, m := range first.Measures() {
		config := stats.Config{Baseline: -1, Permutations: summaryPermutations, Resamples: summaryResamples, Seed: seed}
		switch {
		case first.Counted(m) < 2:
		case len(r.Rows) == 1:
			compared[i], err = single(first, m, config)
		default:
			compared[i], err = r.Compare(m, config)
		}
		if err != nil {
			return err
		}
	}
	folds := mapped(r.Rows[0].Folds, func(f tune.FoldResult) string { return f.Fold })
	d.ofFolds(names, folds, results, compared)
	return nil
}

// single returns the mean of one system with its interval, and no pairs.
func single(r *measure.Result, m measure.Measure, config stats.Config) (*stats.Comparison, error) {
	whole := slicing.Slice{Queries: make([]int, len(r.Queries()))}
	for q := range whole.Queries {
		whole.Queries[q] = q
	}
	mean, err := whole.Of(r.PerQuery(m), r.Weights(), config)
	return &stats.Comparison{Queries: mean.Counted, Systems: []stats.System{{Mean: mean.Mean, Interval: mean.Interval}}}, err
}
