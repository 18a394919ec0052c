package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/tune"
)

// comparison is all that compare found.
type comparison struct {
	systems    []*contestant
	convention measure.Convention
	ties       measure.TiePolicy
	folds      int    // whose test queries were pooled; 0 for one file
	baseline   string // "" for every pair
	seed       uint64
	resamples  int
	divisions  []*slicing.Division // --by; nil without
	measured   []measured
}

// measured is the comparison by one measure.
type measured struct {
	name       string
	weighted   bool               // means are by weights of the queries
	deviations []float64          // standard deviation of each system's means over its runs; NaN for one run
	slices     []slicing.Compared // nil without --by
	*stats.Comparison
}

// measureAll reads the data, and sets the result of every run on all queries, by the measures
// as they are for these data.
func (f *compareFlags) measureAll(ctx context.Context, env *environment, c *comparison, measures []measure.Measure) ([]measure.Measure, error) {
	var paths []string
	for _, s := range c.systems {
		for _, r := range s.runs {
			paths = append(paths, r.path)
		}
	}
	divisions, err := f.read(ctx, env, paths)
	if err != nil {
		return nil, err
	}
	if isFolder(f.data) {
		c.folds = len(divisions)
	}
	if c.convention, measures, err = f.settle(env, c.convention, measures, paths, divisions); err != nil {
		return nil, err
	}
	c.ties = f.tiesOf(c.ties, divisions)
	if c.divisions, err = f.divide(testsOf(divisions), c.convention.Threshold()); err != nil {
		return nil, err
	}
	bar := env.startProgress("measuring, runs", len(paths))
	defer bar.finish()
	next := 0
	for _, s := range c.systems {
		for i := range s.runs {
			bar.set(next, len(paths))
			parts := make([]*measure.Result, len(divisions))
			for k := range divisions {
				if parts[k], err = divisions[k].Evaluate(next, measures, c.ties); err != nil {
					return nil, usageErrorf("%s: %w", s.runs[i].path, err)
				}
			}
			s.runs[i].result = measure.Pool(parts...)
			if c.ties != measure.TiesAverage && s.runs[i].result.TieStats().Over > 0 {
				env.note("%s", tiedSystem(s.runs[i].path, s.runs[i].result.TieStats().Over, tune.Summarise(s.runs[i].result)))
			}
			next++
		}
	}
	return measures, nil
}

// eachOnce refuses folds whose test parts share queries: a query that counts twice
// makes a difference look more certain than it is.
func eachOnce(dir string, folds []tune.Fold) error {
	in := make(map[string]string)
	for _, f := range folds {
		for i := range f.Test.Queries {
			id := f.Test.Queries[i].ID
			if other, ok := in[id]; ok {
				return usageErrorf("%s: found query %s in the test data of %s and %s, expected each query once", dir, id, other, f.Name)
			}
			in[id] = f.Name
		}
	}
	return nil
}

// hintAtFolds adds to the error about a file of a few numbers that they may be means over
// folds.
func hintAtFolds(err error, paths []string, docs int) error {
	syntax, ok := errors.AsType[*dataset.SyntaxError](err)
	if !ok || !slices.Contains(paths, syntax.File) {
		return err
	}
	few, readErr := datafile.ReadScores(syntax.File, -1, dataset.Options{})
	if readErr != nil || len(few) < 2 || len(few) > 10 || len(few) >= docs {
		return err
	}
	return fmt.Errorf("%w; if they are the means of folds: %s", err, noFoldTests)
}

// values returns the values of a measure of every system's runs, on the queries that count, and
// the weights of these, nil if all are 1.
func (c *comparison) values(m measure.Measure) (runs [][][]float64, weights []float64, err error) {
	runs = c.perQuery(m)
	first := c.systems[0].runs[0].result
	for q, w := range first.Weights() {
		if v := first.PerQuery(m)[q]; v == v {
			weights = append(weights, w)
		}
	}
	for _, own := range runs {
		for r := range own {
			// Which queries are left out depends on their grades and weights alone.
			own[r] = slices.DeleteFunc(own[r], math.IsNaN)
		}
	}
	if n := len(runs[0][0]); n < 2 {
		return nil, nil, usageErrorf("--data: found %d queries with a value of %s under the convention %s, expected at least two", n, m.Name(), c.convention.Name())
	}
	return runs, weights, nil
}

// perQuery returns the values of a measure of every system's runs on all queries, NaN on those
// that do not count.
func (c *comparison) perQuery(m measure.Measure) [][][]float64 {
	return mapped(c.systems, func(s *contestant) [][]float64 {
		return mapped(s.runs, func(r run) []float64 { return slices.Clone(r.result.PerQuery(m)) })
	})
}

// deviations returns the standard deviation of each system's mean over its runs.
func (c *comparison) deviations(m measure.Measure) []float64 {
	all := make([]float64, len(c.systems))
	for i, s := range c.systems {
		var mean, squares float64
		n := float64(len(s.runs))
		for _, r := range s.runs {
			mean += r.result.Mean(m) / n
		}
		for _, r := range s.runs {
			d := r.result.Mean(m) - mean
			squares += float64(d * d)
		}
		all[i] = math.NaN()
		if n > 1 {
			all[i] = math.Sqrt(squares / (n - 1))
		}
	}
	return all
}
