package app

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/runs"
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
	seeds    string
	repeats  []uint64 // of --seeds; nil without

	scorers map[string]string // kind of scorer by the name of the method, from --scorer
}

func newTuneCommand(env *environment) *cobra.Command { return new(tuneFlags).command(env) }

// command returns the command, whose flags it adds to f.
func (f *tuneFlags) command(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tune --method M[,M…] (--data DIR|FILE | --train FILE --valid FILE [--test FILE]) --out DIR",
		Short: "Choose hyperparameters on validation data",
		Long: `Trains every setting of every method, chooses the best on validation data, and
evaluates it on test data, fold by fold.

--data is a folder with Fold1 … FoldK, a folder with one fold's train.txt, vali.txt
and test.txt, or a file. A file is divided by queries into --folds parts, and each
part serves as validation data once. With --folds 1, every fifth query is for
validation. --train, --valid and --test name the files of one fold. Without test data,
the table reports the values on the validation data, and says so.

The folder --out gets, for each method M and fold k:
  M/Foldk.model.json    the chosen model
  M/Foldk.scores        its scores of the test (or validation) data, one per line
  M/Foldk.queries.csv   its values for each query
  M/Foldk.curve         its learning curve, if it learns in epochs or rounds
and, for all methods, results.json and tuning.jsonl, one line per setting. Results of
earlier calls on the same data are kept. A run that was interrupted resumes.

Search: --grid replaces a method's grid for one hyperparameter. --search random draws
settings from the ranges of the grids, as many as --budget says. --budget with a
number limits the settings of each method. With a time, no setting starts after it;
the result then depends on the machine. --halving trains on a ninth, then a third,
then all of the training queries, and drops the worst two thirds of the settings each
time.

--average N averages the scores of the N best settings instead of taking the best
alone. This reduces selection noise when there are few validation queries.

--refit then trains the setting with the best mean over the folds on all data, except
those of --test. It writes model.json and prints the command. Early stopping is
replaced by the mean of the best lengths over the folds.

--seeds 1-5 repeats all of this, the choice of settings included, with each random
seed. The folders are then M/seed-1 … M/seed-5, and "listwise compare" and "listwise
report" read M as one system with five runs. A file is divided into the same folds for
all seeds. A time in --budget is for each seed.

--trial runs a single training, for several machines; --trial list prints the numbers.
The same command without --trial then collects the results.`,
		Example: `  listwise tune --method mle,convexloss --measure ndcg@10 --data OHSUMED --select map --out runs/ohsumed
  listwise tune --method mle --grid C=0.001,0.01,0.1 --data OHSUMED --out runs/mle
  listwise tune --method lambdamart --search random --budget 30 --halving --refit --data shop.csv --out runs/shop
  listwise tune --method listnet,mle --scorer listnet=net --data OHSUMED --out runs/nets
  listwise tune --method listnet --scorer net --seeds 1-5 --data OHSUMED --out runs/seeds
  listwise tune --method mle --data OHSUMED --out runs/mle --trial 3
  listwise tune --method mle,ranknet --train train.txt --valid vali.txt --test test.txt --out runs/mine`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.require(cmd); err != nil {
				return err
			}
			if err := f.parseRepeats(cmd); err != nil {
				return err
			}
			f.cmd = cmd
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.methods, "method", "", "`methods` to tune, separated by commas (see \"listwise methods\")")
	f.source.addTo(cmd)
	addList(fl, &f.grid, "grid", "name=a,b,c", "values of a hyperparameter to try; repeatable")
	fl.StringVar(&f.selectBy, "select", "map", "validation `measure` that selects the settings")
	addWhole(fl, &f.jobs, "jobs", 0, 0, "`number` of parallel trainings (default: number of cores)")
	fl.StringVar(&f.budget, "budget", "", "`limit`: settings per method, or time such as 30m (default: none)")
	fl.StringVar(&f.average, "average", "1", "`number` of best settings to average, or all")
	fl.StringVar(&f.out, "out", "", "`folder` for results")
	fl.StringVar(&f.trial, "trial", "", "run one training by `number`, from 0, or list them")
	fl.StringVar(&f.seeds, "seeds", "", "random `seeds` to repeat everything with, such as 1-5 or 1,2,7")
	fl.BoolVar(&f.refit, "refit", false, "train the best setting on all data")
	fl.StringVar(&f.search, "search", "grid", "search `strategy`: grid or random")
	fl.BoolVar(&f.halving, "halving", false, "drop poor settings early (successive halving)")
	f.slicer.addTo(cmd)
	f.measuring.addTo(cmd, usualMeasures, "`measures` on the test data, separated by commas")
	f.learning.addTo(cmd)
	fl.Lookup("scorer").Usage = "`kind` of scorer, or METHOD=KIND,… for some methods"
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
	if err := f.source.targets(f.by, f.out).check(); err != nil {
		return err
	}
	if err := f.checkTrial(); err != nil {
		return err
	}
	configs, whole, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	config := &configs[0]
	if _, err := f.otherMethods(config); err != nil {
		return err
	}
	if err := f.checkSeedFolders(config.Entries); err != nil {
		return err
	}
	if f.trial != "" {
		return f.doTrial(ctx, env, configs)
	}
	rec := f.begin(env, func() *runs.Run { return f.recorded(config) })
	out, err := f.choose(ctx, env, configs, whole, rec)
	return rec.conclude(out, err)
}

