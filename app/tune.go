package app

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

type tuneFlags struct {
	learning
	recording
	measuring
	slicer
	methods string
	source
	cmd      *cobra.Command
	refit    bool
	search   string
	halving  bool
	grid     []string
	selectBy string
	jobs     int
	budget   string
	average  string
	out      string
	trial    string

	scorers map[string]string // of the methods that have one in --scorer
}

func newTuneCommand(env *environment) *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune --method M[,M…] (--data DIR|FILE | --train FILE --valid FILE [--test FILE]) --out DIR",
		Short: "Choose hyperparameters on validation data, fold by fold, and measure on test data",
		Long: `Trains every setting of every method on each fold's train.txt, chooses by the
validation measure on vali.txt, and measures the chosen model on test.txt.
DIR holds Fold1 … FoldK as LETOR lays them out, or train.txt, vali.txt and test.txt
of one fold, which --train, --valid and --test name wherever they are. Without test
data the validation queries are measured in their place, and the table says so.
FILE is divided into --folds parts by whole queries, each for validation once.

A folder keeps the results of methods that an earlier call tuned there, on the same
data and in the same way.

The output folder gets, for every method M and fold k, M/Foldk.model.json,
M/Foldk.scores (one score a line of test.txt), M/Foldk.queries.csv, for methods that
learn in epochs or rounds M/Foldk.curve, the learning curve of the setting chosen, as
"train --curve" writes it; and for all of them results.json and tuning.jsonl, a line
a setting. Without test data the scores and queries are those of the
validation file, vali.txt or --valid. Finished trainings are kept there: a run that
was killed goes on where it was.

--refit ends with one model, model.json: the method and the setting that are best by
the mean over the folds' validation data, trained on all data (test data named by
--test excepted), and the command that makes it. What validation stopped, such as
epochs or trees, is as long as it was best, the mean over the folds.

--search random draws settings from the ranges of the grids, --budget of them.
--halving drops, fold by fold, the worst two thirds of the settings after they have
learned from a ninth of the training queries, and again after a third.`,
		Example: `  listwise tune --method mle,convexloss --measure ndcg@10 --data OHSUMED --select map --out runs/ohsumed
  listwise tune --method mle --grid C=0.001,0.01,0.1 --data OHSUMED --out runs/mle
  listwise tune --method lambdamart --search random --budget 30 --halving --refit --data shop.csv --out runs/shop
  listwise tune --method listnet,mle --scorer listnet=net --data OHSUMED --out runs/nets
  listwise tune --method mle --data OHSUMED --out runs/mle --trial 3
  listwise tune --method mle,ranknet --train train.txt --valid vali.txt --test test.txt --out runs/mine`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.require(cmd); err != nil {
				return err
			}
			f.cmd = cmd
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.methods, "method", "", "`methods` to tune, separated by commas (see \"listwise methods\")")
	f.source.addTo(cmd)
	fl.StringArrayVar(&f.grid, "grid", nil, "values to try, `name=a,b,c`; may be repeated; replaces the method's own grid of that name")
	fl.StringVar(&f.selectBy, "select", "map", "`measure` on the validation queries that settings are chosen by")
	addWhole(fl, &f.jobs, "jobs", 0, 0, "`number` of trainings side by side (default: one a core)")
	fl.StringVar(&f.budget, "budget", "", "`what` may be tried, in an order drawn by the seed: a number of settings of each method, such as 20, or a time after which no further ones are begun, such as 30m (the result then depends on the machine; default: all settings)")
	fl.StringVar(&f.average, "average", "1", "`number` of settings, those best on the validation queries, whose models' scores are averaged in place of taking the best alone, or all: where validation queries are few, the best of many is best by luck")
	fl.StringVar(&f.out, "out", "", "`folder` for results")
	fl.StringVar(&f.trial, "trial", "", "do only the training of this `number`, from 0, and leave its record in the folder; or list: print them. For several machines; the same command without it then puts their records together")
	fl.BoolVar(&f.refit, "refit", false, "train the method and setting that are best over all folds on all data, and print the command that does")
	fl.StringVar(&f.search, "search", "grid", "`which` settings are tried: grid (every combination of the grids' values) or random (--budget of them, drawn from the grids' ranges)")
	fl.BoolVar(&f.halving, "halving", false, "try settings on a part of the training queries first, and drop those that do badly (successive halving)")
	f.slicer.addTo(cmd)
	f.measuring.addTo(cmd, usualMeasures, "`measures` to report on the test queries")
	f.learning.addTo(cmd)
	fl.Lookup("scorer").Usage = "`kind` of scorer for all methods, or METHOD=KIND,… (see train --help)"
	f.recording.addTo(cmd)
	return cmd
}

