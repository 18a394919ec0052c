package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/runs"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/tune"
)

type tuneFlags struct {
	learning
	recording
	measuring
	methods  string
	data     string
	files    tune.Files
	grid     []string
	selectBy string
	jobs     int
	budget   string
	average  string
	out      string
}

func newTuneCommand(env *environment) *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune --method M[,M…] (--data DIR | --train FILE --valid FILE [--test FILE]) --out DIR",
		Short: "Choose hyperparameters on validation data, fold by fold, and measure on test data",
		Long: `Trains every setting of every method on each fold's train.txt, chooses by the
validation measure on vali.txt, and measures the chosen model on test.txt.
DIR holds Fold1 … FoldK as LETOR lays them out, or train.txt, vali.txt and test.txt
of one fold, which --train, --valid and --test name wherever they are. Without test
data the validation queries are measured in their place, and the table says so.

The output folder gets, for every method M and fold k, M/Foldk.model.json,
M/Foldk.scores (one score a line of test.txt), M/Foldk.queries.csv, and for all
of them results.json. Without test data the scores and queries are those of the
validation file, vali.txt or --valid. Finished trainings are kept there: a run that
was killed goes on where it was.`,
		Example: `  listwise tune --method mle,convexloss --measure ndcg@10 --data OHSUMED --select map --out runs/ohsumed
  listwise tune --method mle --grid C=0.001,0.01,0.1 --data OHSUMED --out runs/mle
  listwise tune --method mle,ranknet --train train.txt --valid vali.txt --test test.txt --out runs/mine`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.require(cmd); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.methods, "method", "", "`methods` to tune, separated by commas (see \"listwise methods\")")
	fl.StringVar(&f.data, "data", "", "`folder` with Fold1 … FoldK, or with one fold's files")
	fl.StringVar(&f.files.Train, "train", "", "`file` to learn from, instead of --data: LETOR text or a table (.txt, .csv, .tsv, .jsonl, also with .gz or .zst), or a .lwd cache")
	fl.StringVar(&f.files.Valid, "valid", "", "`file` to choose by, with --train")
	fl.StringVar(&f.files.Test, "test", "", "`file` to measure on, with --train (default: none, and the validation queries are measured)")
	fl.StringArrayVar(&f.grid, "grid", nil, "values to try, `name=a,b,c`; may be repeated; replaces the method's own grid of that name")
	fl.StringVar(&f.selectBy, "select", "map", "`measure` on the validation queries that settings are chosen by")
	addWhole(fl, &f.jobs, "jobs", 0, 0, "`number` of trainings side by side (default: one a core)")
	fl.StringVar(&f.budget, "budget", "", "`what` may be tried, in an order drawn by the seed: a number of settings of each method, such as 20, or a time after which no further ones are begun, such as 30m (the result then depends on the machine; default: all settings)")
	fl.StringVar(&f.average, "average", "1", "`number` of settings, those best on the validation queries, whose models' scores are averaged in place of taking the best alone, or all: where validation queries are few, the best of many is best by luck")
	fl.StringVar(&f.out, "out", "", "`folder` for results")
	f.measuring.addTo(cmd, usualMeasures, "`measures` to report on the test queries")
	f.learning.addTo(cmd)
	f.recording.addTo(cmd)
	return cmd
}

// require returns an error if the data are named twice or a required flag is missing.
func (f *tuneFlags) require(cmd *cobra.Command) error {
	if f.files == (tune.Files{}) {
		return required(cmd, "method", "data", "out")
	}
	if f.data != "" {
		return usageErrorf("--data %s: expected either it, a folder, or the files --train, --valid and --test", f.data)
	}
	return required(cmd, "method", "train", "valid", "out")
}

func (f *tuneFlags) run(ctx context.Context, env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	config, err := f.config()
	if err != nil {
		return err
	}
	if f.measure != "" && !slices.ContainsFunc(config.Entries, func(e tune.Entry) bool { return e.Method.UsesMeasure }) {
		env.note("note: none of the methods has a training measure, --measure %s changes nothing", f.measure)
	}
	if config.Folds, err = f.folds(env); err != nil {
		return err
	}
	warnOfFolds(env, config.Folds)
	config.Convention = env.settle(config.Convention, dataOf(config.Folds)...)
	rec := f.begin(env, func() *runs.Run { return f.recorded(&config) })
	out, err := f.choose(ctx, env, &config, rec)
	return rec.conclude(out, err)
}

// choose trains, chooses and measures, and leaves the results in the folder.
func (f *tuneFlags) choose(ctx context.Context, env *environment, config *tune.Config, rec *recorder) (report, error) {
	bar := env.startProgress("tuning", 0)
	config.Observe = bar.set
	result, err := tune.Run(ctx, *config)
	bar.finish()
	if err != nil {
		return report{}, err
	}
	summary := tuneSummary(config, result)
	path := filepath.Join(f.out, "results.json")
	if err := atomicfile.Write(path, atomicfile.JSON(summary)); err != nil {
		return report{}, err
	}
	rec.wrote(path)
	recordTuning(rec, config, result)
	return tuneReport(config, result, summary), nil
}