// open reads the data. It returns the configurations that the flags describe, one for each seed of
// --seeds, and the data if they are one file that is divided into folds.
func (f *tuneFlags) open(ctx context.Context, env *environment) (configs []tune.Config, whole *dataset.Dataset, err error) {
	if configs, err = f.configs(); err != nil {
		return nil, nil, err
	}
	config := &configs[0]
	if f.measure != "" && !slices.ContainsFunc(config.Entries, func(e tune.Entry) bool { return e.Method.UsesMeasure }) {
		env.note("note: none of the methods has a training measure, so --measure %s has no effect", f.measure)
	}
	opts, err := f.options()
	if err == nil {
		err = f.ask(&opts)
	}
	if err != nil {
		return nil, nil, err
	}
	more := 0
	if f.refit {
		more++
	}
	if f.halving {
		more++
	}
	if config.Folds, whole, config.MaxBytes, err = f.read(ctx, env, opts, more); err != nil {
		return nil, nil, err
	}
	if whole != nil {
		if config.Folds, err = f.inFolds(whole, f.seed); err != nil {
			return nil, nil, err
		}
	}
	warnOfFolds(env, config.Folds)
	config.Convention = env.settle(config.Convention, dataOf(config.Folds)...)
	for i := range configs {
		configs[i].Folds, configs[i].MaxBytes, configs[i].Convention = config.Folds, config.MaxBytes, config.Convention
	}
	warnOfTests(env, config)
	if err = f.divisible(testsOfFolds(config.Folds), config.Convention.Threshold()); err != nil {
		return nil, nil, err
	}
	warnOfIndifference(env, config.Folds[0].Train, measuresOf(config.Entries, config.Convention))
	return configs, whole, nil
}

// measuresOf returns the training measures of entries under a convention.
func measuresOf(entries []tune.Entry, c measure.Convention) []measure.Measure {
	return mapped(entries, func(e tune.Entry) measure.Measure { return measure.Under(e.Measure, c) })
}

// warnOfIndifference prints a warning for each training measure that gives every ranking of many
// queries the same value. Measures that differ in their cut-off alone get one warning.
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

// choose runs the search with every seed, evaluates the chosen settings on the test data, and writes
// the results to the folder of --out.
func (f *tuneFlags) choose(ctx context.Context, env *environment, configs []tune.Config, whole *dataset.Dataset, rec *recorder) (report, error) {
	bar := env.startProgress("tuning", 0)
	for i := range configs {
		by := configs[i].Select.Name()
		configs[i].Tell = func(p tune.Progress) {
			bar.show("tuning", i*p.Total+p.Done, len(configs)*p.Total, bestSoFar(by, p.Name, p.Best))
		}
	}
	config := &configs[0]
	results, err := tune.RunEach(ctx, configs...)
	bar.finish()
	if err != nil {
		return report{}, err
	}
	var summary tuneJSON
	var out report
	var sliced *slicedMeans
	if f.repeats != nil {
		summary = f.seedsSummary(configs, results)
		out = f.seedsReport(configs, results, summary)
	} else {
		if sliced, err = f.ofRows(config, results[0]); err != nil {
			return report{}, err
		}
		summary = tuneSummary(config, results[0], sliced)
		out = tuneReport(config, results[0], summary)
	}
	if f.refit {
		if summary.Refit, err = f.refitBest(ctx, env, config, results[0], whole); err != nil {
			return report{}, err
		}
		rec.wrote(summary.Refit.Model)
		out.notes = append(out.notes, summary.Refit.note(summary.Select))
	}
	// Another command may have added methods during the search, and may be about to.
	unlock, err := runs.LockFolder(f.out)
	if err != nil {
		return report{}, err
	}
	defer unlock()
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
	lines := others.lines
	for i, r := range results {
		lines = append(lines, tunedOf(r, f.seedOf(i))...)
	}
	if err := writeTuning(curve, lines); err != nil {
		return report{}, err
	}
	path := filepath.Join(f.out, "results.json")
	if err := atomicfile.Write(path, atomicfile.JSON(summary)); err != nil {
		return report{}, err
	}
	rec.wrote(path, curve)
	recordTuning(rec, configs, results)
	out.slices, out.sliceIn = sliced, foldRow(len(out.columns))
	if env.details != nil {
		return out, env.details.ofTuning(results, config.Seed)
	}
	return out, nil
}