// require returns an error if the data are named twice or a required flag is missing.
func (f *tuneFlags) require(cmd *cobra.Command) error {
	if err := required(cmd, "method", "out"); err != nil && f.files == (tune.Files{}) && f.data == "" {
		return required(cmd, "method", "data", "out")
	} else if err != nil {
		return err
	}
	return f.source.require(cmd)
}

func (f *tuneFlags) run(ctx context.Context, env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	if err := f.checkTrial(); err != nil {
		return err
	}
	config, err := f.config()
	if err != nil {
		return err
	}
	if f.measure != "" && !slices.ContainsFunc(config.Entries, func(e tune.Entry) bool { return e.Method.UsesMeasure }) {
		env.note("note: none of the methods has a training measure, --measure %s changes nothing", f.measure)
	}
	opts, err := f.options()
	if err == nil {
		err = f.ask(&opts)
	}
	if err != nil {
		return err
	}
	var whole *dataset.Dataset
	more := 0
	if f.refit {
		more++
	}
	if f.halving {
		more++
	}
	if config.Folds, whole, config.MaxBytes, err = f.read(ctx, env, opts, f.seed, more); err != nil {
		return err
	}
	warnOfFolds(env, config.Folds)
	config.Convention = env.settle(config.Convention, dataOf(config.Folds)...)
	warnOfTests(env, &config)
	if err := f.divisible(testsOfFolds(config.Folds), config.Convention.Threshold()); err != nil {
		return err
	}
	warnOfIndifference(env, config.Folds[0].Train, measuresOf(config.Entries, config.Convention))
	if _, err := f.otherMethods(&config); err != nil {
		return err
	}
	if f.trial != "" {
		return f.doTrial(ctx, env, config)
	}
	rec := f.begin(env, func() *runs.Run { return f.recorded(&config) })
	out, err := f.choose(ctx, env, &config, whole, rec)
	return rec.conclude(out, err)
}

// measuresOf returns the training measures of entries under a convention.
func measuresOf(entries []tune.Entry, c measure.Convention) []measure.Measure {
	return mapped(entries, func(e tune.Entry) measure.Measure { return measure.Under(e.Measure, c) })
}

// warnOfIndifference warns of training measures that tell no two documents of many queries apart,
// once of measures that differ in their cut-off alone.
func warnOfIndifference(env *environment, d *dataset.Dataset, measures []measure.Measure) {
	var told []string
	for _, m := range measures {
		if m == nil || slices.Contains(told, measure.Family(m)) {
			continue
		}
		if sentence := train.Indifference(m, d); sentence != "" {
			told = append(told, measure.Family(m))
			env.note("warning: %s", sentence)
		}
	}
}

// choose trains, chooses and measures, and leaves the results in the folder.
func (f *tuneFlags) choose(ctx context.Context, env *environment, config *tune.Config, whole *dataset.Dataset, rec *recorder) (report, error) {
	bar := env.startProgress("tuning", 0)
	config.Tell = func(p tune.Progress) { bar.observeSettings(config.Select.Name(), p) }
	result, err := tune.Run(ctx, *config)
	bar.finish()
	if err != nil {
		return report{}, err
	}
	sliced, err := f.ofRows(config, result)
	if err != nil {
		return report{}, err
	}
	summary := tuneSummary(config, result, sliced)
	out := tuneReport(config, result, summary)
	if f.refit {
		if summary.Refit, err = f.refitBest(ctx, env, config, result, whole); err != nil {
			return report{}, err
		}
		rec.wrote(summary.Refit.Model)
		out.notes = append(out.notes, summary.Refit.note(summary.Select))
	}
	// Read as late as may be: another command may have added methods in the meantime.
	others, err := f.otherMethods(config)
	if err != nil {
		return report{}, err
	}
	summary.Methods = append(others.methods, summary.Methods...)
	if !f.refit {
		summary.Refit = others.refit
	}
	out.json = summary
	curve := filepath.Join(f.out, "tuning.jsonl")
	if err := writeTuning(curve, append(others.lines, tunedOf(result)...)); err != nil {
		return report{}, err
	}
	path := filepath.Join(f.out, "results.json")
	if err := atomicfile.Write(path, atomicfile.JSON(summary)); err != nil {
		return report{}, err
	}
	rec.wrote(path, curve)
	recordTuning(rec, config, result)
	out.slices, out.sliceIn = sliced, foldRow(len(out.columns))
	return out, nil
}

