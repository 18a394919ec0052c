package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/tune"
)

type compareFlags struct {
	evaluating
	testFlags
	sets    []string // of --data, each [NAME=]PATH
	compact bool
	label   string
	measure string
	seeds   string
	unit    string
}

// compareFormats lists the values of --format: the formats of all commands, and formats for papers.
var compareFormats = []string{"text", "markdown", "latex", "csv", "json"}

const compareHelp = `Evaluates systems on the same queries and tests their differences for significance,
for all pairs, or with --baseline for the pairs with one system.

--data FILE takes models, files of scores (one a line of FILE) and TREC runs as
systems. If FILE has judgements (TREC's qrels, or a list of Quepid or of the Rated
Ranking Evaluator), systems are runs. --data DIR takes folders with Foldk.model.json or
Foldk.scores for every fold k, such as OUT/METHOD of tune; the queries of all test
folds are pooled. NAME= names a system.

Several runs of a stochastic method with different random seeds make one system: a
folder of tune --seeds, or NAME=A,B,C, or --seeds 1,2,3 and {seed} in the path, as in
runs/{seed}/ranknet. Use five runs or more. The tests then generalize over queries and
seeds. A system with one run counts as deterministic. Tests of single runs generalize
over queries only.

Several --data give a paper's table of systems by data set and measure. It has the best
mean of a column in bold, and † or ‡ if a system is significantly better or worse than
--baseline. Holm's correction covers all systems, data sets and measures. The name of
each data set replaces {data} in paths of systems, as in runs/{data}/mle. It is the name
of the file or folder, or NAME=. A model needs no {data}. Every system needs results on
every data set. --compact prints such a table for one data set.

For each measure, means have 95 % bootstrap intervals (BCa; Student's t below 10
queries), cut off at the bounds of the measure. Each pair has
  95 %           interval of the differences that the randomization test does not reject
  t              two-sided paired t-test; with seeds, it includes their variance
  bootstrap      bootstrap-shift test; too optimistic below about 30 queries
  randomization  Fisher's randomization test: flips the signs of the queries' differences
                 --permutations times, or in every way if at most 20 queries differ;
                 with seeds, it includes their error
  Holm           the randomization test's p value, corrected for all pairs (Holm)
  max-T          the same, corrected by the maximum statistic (Westfall and Young)
  d              Cohen's effect size: mean over standard deviation of the differences
  W/T/L          number of queries on which the first is better, equal, worse
  detectable     smallest difference that is detected at level 0.05 with power 0.8
Corrections are for all pairs of one measure. Intervals are not corrected.

With --by, the pairs are also compared on slices of the queries: means, intervals,
differences and randomization tests, with Holm correction for all pairs and slices of
the measure. Confirm what a slice shows on other queries.

` + rerankHelp + `

The unit of all tests is the query. Tests over the means of five folds are refused:
folds share training data, so their means are dependent, and five values are too few.`

func newCompareCommand(env *environment) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare --data [NAME=]FILE|DIR [NAME=]A [NAME=]B…",
		Short: "Test whether systems rank significantly better than others",
		Long:  compareHelp,
		Example: `  listwise compare --data test.txt a.json b.json c.scores
  listwise compare --data judged.qrels --measures map,ndcg_cut_10 bm25.run dense.run
  listwise compare --data OHSUMED --measures map,ndcg@10 runs/ranknet runs/listnet runs/mle
  listwise compare --data OHSUMED --baseline mle runs/mle seeds/ranknet seeds/listnet
  listwise compare --data OHSUMED --baseline mle --seeds 1-5 mle=runs/1/mle runs/{seed}/lambdarank
  listwise compare --data test.txt --by length,relevant a.json b.json
  listwise compare --data OHSUMED --format latex runs/mle runs/listnet > table.tex
  listwise compare --data MQ2008 --data OHSUMED --baseline mle --measures map,ndcg@10 runs/{data}/mle runs/{data}/listnet
  listwise compare --data mq=MQ2008 --data oh=OHSUMED --baseline mle --format latex --label tab:main mle=runs/{data}/mle net=runs/{data}/net > main.tex`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, compareFormats, strings.Join(compareFormats, ", "))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkFlags(cmd, args, env.format); err != nil {
				return err
			}
			return f.run(cmd.Context(), env, args)
		},
	}
	fl := cmd.Flags()
	addList(fl, &f.sets, "data", "[NAME=]FILE", "judged data: a file, or a folder with Fold1 … FoldK; repeatable")
	fl.BoolVar(&f.compact, "compact", false, "one table with daggers, as with several --data; needs --baseline")
	fl.StringVar(&f.label, "label", "", "`label` of the LaTeX table, such as tab:main")
	fl.StringVar(&f.measure, "measure", "map", "`measure` to compare by")
	fl.StringVar(&f.seeds, "seeds", "", "random `seeds` that replace {seed} in paths, such as 1,2,3 or 1-5")
	fl.StringVar(&f.unit, "unit", "query", "`unit` of the tests: query (fold is refused)")
	fl.StringVar(&env.format, "format", "text", "output `format`: text, markdown, latex, csv or json")
	f.evaluating.addTo(cmd, "", "several `measures` to compare by, separated by commas")
	f.reranking.addTo(cmd)
	f.testFlags.addTo(cmd, "every pair")
	return cmd
}