// ofRows returns the means of each method on each slice of the test queries of all folds.
func (f *tuneFlags) ofRows(c *tune.Config, r *tune.Result) (*slicedMeans, error) {
	var names []string
	var results [][]*measure.Result
	for i := range r.Rows {
		names = append(names, r.Rows[i].Entry.Name)
		results = append(results, mapped(r.Rows[i].Folds, func(f tune.FoldResult) *measure.Result { return f.Test }))
	}
	return f.of(testsOfFolds(c.Folds), c.Convention, names, results)
}

// config returns the configuration that the flags describe. The caller adds the data.
func (f *tuneFlags) config() (tune.Config, error) {
	c := tune.Config{Seed: f.seed, Jobs: f.jobs, Dir: f.out, KeepModels: f.refit, Halving: f.halving}
	var err error
	if _, err = f.tuning(&c, &f.measuring, f.selectBy); err != nil {
		return c, err
	}
	if c.Views, err = f.recipe().ParseViews(); err != nil {
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
		c.Entries[i].Own = &tune.Variant{Scorer: f.scorers[c.Entries[i].Name], Views: c.Views, Transforms: c.Transforms, Seed: c.Seed}
	}
	return c, nil
}

// tuning sets the options of c that do not depend on the methods: the measures, the selection
// measure and the preprocessing. It returns the reader's options.
func (l *learning) tuning(c *tune.Config, m *measuring, selectBy string) (opts dataset.Options, err error) {
	if c.Convention, err = l.parseConvention(); err != nil {
		return opts, err
	}
	if c.Measures, c.Ties, err = m.parseMeasures(c.Convention); err != nil {
		return opts, err
	}
	r := l.recipe()
	if c.Select, err = r.OneMeasure("select", selectBy); err != nil {
		return opts, err
	}
	if c.Normalization, err = r.Normalization(); err != nil {
		return opts, err
	}
	if c.Transforms, err = r.Transforms(); err != nil {
		return opts, err
	}
	if opts, err = l.options(); err != nil {
		return opts, err
	}
	c.Missing = opts.Missing
	return opts, nil
}

// dataOf returns the distinct data sets of the folds.
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

// entries returns an entry for each method of --method, with the settings to try.
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
		if entry.Measure, err = f.recipe().TrainingMeasure(m); err != nil {
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
			return nil, usageErrorf("--grid %s: none of the methods %s has this hyperparameter", name, f.methods)
		}
	}
	return entries, nil
}

// parseScorers reads --scorer: a kind for all methods, or METHOD=KIND separated by commas.
func (f *tuneFlags) parseScorers() error {
	f.scorers = make(map[string]string)
	if !strings.Contains(f.scorer, "=") {
		return nil
	}
	for part := range strings.SplitSeq(f.scorer, ",") {
		name, kind, _ := strings.Cut(part, "=")
		m, err := method.Lookup(strings.TrimSpace(name))
		if err != nil {
			return usageErrorf("--scorer %s: %w", f.scorer, err)
		}
		if _, twice := f.scorers[m.Name]; twice || kind == "" {
			return usageErrorf("--scorer %s: found %q, expected METHOD=KIND, each method once", f.scorer, part)
		}
		f.scorers[m.Name] = strings.TrimSpace(kind)
	}
	return nil
}

// method returns the named method with the scorer that --scorer chooses for it.
func (f *tuneFlags) method(name string) (*method.Method, error) {
	if f.scorer != "" && !strings.Contains(f.scorer, "=") {
		f.scorers[name] = f.scorer
	}
	r := method.Recipe{Scorer: f.scorers[name]}
	return r.Lookup(name)
}

// parseBudget reads the value of --budget: a number of settings, or a time.
func parseBudget(text string) (tune.Budget, error) {
	if text == "" {
		return tune.Budget{}, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return tune.Budget{Settings: n}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return tune.Budget{Time: d}, nil
	}
	return tune.Budget{}, usageErrorf("--budget %s: expected a number of settings, such as 20, or a time, such as 30m or 1h30m", text)
}