// config puts together what the flags describe, but for the data.
func (f *tuneFlags) config() (tune.Config, error) {
	c := tune.Config{Scorer: f.scorer, Seed: f.seed, Jobs: f.jobs, Dir: f.out}
	var err error
	if c.Convention, err = f.parseConvention(); err != nil {
		return c, err
	}
	if c.Measures, c.Ties, err = f.parseMeasures(c.Convention, measure.Options{}); err != nil {
		return c, err
	}
	if c.Select, err = f.oneMeasure("select", f.selectBy); err != nil {
		return c, err
	}
	if c.Normalization, err = f.normalization(); err != nil {
		return c, err
	}
	if c.Views, err = f.parseViews(); err != nil {
		return c, err
	}
	if c.Transforms, err = f.transforms(); err != nil {
		return c, err
	}
	opts, err := f.options()
	if err != nil {
		return c, err
	}
	c.Missing = opts.Missing
	if c.Budget, err = parseBudget(f.budget); err != nil {
		return c, err
	}
	if c.Average, err = parseAverage(f.average); err != nil {
		return c, err
	}
	c.Entries, err = f.entries()
	return c, err
}

// folds reads the data.
func (f *tuneFlags) folds(env *environment) ([]tune.Fold, error) {
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	var folds []tune.Fold
	if f.data != "" {
		folds, err = env.readFolds(tune.ReadFolds, f.data, opts)
	} else {
		folds, err = env.readFiles(f.files, opts)
	}
	env.warnings(dataOf(folds)...)
	return folds, err
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
func (f *tuneFlags) entries() ([]tune.Entry, error) {
	pairs, err := settings("grid", f.grid)
	if err != nil {
		return nil, err
	}
	used := make(map[string]bool)
	var entries []tune.Entry
	for name := range strings.SplitSeq(f.methods, ",") {
		m, err := f.lookup(strings.TrimSpace(name))
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
		entry, err := tune.NewEntryOf(m, f.scorer, override)
		if err != nil {
			return nil, usageErrorf("--grid: %w", err)
		}
		if entry.Measure, err = f.trainingMeasure(m); err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		if !used[name] {
			return nil, usageErrorf("--grid %s: none of the methods %s has that hyperparameter", name, f.methods)
		}
	}
	return entries, nil
}

// tuneJSON is the result of tune that scripts rely on.
type tuneJSON struct {
	Convention string           `json:"convention"`
	Threshold  float64          `json:"threshold"`
	Select     string           `json:"select"`
	Seed       uint64           `json:"seed"`
	Queries    int              `json:"queries"`
	MeasuredOn string           `json:"measured_on,omitempty"` // "validation" where there are no test data
	Methods    []tuneMethodJSON `json:"methods"`
}

type tuneMethodJSON struct {
	Method     string                     `json:"method"`
	Training   string                     `json:"training_measure,omitempty"`
	Measures   map[string]tuneMeasureJSON `json:"measures"`
	Chosen     []map[string]any           `json:"chosen"`             // the best setting of each fold
	Averaged   [][]map[string]any         `json:"averaged,omitempty"` // the settings of each fold whose models are averaged, the best first
	Validation []float64                  `json:"validation"`
	Tried      int                        `json:"settings_tried"`
	Grid       int                        `json:"settings_in_grid,omitempty"` // if not all were tried
	AtEdge     []string                   `json:"at_edge_of_grid,omitempty"`
	Constant   []string                   `json:"folds_without_ranking,omitempty"`

	Unconverged int `json:"trainings_not_converged,omitempty"`
}

// tuneMeasureJSON has null for the mean of no query.
type tuneMeasureJSON struct {
	Mean       any   `json:"mean"`
	Pooled     any   `json:"pooled"`
	TieNeutral any   `json:"tie_neutral"`
	Folds      []any `json:"folds"`
}

func measuresJSON(means []tune.Summary) map[string]tuneMeasureJSON {
	all := make(map[string]tuneMeasureJSON)
	for _, s := range means {
		all[s.Measure.Name()] = tuneMeasureJSON{number(s.Mean), number(s.Pooled), number(s.TieNeutral), mapped(s.Folds, number[float64])}
	}
	return all
}

// addMeans adds the lines of one method or system, a measure each: its value for every
// fold and, if several is set, the mean over folds and over all queries.
func (r *report) addMeans(name string, means []tune.Summary, several bool) {
	for _, s := range means {
		cells := append([]any{name, s.Measure.Name()}, mapped(s.Folds, number[float64])...)
		if several {
			cells = append(cells, number(s.Mean), number(s.Pooled))
		}
		r.rows = append(r.rows, cells)
	}
}

func tuneSummary(c *tune.Config, r *tune.Result) tuneJSON {
	summary := tuneJSON{Convention: c.Convention.Name(), Threshold: r.Threshold, Select: c.Select.Name(), Seed: c.Seed}
	for _, fold := range c.Folds {
		summary.Queries += len(fold.Test.Queries)
		if !fold.Tested() {
			summary.MeasuredOn = "validation"
		}
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		m := tuneMethodJSON{
			Method:   row.Entry.Name,
			Measures: measuresJSON(row.Measures),
			Tried:    len(row.Entry.Settings),
			AtEdge:   row.AtEdge(),
			Constant: row.ConstantFolds(),
		}
		if row.Grid > m.Tried {
			m.Grid = row.Grid
		}
		_, m.Unconverged = row.Trainings()
		if row.Entry.Measure != nil {
			m.Training = row.Entry.Measure.Name()
		}
		for _, fold := range row.Folds {
			m.Chosen = append(m.Chosen, fold.Chosen.Typed())
			m.Validation = append(m.Validation, fold.Validation)
			if fold.Averaged != nil {
				m.Averaged = append(m.Averaged, mapped(fold.Averaged, func(s tune.Setting) map[string]any { return s.Typed() }))
			}
		}
		summary.Methods = append(summary.Methods, m)
	}
	return summary
}

func tuneReport(c *tune.Config, r *tune.Result, summary tuneJSON) report {
	what := fmt.Sprintf("test results of %d folds", len(c.Folds))
	switch {
	case !c.Folds[0].Tested():
		what = "validation results, by which settings were chosen, as there are no test data"
	case len(c.Folds) == 1:
		what = "test results of one fold"
	}
	out := report{
		title: fmt.Sprintf("%s, %d queries; convention %s, chosen by validation %s, seed %d",
			what, summary.Queries, conventionText(c.Convention), summary.Select, c.Seed),
		columns: []string{"method", "measure"},
		json:    summary,
	}
	for _, f := range c.Folds {
		out.columns = append(out.columns, f.Name)
	}
	out.columns = append(out.columns, "mean", "pooled")
	hint := sync.OnceValue(func() string { return scaleHint(c.Folds[0].Train, c.Normalization, c.Transforms, c.Views) })
	for i := range r.Rows {
		row := &r.Rows[i]
		out.addMeans(row.Entry.Name, row.Measures, true)
		out.notes = append(out.notes, tuneNotes(row, hint)...)
	}
	out.notes = append(out.notes, "", "models, scores and per-query results: "+c.Dir)
	return out
}

// tuneNotes says what was chosen, where a wider grid may help, where nothing was
// learned or not to the end, and where ties flatter the result. hint is asked for only
// where something went wrong.
func tuneNotes(row *tune.Row, hint func() string) []string {
	name := row.Entry.Name
	var notes []string
	if tried := len(row.Entry.Settings); tried < row.Grid {
		notes = append(notes, fmt.Sprintf("%s: tried %d of %d settings", name, tried, row.Grid))
	}
	if varied := row.Varied(); len(varied) > 0 {
		verb := "chose"
		if row.Folds[0].Averaged != nil {
			verb = "has as the best of those averaged"
		}
		chosen := make([]string, len(row.Folds))
		for i, f := range row.Folds {
			chosen[i] = f.Fold + ":"
			for _, h := range varied {
				chosen[i] += " " + h + "=" + f.Chosen.Text(h)
			}
		}
		notes = append(notes, name+" "+verb+" "+strings.Join(chosen, "; "))
	}
	if n := len(row.Folds[0].Averaged); n > 0 {
		notes = append(notes, fmt.Sprintf("%s: the mean of the scores of the %d best settings of each fold", name, n))
	}
	if fixed := row.Fixed(); len(fixed) > 0 {
		notes = append(notes, name+" has "+strings.Join(fixed, " ")+" in all settings")
	}
	if edge := row.AtEdge(); edge != nil {
		notes = append(notes, fmt.Sprintf("%s: the best %s is at the edge of its grid in some fold; --grid may widen it", name, strings.Join(edge, " and ")))
	}
	if folds := row.ConstantFolds(); folds != nil {
		notes = append(notes, fmt.Sprintf("warning: all weights of %s are 0 in %s, so it gives every document the same score and ranks nothing%s", name, strings.Join(folds, ", "), hint()))
	}
	if all, unconverged := row.Trainings(); unconverged > 0 {
		notes = append(notes, fmt.Sprintf("warning: %d of %d trainings of %s did not converge%s", unconverged, all, name, hint()))
	}
	if over := row.TiedQueries(); over > 0 {
		notes = append(notes, tiedSystem(name, over, row.Measures))
	}
	return notes
}