func (f *compareFlags) checkFlags(cmd *cobra.Command, args []string, format string) error {
	switch f.unit {
	case "query":
	case "fold":
		return usageErrorf("--unit fold: %s", noFoldTests)
	default:
		return usageErrorf("--unit %q: expected query", f.unit)
	}
	if err := required(cmd, "data"); err != nil {
		return err
	}
	if len(args) < 2 {
		return needs(cmd, "at least two systems")
	}
	if cmd.Flags().Changed("measure") && cmd.Flags().Changed("measures") {
		return usageErrorf("--measure %s and --measures %s: expected one of them", f.measure, f.measures)
	}
	if err := f.checkJoint(format); err != nil {
		return err
	}
	return f.parseDepths()
}

func (f *compareFlags) run(ctx context.Context, env *environment, args []string) error {
	sets, err := f.parseData()
	if err != nil {
		return err
	}
	systems, err := f.systems(args)
	if err != nil {
		return err
	}
	if len(sets) > 1 {
		if err := needMark(systems, sets); err != nil {
			return err
		}
	}
	for i := range sets {
		if sets[i].systems, err = f.systemsOn(env, sets[i], args, namesOf(systems)); err != nil {
			return err
		}
	}
	if f.compact && f.baseline == "" {
		return usageErrorf("%s needs --baseline, one of %s", f.whyCompact(), strings.Join(namesOf(sets[0].systems), ", "))
	}
	baseline, err := f.baselineOf(sets[0].systems, -1)
	if err != nil {
		return err
	}
	all := make([]*comparison, len(sets))
	for i, s := range sets {
		if all[i], err = f.on(s).compareAll(ctx, env, s.systems, baseline); err != nil {
			return err
		}
	}
	if f.compact {
		return env.printComparison(newJoint(sets, all), f.label)
	}
	return env.printComparison(all[0], f.label)
}

// compareAll compares the systems on --data by every measure.
func (f *compareFlags) compareAll(ctx context.Context, env *environment, systems []*contestant, baseline int) (_ *comparison, err error) {
	c := &comparison{systems: systems, baseline: f.baseline, seed: f.seed, resamples: f.resamples}
	if c.convention, err = f.parseConvention(); err != nil {
		return nil, err
	}
	if f.measures == "" {
		if _, err := measure.Parse(f.measure, c.convention, measure.Options{}); err != nil {
			return nil, usageErrorf("--measure: %w", err)
		}
		f.measures = f.measure
	}
	measures, ties, err := f.parseMeasures(c.convention)
	if err != nil {
		return nil, err
	}
	c.ties = ties
	if measures, err = f.measureAll(ctx, env, c, measures); err != nil {
		return nil, err
	}
	bar := env.startProgress("comparing", 0)
	defer bar.finish()
	for i, m := range measures {
		config := stats.Config{Range: measure.RangeOf(m), Baseline: baseline, Permutations: f.permutations, Resamples: f.resamples, Seed: f.seed}
		whole := config
		whole.Observe = func(done, total int) { bar.set(i*total+done, len(measures)*total) }
		r, err := measure.CompareRuns(m, whole, mapped(c.systems, (*contestant).results)...)
		if err != nil {
			return nil, usageErrorf("%s, measure %s: %w", f.data, m.Name(), err)
		}
		one := measured{name: m.Name(), weighted: c.systems[0].runs[0].result.Weights() != nil, deviations: c.deviations(m), Comparison: r}
		if one.slices, err = c.compareSlices(m, config); err != nil {
			return nil, usageErrorf("%s, measure %s: %w", f.data, m.Name(), err)
		}
		if f.depths != nil {
			for _, s := range c.systems {
				depths, err := f.compare(s.name, s.runs, m, config)
				if err != nil {
					return nil, err
				}
				one.depths = append(one.depths, depths)
			}
		}
		c.measured = append(c.measured, one)
		if env.details != nil {
			c.detail(env.details, m, r)
		}
	}
	bar.finish()
	return c, nil
}

type comparison struct {
	systems    []*contestant
	convention measure.Convention
	ties       measure.TiePolicy
	folds      int    // number of folds whose test queries were pooled; 0 for one file
	baseline   string // "" for every pair
	seed       uint64
	resamples  int
	divisions  []*slicing.Division // --by; nil without
	measured   []measured
}

type measured struct {
	name       string
	weighted   bool               // means are weighted by query weights
	deviations []float64          // standard deviation of each system's means over its runs; NaN for one run
	slices     []slicing.Compared // nil without --by
	depths     []*reranked        // of each system; nil without --rerank
	*stats.Comparison
}

// measureAll reads the data and evaluates every run. It returns the measures with the threshold for
// these data.
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
	places, err := f.rank(divisions)
	if err != nil {
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
			if s.runs[i].depths, err = f.evaluate(divisions, places, next, measures, c.ties); err != nil {
				return nil, usageErrorf("%s: %w", s.runs[i].path, err)
			}
			if c.ties != measure.TiesAverage && s.runs[i].result.TieStats().Over > 0 {
				env.note("%s", tiedSystem(s.runs[i].path, s.runs[i].result.TieStats().Over, tune.Summarise(s.runs[i].result)))
			}
			next++
		}
	}
	return measures, nil
}

// hintAtFolds extends the error about a file with few numbers: these may be means over folds.
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

// perQuery returns the values of a measure for every system, run and query. The value is NaN if the
// query does not count.
func (c *comparison) perQuery(m measure.Measure) [][][]float64 {
	return mapped(c.systems, func(s *contestant) [][]float64 {
		return mapped(s.runs, func(r run) []float64 { return slices.Clone(r.result.PerQuery(m)) })
	})
}

// deviations returns the standard deviation of each system's means over its runs. It is NaN for one
// run.
func (c *comparison) deviations(m measure.Measure) []float64 {
	return mapped(c.systems, func(s *contestant) float64 {
		return deviationOf(mapped(s.runs, func(r run) float64 { return r.result.Mean(m) }))
	})
}