// ofRows measures the methods on the slices of the queries of all folds.
func (f *tuneFlags) ofRows(c *tune.Config, r *tune.Result) (*slicedMeans, error) {
	var names []string
	var results [][]*measure.Result
	for i := range r.Rows {
		names = append(names, r.Rows[i].Entry.Name)
		results = append(results, mapped(r.Rows[i].Folds, func(f tune.FoldResult) *measure.Result { return f.Test }))
	}
	return f.of(testsOfFolds(c.Folds), c.Convention, names, results)
}

// config puts together what the flags describe, but for the data.
func (f *tuneFlags) config() (tune.Config, error) {
	c := tune.Config{Seed: f.seed, Jobs: f.jobs, Dir: f.out, KeepModels: f.refit, Halving: f.halving}
	var err error
	if _, err = f.tuning(&c, &f.measuring, f.selectBy); err != nil {
		return c, err
	}
	if c.Views, err = f.parseViews(); err != nil {
		return c, err
	}
	if c.Budget, err = parseBudget(f.budget); err != nil {
		return c, err
	}
	if c.Average, err = parseAverage(f.average); err != nil {
		return c, err
	}
	if err := f.checkSearch(c); err != nil {
		return c, err
	}
	if c.Entries, err = f.entries(c.Budget); err != nil {
		return c, err
	}
	for i := range c.Entries {
		c.Entries[i].Own = &tune.Part{Scorer: f.scorers[c.Entries[i].Name], Views: c.Views, Seed: c.Seed}
	}
	return c, nil
}

// tuning sets what these flags say of trying settings: the measures, what is chosen by, and what is
// done to data. It returns how data are read.
func (l *learning) tuning(c *tune.Config, m *measuring, selectBy string) (opts dataset.Options, err error) {
	if c.Convention, err = l.parseConvention(); err != nil {
		return opts, err
	}
	if c.Measures, c.Ties, err = m.parseMeasures(c.Convention); err != nil {
		return opts, err
	}
	if c.Select, err = l.oneMeasure("select", selectBy); err != nil {
		return opts, err
	}
	if c.Normalization, err = l.normalization(); err != nil {
		return opts, err
	}
	if c.Transforms, err = l.transforms(); err != nil {
		return opts, err
	}
	if opts, err = l.options(); err != nil {
		return opts, err
	}
	c.Missing = opts.Missing
	return opts, nil
}

// dataOf returns the data of all folds that were read.
func dataOf(folds []tune.Fold) []*dataset.Dataset {
	var all []*dataset.Dataset
	for _, f := range folds {
		for _, d := range []*dataset.Dataset{f.Train, f.Valid, f.Test} {
			if d != nil && !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// entries makes one entry a method, each with its whole grid.
func (f *tuneFlags) entries(budget tune.Budget) ([]tune.Entry, error) {
	pairs, err := settings("grid", f.grid)
	if err != nil {
		return nil, err
	}
	if err := f.parseScorers(); err != nil {
		return nil, err
	}
	used := make(map[string]bool)
	var entries []tune.Entry
	for name := range strings.SplitSeq(f.methods, ",") {
		m, err := f.method(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(e tune.Entry) bool { return e.Name == m.Name }) {
			return nil, usageErrorf("--method %s: %s is named twice", f.methods, m.Name)
		}
		override := make(map[string][]string)
		for _, h := range m.Hyperparameters {
			if values, ok := pairs[h.Name]; ok {
				override[h.Name] = strings.Split(values, ",")
				used[h.Name] = true
			}
		}
		entry, err := f.entry(m, override, budget)
		if err != nil {
			return nil, usageErrorf("--grid: %w", err)
		}
		if entry.Measure, err = f.trainingMeasure(m); err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	for _, name := range slices.Sorted(maps.Keys(f.scorers)) {
		if !slices.ContainsFunc(entries, func(e tune.Entry) bool { return e.Name == name }) {
			return nil, usageErrorf("--scorer %s: %s is none of the methods %s", f.scorer, name, f.methods)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		if !used[name] {
			return nil, usageErrorf("--grid %s: none of the methods %s has that hyperparameter", name, f.methods)
		}
	}
	return entries, nil
}
