package app

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

type compareFlags struct {
	evaluating
	testFlags
	measure string
	seeds   string
	unit    string
}

// compareFormats are the formats of compare: those of every command, and tables for
// papers.
var compareFormats = []string{"text", "markdown", "latex", "csv", "json"}

const compareHelp = `Measures every system on the same queries and tests the differences query by
query, for all pairs, or with --baseline for the pairs with one system.

With --data FILE, a system is a model file, a file of scores (one a line of FILE) or
a run of TREC. With FILE judgements of TREC (qrels), systems are runs, and the
values trec_eval's. With --data DIR, which holds Fold1 … FoldK, it is a folder of tune's output
(OUT/METHOD), or any with Foldk.model.json or Foldk.scores for every fold k; the
queries of all test folds are pooled, each counts once. NAME= gives a system a name
of your own in the tables.

Several runs of a stochastic learner, with different random seeds, make one system:
NAME=A,B,C names the runs, or --seeds 1,2,3 stands for {seed} in a path, as in
runs/{seed}/ranknet. Five runs or more are usual. The claim of a test is then about
methods: both queries and seeds are random. Of single runs it is about these runs,
and only queries are random.

For every measure: means with 95 % bootstrap intervals (BCa; Student's t for fewer
than 10 queries), and for every pair
  95 %       interval of the differences that the randomisation test does not reject
  t          two-sided paired t-test; of methods with the variance between seeds
  rand.      Fisher's randomisation test: the signs of the queries' differences are
             flipped --permutations times, or in every way where no more than 20
             queries differ; of methods the error due to seeds is added
  boot.      bootstrap-shift test; sees too much in fewer than some 30 queries
  Holm       p values of the randomisation test, corrected for the number of pairs
  max-T      the same by the joint distribution of the pairs (Westfall and Young)
  d          Cohen's effect size: mean over standard deviation of the differences
  W/T/L      queries on which the first is better, as good, worse
  detectable the least difference found at 0.05 with probability 0.8
The family that is corrected for are the pairs of one measure; intervals are each
pair's own.

With --by, the same pairs are compared on every slice of the queries: means with their
intervals, differences, the randomisation test, and its p values corrected by Holm for
all pairs and all slices of the measure. A slice says where to look: look again on
other queries before you rely on it.

The unit of all tests is the query. Tests over the means of five folds are refused:
folds share training data, so their means depend on each other, which a t-test rules
out, and five values say next to nothing about their own spread.`

func newCompareCommand(env *environment) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare --data FILE|DIR [NAME=]A [NAME=]B…",
		Short: "Tell whether models, score files or runs rank better than others by more than chance",
		Long:  compareHelp,
		Example: `  listwise compare --data test.txt a.json b.json c.scores
  listwise compare --data judged.qrels --measures map,ndcg_cut_10 bm25.run dense.run
  listwise compare --data OHSUMED --measures map,ndcg@10 runs/ranknet runs/listnet runs/mle
  listwise compare --data OHSUMED --baseline mle --seeds 1-5 mle=runs/1/mle runs/{seed}/lambdarank
  listwise compare --data test.txt --by length,relevant a.json b.json
  listwise compare --data OHSUMED --format latex runs/mle runs/listnet > table.tex`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, compareFormats, strings.Join(compareFormats, ", "))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkFlags(cmd, args); err != nil {
				return err
			}
			return f.run(cmd.Context(), env, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.measure, "measure", "map", "`measure` to compare by")
	fl.StringVar(&f.seeds, "seeds", "", "`numbers` that stand for {seed} in the systems' paths, such as 1,2,3 or 1-5")
	fl.StringVar(&f.unit, "unit", "query", "`what` the tests count: query; fold is refused")
	fl.StringVar(&env.format, "format", "text", "print `text`, markdown, latex, csv or json")
	f.evaluating.addTo(cmd, "", "`measures` to compare by, separated by commas, instead of one")
	f.testFlags.addTo(cmd, "every pair")
	return cmd
}

func (f *compareFlags) checkFlags(cmd *cobra.Command, args []string) error {
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
	return nil
}

func (f *compareFlags) run(ctx context.Context, env *environment, args []string) error {
	systems, err := f.systems(args)
	if err != nil {
		return err
	}
	if systems, err = env.systemsFor(f.data, systems, 2); err != nil {
		return err
	}
	baseline, err := f.baselineOf(systems, -1)
	if err != nil {
		return err
	}
	c := &comparison{systems: systems, baseline: f.baseline, seed: f.seed, resamples: f.resamples}
	if c.convention, err = f.parseConvention(); err != nil {
		return err
	}
	if f.measures == "" {
		if _, err := measure.Parse(f.measure, c.convention, measure.Options{}); err != nil {
			return usageErrorf("--measure: %w", err)
		}
		f.measures = f.measure
	}
	measures, ties, err := f.parseMeasures(c.convention)
	if err != nil {
		return err
	}
	c.ties = ties
	if measures, err = f.measureAll(ctx, env, c, measures); err != nil {
		return err
	}
	bar := env.startProgress("comparing", 0)
	defer bar.finish()
	for i, m := range measures {
		runs, weights, err := c.values(m)
		if err != nil {
			return err
		}
		r, err := stats.CompareRuns(runs, stats.Config{Weights: weights, Baseline: baseline, Permutations: f.permutations, Resamples: f.resamples, Seed: f.seed, Observe: func(done, total int) {
			bar.set(i*total+done, len(measures)*total)
		}})
		if err != nil {
			return usageErrorf("%s, measure %s: %w", f.data, m.Name(), err)
		}
		one := measured{name: m.Name(), weighted: weights != nil, deviations: c.deviations(m), Comparison: r}
		if one.slices, err = c.compareSlices(m, stats.Config{Baseline: baseline, Permutations: f.permutations, Resamples: f.resamples, Seed: f.seed}); err != nil {
			return usageErrorf("%s, measure %s: %w", f.data, m.Name(), err)
		}
		c.measured = append(c.measured, one)
	}
	bar.finish()
	return env.printComparison(c)
}