// parseAverage reads the value of --average: a number of settings, or all.
func parseAverage(text string) (int, error) {
	if text == "all" {
		return math.MaxInt, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n, nil
	}
	return 0, usageErrorf("--average %s: expected a number of settings from 1 on, or all", text)
}

// randomSettings is the number of random settings to draw if --budget is a time.
const randomSettings = 1000

// checkSearch returns an error for flags of the search that contradict each other.
func (f *tuneFlags) checkSearch(c tune.Config) error {
	switch {
	case f.search != "grid" && f.search != "random":
		return usageErrorf("--search %s: expected grid or random", f.search)
	case f.search == "random" && c.Budget == (tune.Budget{}):
		return usageErrorf("--search random: expected --budget with the number of settings of each method, or a time")
	case f.halving && c.Budget.Time > 0:
		return usageErrorf("--halving with --budget %s: expected a number of settings: with a time, the result would depend on the machine", f.budget)
	case f.refit && f.repeats != nil:
		return usageErrorf("--refit with --seeds %s: expected one of them: --refit trains one model, with --seed", f.seeds)
	case f.by != "" && f.repeats != nil:
		return usageErrorf("--by with --seeds %s: expected one of them: \"listwise compare --by\" has the slices of systems with several seeds", f.seeds)
	case f.refit && c.Average > 1:
		return usageErrorf("--refit with --average %s: expected one of them: --refit trains one setting (auto combines many)", f.average)
	}
	return nil
}

// entry returns the method's entry: its grid, or random settings if --search is random.
func (f *tuneFlags) entry(m *method.Method, override map[string][]string, budget tune.Budget) (tune.Entry, error) {
	if f.search == "grid" {
		return tune.NewEntryOf(m, f.scorers[m.Name], override)
	}
	n := budget.Settings
	if n == 0 {
		n = randomSettings
	}
	return tune.NewRandomEntryOf(m, f.scorers[m.Name], override, n, f.seed)
}

// listTrials is the value of --trial that lists the trainings instead of running one.
const listTrials = "list"

// trainingJSON is the JSON form of a training in this list.
type trainingJSON struct {
	Trial   int     `json:"trial"`
	Seed    *uint64 `json:"seed,omitempty"` // with --seeds
	Method  string  `json:"method"`
	Fold    string  `json:"fold"`
	Setting string  `json:"setting"`
}

// checkTrial returns an error unless --trial is empty, a number from 0, or list. It also refuses
// --refit together with --trial.
func (f *tuneFlags) checkTrial() error {
	if f.trial == "" || f.trial == listTrials {
		return nil
	}
	if n, err := strconv.Atoi(f.trial); err != nil || n < 0 {
		return usageErrorf("--trial: found %q, expected a number from 0, or %s", f.trial, listTrials)
	}
	if f.refit {
		return usageErrorf("--refit: found it with --trial, expected it in the call that collects all trainings")
	}
	return nil
}

// doTrial runs the training whose number is in --trial, or lists all trainings. The trainings of a
// seed follow those of the seed before it.
func (f *tuneFlags) doTrial(ctx context.Context, env *environment, configs []tune.Config) error {
	wanted := -1
	if f.trial != listTrials {
		var err error
		if wanted, err = strconv.Atoi(f.trial); err != nil {
			return err
		}
	}
	r := report{columns: []string{"trial", "method", "fold", "setting"}}
	if f.repeats != nil {
		r.columns = slices.Insert(r.columns, 1, "seed")
	}
	var list []trainingJSON
	for i := range configs {
		listed := configs[i]
		listed.Dir = "" // listing writes no files
		trials, err := tune.Trials(listed)
		if err != nil {
			return usageErrorf("--trial: %w", err)
		}
		if n := wanted - len(list); wanted >= 0 && n < len(trials) {
			return tune.RunTrial(ctx, configs[i], n)
		}
		for _, t := range trials {
			row := []any{len(list), t.Entry, t.Fold, t.Setting}
			seed := f.seedOf(i)
			if seed != nil {
				row = slices.Insert(row, 1, any(*seed))
			}
			list = append(list, trainingJSON{len(list), seed, t.Entry, t.Fold, t.Setting})
			r.rows = append(r.rows, row)
		}
	}
	if wanted >= 0 {
		return fmt.Errorf("found training %d, expected a number from 0 to %d", wanted, len(list)-1)
	}
	r.json = list
	return env.print(r)
}
