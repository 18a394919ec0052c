package app

import (
	"github.com/listwise/listwise/eval/measure"
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
			mean := measure.Mean(mapped(s.runs, func(r run) float64 { return r.result.Mean(m) }))
			one.Systems = append(one.Systems, stats.System{Mean: mean, Interval: stats.Unbounded})
		}
	}
	d.Compared = append(d.Compared, c.measuredJSON(&one))
}

// ofFolds adds the values of systems on each fold. results[i][r][k] is the result of run r of system i on
// fold k, and compared has the comparison of the systems by each measure, or nil.
func (d *details) ofFolds(names, folds []string, results [][][]*measure.Result, compared []*stats.Comparison) {
	c := new(comparison)
	for i, name := range names {
		c.systems = append(c.systems, &contestant{name: name, runs: mapped(results[i], func(folds []*measure.Result) run { return run{result: measure.Pool(folds...)} })})
	}
	if len(folds) > 1 {
		for k, fold := range folds {
			for range results[0][0][k].Queries() {
				d.Folds = append(d.Folds, fold)
			}
		}
	}
	for i, m := range c.systems[0].runs[0].result.Measures() {
		c.detail(d, m, compared[i])
	}
}

// ofTuning adds the results of tune, one for each random seed.
func (d *details) ofTuning(tuned []*tune.Result, seed uint64) error {
	var names []string
	results := make([][][]*measure.Result, len(tuned[0].Rows))
	pooled := make([][]*measure.Result, len(tuned[0].Rows))
	for i := range tuned[0].Rows {
		names = append(names, tuned[0].Rows[i].Entry.Name)
		for _, r := range tuned {
			results[i] = append(results[i], mapped(r.Rows[i].Folds, func(f tune.FoldResult) *measure.Result { return f.Test }))
			all, err := r.Rows[i].Pooled()
			if err != nil {
				return err
			}
			pooled[i] = append(pooled[i], all)
		}
	}
	first := pooled[0][0]
	compared := make([]*stats.Comparison, len(first.Measures()))
	for i, m := range first.Measures() {
		if first.Counted(m) < 2 {
			continue
		}
		systems := pooled
		if len(systems) == 1 {
			systems = [][]*measure.Result{pooled[0], pooled[0]} // for its interval
		}
		var err error
		compared[i], err = measure.CompareRuns(m, stats.Config{Baseline: -1, Permutations: summaryPermutations, Resamples: summaryResamples, Seed: seed}, systems...)
		if err != nil {
			return err
		}
		if len(pooled) == 1 {
			compared[i].Systems, compared[i].Pairs = compared[i].Systems[:1], nil
		}
	}
	folds := mapped(tuned[0].Rows[0].Folds, func(f tune.FoldResult) string { return f.Fold })
	d.ofFolds(names, folds, results, compared)
	return nil
}
